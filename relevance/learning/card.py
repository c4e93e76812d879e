"""The card that goes with a model: what it was made of, how good it is, what it confuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relevance.learning.evaluation import Figures


def card(meta: Mapping[str, Any], size: int, measured: Mapping[str, Mapping[str, Figures]], command: str) -> str:
    """Markdown. measured: set of texts -> kind of strings -> figures."""
    out = [f"# Language model `{meta['name']}`", "", f"Made by `{command}`; {size:,} bytes.", ""]
    out.append(
        f"Modified Kneser-Ney letter n-grams of order {meta['order']} within words, mixed with word frequencies (share "
        f"{meta['word_share']}); a word's evidence is cut at {meta['clip']} nats. "
        + (f"Family: {', '.join(meta['family'])}. " if meta["family"] else "")
        + "Only parameters are stored, no sentence."
    )
    if meta.get("siblings"):
        out.append(f"Tuned to be told apart: {'; '.join(', '.join(group) for group in meta['siblings'])}.")
    if meta.get("wanted"):
        out.append(f"Named before likelier siblings where its own F1 gains by it: {meta['wanted']}.")
    out += ["", "## Sources", "", "| source | licence |", "|---|---|"]
    out += [f"| {source['name']} | {source['licence']} |" for source in meta["sources"]]
    out += ["", "## Classes", "", "| class | answer | words of training text |", "|---|---|---:|"]
    out += [f"| {c['name']} | {c['label']} | {c['words']:,} |" for c in meta["classes"]]
    if meta.get("dropped"):
        lines = ", ".join(f"{name} {count}" for name, count in meta["dropped"].items())
        out += ["", f"Lines dropped before training as of another language than their file: {lines}."]
    if measured:
        out += ["", "either: macro-F1 where an answer is right, too, whose language has the very words in a row."]
    for name, kinds in measured.items():
        out += ["", f"## On {name}", "", "| strings | texts | macro-F1 | either | F1 by language |"]
        out.append("|---|---:|---:|---:|---|")
        for kind, one in kinds.items():
            each = ", ".join(f"{language} {value:.1f}" for language, value in one.f1.items())
            either = "" if one.either is None else f"{one.either:.1f}"
            out.append(f"| {kind} | {one.texts} | {one.macro:.1f} | {either} | {each} |")
        for kind, one in kinds.items():
            worst = sorted(one.confused.items(), key=lambda item: -item[1])[:6]
            if worst:
                text = ", ".join(f"{truth} -> {answer} {value:.1f} %" for (truth, answer), value in worst)
                out += ["", f"Confused most, {kind}: {text}."]
    return "\n".join(out) + "\n"
