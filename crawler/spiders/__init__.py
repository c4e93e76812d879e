"""Spiders; a crawl needs none of its own: each ``seeds/<name>.toml`` becomes a spider (crawler/spiderloader.py)."""
