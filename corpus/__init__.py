"""From web archives to a corpus: documents, vertical text, statistics, links to Wikipedia (:mod:`corpus.wikilinks`).
Knows nothing of the crawl but its files.

``python -m corpus --help``; the same from Python::

    run = Extraction(Choice(languages=frozenset({"zul"})))
    for document in run.documents(expand(["data/zulu/warc"])): ...
    print(run.tally.as_json())
"""

from corpus.document import Document, Link, Paragraph, from_json, to_json
from corpus.errors import CorpusError, FormatError, UsageFault
from corpus.extraction import Choice, Extraction
from corpus.inputs import expand
from corpus.statistics import Statistics
from corpus.tally import Tally
from corpus.vertical.reading import read_vertical

__all__ = [
    "Choice",
    "CorpusError",
    "Document",
    "Extraction",
    "FormatError",
    "Link",
    "Paragraph",
    "Statistics",
    "Tally",
    "UsageFault",
    "expand",
    "from_json",
    "read_vertical",
    "to_json",
]
