"""PDF documents for who may not die of them: each is read in :mod:`relevance.pdf.child`, a process that may."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Self

from relevance.errors import PdfError
from relevance.pages.blocks import Block
from relevance.pages.page import Link, Page
from relevance.pdf.wire import ASKED, TOLD

MAX_BODY = 64 << 20
"""Bytes of a document; a longer one is read so far, where it can be."""
_CALL = "from relevance.pdf.child import main; main()"
PDF = "application/pdf"
_TYPES = frozenset((PDF, "application/x-pdf"))
_UNTOLD = frozenset(
    ("", "application/octet-stream", "binary/octet-stream", "application/download", "application/force-download")
)
_HEAD_BYTES = 1024
_MOST_TOLD = 256 << 20
"""Bytes of an answer; its process has lost its senses that would send more."""


def may_be_pdf(media: str) -> bool:
    """Whether an answer of this media type (:func:`relevance.pages.media_type.media_type`) may be a PDF document."""
    return media in _TYPES or media in _UNTOLD


def is_pdf(media: str, body: bytes) -> bool:
    """Whether it is one: by its first bytes where the type says nothing."""
    return media in _TYPES or (media in _UNTOLD and b"%PDF-" in body[:_HEAD_BYTES])


class PdfReader:
    """Reads one document at a time, for any number of threads. The process begins with the first document, ends by
    itself when nothing is to be read for `idle_s`, and begins anew. To be closed; pickled, it is a reader anew."""

    def __init__(self, idle_s: float = 60.0) -> None:
        self._idle_s = idle_s
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[type[PdfReader], tuple[float]]:
        return PdfReader, (self._idle_s,)

    def read(self, body: bytes, url: str, most_s: float = 20.0) -> Page:
        """PdfError. `most_s`: seconds for the reading, without the wait for other threads' documents."""
        with self._lock:
            answer = self._answer(body[:MAX_BODY], url, most_s)
        if reason := answer.get("reason"):
            raise PdfError(url, reason)
        return Page(
            url,
            title=answer["title"],
            html_lang=answer["language"],
            charset="",
            charset_source="pdf",
            blocks=tuple(Block(*block) for block in answer["blocks"]),
            links=tuple(Link(href, "") for href in answer["links"]),
        )

    def close(self) -> None:
        """Ends the process, also in the midst of a document, which is then not read."""
        if (process := self._process) is not None:
            process.kill()
        with self._lock:
            self._end()

    def _answer(self, body: bytes, url: str, most_s: float) -> dict[str, Any]:
        if self._process is not None and self._process.poll() is not None:
            self._end()  # no fault of this document
        while True:
            process = self._process = self._process or _begun(self._idle_s)
            try:
                told = _told(process, body, most_s)
            except BaseException:  # as at Ctrl-C: its answer must not be taken for that of another document
                process.kill()
                self._end()
                raise
            if told:
                answer: dict[str, Any] = json.loads(told)
                return answer
            status = self._end()
            if status != 0:  # else it had been idle
                raise PdfError(url, "slow" if status == -signal.SIGALRM else "died")

    def _end(self) -> int:
        """Its exit status."""
        process, self._process = self._process, None
        if process is None:
            return 0
        with contextlib.suppress(BrokenPipeError), process:  # closes its pipes and waits
            pass
        return process.returncode


def _told(process: subprocess.Popen[bytes], body: bytes, most_s: float) -> bytes:
    """Its answer; b"": there is none, and it ends."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(ASKED.pack(most_s, len(body)))
        process.stdin.write(body)
        process.stdin.flush()
    head = process.stdout.read(TOLD.size)
    size = TOLD.unpack(head)[0] if len(head) == TOLD.size else 0
    if size > _MOST_TOLD:
        process.kill()
        return b""
    told = process.stdout.read(size)
    return told if len(told) == size else b""


def _begun(idle_s: float) -> subprocess.Popen[bytes]:
    # In a session of its own: Ctrl-C is for who asks. -P: nothing of the folder that it is started in is imported.
    path = os.pathsep.join(place or str(Path.cwd()) for place in sys.path)
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _CALL, str(idle_s)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
        start_new_session=True,
    )
