"""What can go wrong in this room, with the facts."""

from __future__ import annotations

from relevance.types import UNDETERMINED


def line_of(error: UnicodeDecodeError) -> int:
    """The line, from 1, of what is no UTF-8 in a whole file."""
    return bytes(error.object).count(b"\n", 0, error.start) + 1


class RelevanceError(Exception):
    """Root of the room's errors."""


class ModelError(RelevanceError):
    """A model file that cannot be used."""

    def __init__(self, path: object, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = str(path)
        self.why = why


class TrainingError(RelevanceError):
    """Text or a training description that cannot be used."""


class UnknownLanguageError(RelevanceError):
    """A language that the model has no class for; also "und", which is what is in none of those that it knows: of a
    text in a language that was not named, the likest of those that were is the answer, and nothing could be "und"."""

    def __init__(self, language: str, known: tuple[str, ...]) -> None:
        why = f"the model knows no {language!r}"
        if language == UNDETERMINED:
            why = f"{language!r} is no language to choose, but the answer for none of those known when all may be given"
        super().__init__(f"{why}; it knows {' '.join(known)}")
        self.language = language
        self.known = known


class PolicyError(RelevanceError):
    """A policy or an option of one that does not exist."""


class PdfError(RelevanceError):
    """A PDF document that gives no text. `reason`: ``password``, ``protected``, ``damaged``, ``slow`` (it took too
    long), ``died`` (the process that read it) or, in a crawl, ``late`` (its lease left too little time)."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url}: {reason}")
        self.url = url
        self.reason = reason
