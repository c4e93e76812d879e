"""The process that reads PDF documents: one after the other from standard input, answers to standard output.

PDFium is a large program in C++, and documents come from strangers: what crashes it, takes all memory or never ends
must cost the document only. So this process has bounds of its own, which hold whatever becomes of the one that asks: of
memory, of time for a document, no file may be written; it ends when nobody has asked for a while, or nobody is there.
"""

from __future__ import annotations

import json
import re
import resource
import select
import signal
import sys
from pathlib import Path

from relevance.pages.blocks import Block
from relevance.pdf.layout import blocks_of
from relevance.pdf.sheets import NotReadError, Paper, read_paper
from relevance.pdf.wire import ASKED, TOLD

_MOST_MEMORY = 512 << 20  # beside what it begins with; worker and it share 1 GiB (deploy)
_LONGEST_TITLE = 300
_FILE_NAME = re.compile(r"microsoft (?:word|powerpoint) - |.*\.(?:docx?|indd|odt|p65|pdf|pptx?|pub|qxd|rtf|tmp)$", re.I)


def main() -> None:
    """Until the end of standard input, or until nothing has come for so many seconds as the argument says."""
    idle_s = float(sys.argv[1])
    for bound, most in (
        (resource.RLIMIT_AS, _mapped() + _MOST_MEMORY),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
    ):
        _bound(bound, most)
    for meant_for_all in (signal.SIGTERM, signal.SIGHUP):  # it ends with who asks, who may still want an answer
        signal.signal(meant_for_all, signal.SIG_IGN)
    asked, told = sys.stdin.buffer, sys.stdout.buffer
    while select.select([asked], [], [], idle_s)[0] and len(head := asked.read(ASKED.size)) == ASKED.size:
        seconds, size = ASKED.unpack(head)
        body = asked.read(size)
        if len(body) < size:  # nobody waits for it
            break
        signal.setitimer(signal.ITIMER_REAL, seconds)  # nobody handles it: it ends the process, also within PDFium
        answer = json.dumps(_read(body), ensure_ascii=False).encode()
        signal.setitimer(signal.ITIMER_REAL, 0)
        told.write(TOLD.pack(len(answer)) + answer)
        told.flush()


def _bound(of: int, most: int) -> None:
    """As low a bound as that, or what is set from outside and lower."""
    _, hard = resource.getrlimit(of)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(of, (most, most))


def _mapped() -> int:
    """Bytes of memory that are set aside already; on many processors it is more, for their threads."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except OSError:  # no /proc
        return 0


def _read(body: bytes) -> dict[str, object]:
    try:
        paper = read_paper(body)
    except NotReadError as error:
        return {"reason": str(error)}
    blocks = blocks_of(paper.sheets)
    return {
        "title": _title(paper, blocks),
        # English is what programs say that nobody told.
        "language": "" if paper.language.lower().startswith("en") else paper.language,
        "blocks": [(block.text, block.kind, block.apart) for block in blocks],
        "links": paper.links,
    }


def _title(paper: Paper, blocks: list[Block]) -> str:
    """What it says, unless that is the name of a file; else its first heading."""
    said = " ".join(paper.title.split())
    if not said or _FILE_NAME.match(said):
        said = next((block.text for block in blocks if block.kind == "heading"), "")
    return said[:_LONGEST_TITLE]
