"""Archives for the tests, written with the archive's own writer."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from archive import Exchange, WarcWriter

ZULU = [
    "Umongameli wezwe uthe abantu bakithi kufanele basebenze ndawonye ukuze kuphele ububha emakhaya nasemadolobheni.",
    "Abafundi besikole samabanga aphezulu bathole imiphumela emihle kakhulu kulo nyaka, kusho uthisha omkhulu.",
    "Imvula enkulu eyehlile ngeSonto ibhubhise imizi eminingi, imindeni ishiyeke ingenandawo yokulala.",
]
ENGLISH = [
    "The president said that our people must work together so that poverty in the villages and towns comes to an end.",
    "The pupils of the secondary school got very good results this year, according to the head teacher of the school.",
]


def page(*paragraphs: str, title: str = "Izindaba", more: str = "") -> str:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    menu = "<nav><a href=/>Ikhaya</a> <a href=/x>Ezemidlalo</a></nav>"
    return f"<!doctype html><html lang=zu><head><title>{title}</title></head><body>{menu}{text}{more}</body></html>"


def exchange(
    path: str, body: bytes, content_type: str = "text/html; charset=utf-8", status: int = 200, head: str = ""
) -> Exchange:
    day = timedelta(days=sum(path.encode()) % 60)
    return Exchange(
        url=f"https://a.example/{path}",
        ip="192.0.2.1",
        started=datetime(2024, 1, 1, tzinfo=UTC) + day,
        request_bytes=b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
        response_head=f"HTTP/1.1 {status} OK\r\nContent-Type: {content_type}\r\n{head}\r\n".encode(),
        payload=body,
    )


def write(folder: Path, exchanges: Sequence[Exchange], compression: str = "xz") -> Path:
    """The one file that these exchanges make."""
    with WarcWriter(folder, "test", compression=compression) as writer:
        for one in exchanges:
            writer.write(one)
        writer.sync()
    [path] = [path for path in folder.iterdir() if ".warc" in path.name and not path.name.endswith(".cdxj")]
    return path
