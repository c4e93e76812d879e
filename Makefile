# make demo    the main job on a small web of its own, on loopback
# make test    every check: lint, types, import directions, tests
# make help    the rest
PYTHON ?= python3
RUN := .venv/bin

# Each process of a demo or a test would compile the project anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test lint types tests bench settings clean
.DEFAULT_GOAL := help

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: ## make .venv with the exact versions of requirements.lock
	@command -v $(PYTHON) >/dev/null || { echo "setup: no $(PYTHON) on PATH; Python 3.11 or newer is needed" >&2; exit 1; }
	@$(PYTHON) deploy/bootstrap.py

demo: setup ## crawl a synthetic web on loopback with two workers and check what they did (at most 90 s)
	@$(RUN)/python -m tests.web.demo

test: lint types tests ## every check

lint: setup ## style and the directions of imports
	@echo "== ruff, import-linter"
	@$(RUN)/ruff check .
	@$(RUN)/ruff format --check .
	@$(RUN)/lint-imports --no-cache

types: setup ## mypy --strict
	@echo "== mypy"
	@$(RUN)/mypy

# One more than a small machine has processors: crawls wait for their delays half of the time.
JOBS ?= 3
tests: setup ## pytest; PYTEST="-k robots" for some, EFFORT=4 for four times the random trials
	@echo "== pytest"
	@$(RUN)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(PYTEST)

# What each benchmark takes in `make bench`; without it, a command has the size of the figures in docs/.
SHORT_archive := --pages 300
SHORT_crawlers := --short
SHORT_dedup := --documents 3000
SHORT_far := --web polite --away-ms 0 100 --seconds 5
SHORT_fleet := --workers 4 --pages 120 --faulty 0
SHORT_focus := --seeds 1
SHORT_frontier := --hosts 1000 --grants 1000 --workers 2 --seconds 5
SHORT_harvest := 1000 1
SHORT_harvest_crawl := --seconds 20
SHORT_harvest_many := 300 --rounds 1
SHORT_sieve := --urls 5e4
SHORT_tagging := --train 100 --copies 1 --rounds 1
SHORT_web := --seconds 1
BENCHES := $(sort $(filter-out __% ending process redis_line table,$(basename $(notdir $(wildcard bench/*)))))

bench: $(BENCHES:%=bench-%) ## short benchmarks against peers, ratios within one run; bench-sieve: one of them

bench-%: setup
	@echo "== python -m bench.$* $(SHORT_$*)"
	@$(RUN)/python -m bench.$* $(SHORT_$*)

settings: setup ## write docs/settings.md anew
	@$(RUN)/python -m crawler.options > docs/settings.md

clean: ## remove what the demo and the tools left
	@rm -rf demo-data .mypy_cache .ruff_cache .pytest_cache .hypothesis

.PHONY: model model-large
DATA ?= ../shared/data/langid
model: setup ## train the shipped language model anew (DATA: a folder of text, some minutes)
	@$(RUN)/python -m relevance train $(DATA) --card relevance/models/southern.md --dev dev-flores --dev dev-afrixnli \
		--leave-out vukuzenzele --leave-out nchlt --leave-out libreoffice --leave-out lacuna-news

model-large: setup ## train a larger one, up to 40 MB, into build/
	@mkdir -p build && $(RUN)/python -m relevance train $(DATA) --min-count 1 --max-bytes 40000000 --output build/large.model
