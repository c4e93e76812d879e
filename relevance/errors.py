"""What can go wrong in this room, with the facts."""

from __future__ import annotations


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
    """A language that the model has no class for."""

    def __init__(self, language: str, known: tuple[str, ...]) -> None:
        super().__init__(f"the model knows no {language!r}; it knows {' '.join(known)}")
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
