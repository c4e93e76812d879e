"""What may be asked of ``python -m archive``: its commands, their arguments and their help."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from archive.storage.codecs import SUFFIXES

_EPILOG = """examples:
  python -m archive ls crawl.warc.xz
  python -m archive ls --type response --json data/warc/*.warc.xz
  zcat crawl.warc.gz | python -m archive ls -
  zcat crawl.warc.gz | python -m archive convert --to xz -o crawl.warc.xz -
  python -m archive get crawl.warc.xz https://example.org/ > page.html
  python -m archive get --record crawl.warc.xz 81245+3071
  python -m archive verify data/warc/*.warc.xz
  python -m archive repair broken.warc.gz -o mended.warc.gz
  python -m archive index crawl.warc.gz
  python -m archive index --merge all.cdxj data/warc/*.cdxj
  python -m archive convert --to gz crawl.warc.xz
  python -m archive stats --top 10 data/warc/*.warc.xz
"""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="python -m archive",
        description="Look into WARC files, check them, mend them, store them another way.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, help_text, add in (
        ("ls", "list the records of files", _ls_arguments),
        ("get", "write one capture to standard output", _get_arguments),
        ("verify", "check structure, lengths, digests, dates, packs and index", _verify_arguments),
        ("repair", "copy what is sound of a damaged file", _repair_arguments),
        ("index", "write FILE.cdxj beside each file, or merge indexes", _index_arguments),
        ("convert", "store files another way (xz, gz, zst, none), byte for byte the same inside", _convert_arguments),
        ("stats", "captures and bytes by host, language, type, year and status", _stats_arguments),
    ):
        sub = commands.add_parser(name, help=help_text, description=help_text)
        add(sub)
        sub.add_argument("--json", action="store_true", help="one JSON object a line")
        sub.add_argument("--quiet", "-q", action="store_true", help="no progress")
    return top


def _files(sub: argparse.ArgumentParser, help_text: str = "WARC or ARC files; - for standard input") -> None:
    sub.add_argument("files", nargs="+", metavar="FILE", help=help_text)


def _ls_arguments(sub: argparse.ArgumentParser) -> None:
    _files(sub)
    sub.add_argument("--type", action="append", metavar="TYPE", help="only these record types (may be repeated)")


def _get_arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("file", metavar="FILE", help="a WARC file, a folder of files with their indexes, or -")
    sub.add_argument(
        "what", metavar="URL|OFFSET[+INNER]", help="the URL (its latest capture), or the place of a record"
    )
    form = sub.add_mutually_exclusive_group()
    form.add_argument("--record", action="store_true", help="the whole record with its header")
    form.add_argument("--http", action="store_true", help="HTTP head and payload as archived")
    form.add_argument("--payload", action="store_true", help="payload as archived (default: content-coding taken off)")


def _verify_arguments(sub: argparse.ArgumentParser) -> None:
    _files(sub, "WARC files")
    sub.add_argument("--no-index", action="store_true", help="do not compare with FILE.cdxj")
    sub.add_argument("--strict", action="store_true", help="warnings count as faults")


def _repair_arguments(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("file", metavar="FILE", help="a WARC file; - for standard input (with --output)")
    sub.add_argument("-o", "--output", metavar="FILE", help="default: FILE with .repaired before .warc")
    _add_force(sub)


def _add_force(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--force", action="store_true", help="write over a file that is there already")


def _index_arguments(sub: argparse.ArgumentParser) -> None:
    _files(sub, "WARC files (with --merge: .cdxj files); - for standard input, indexed to standard output")
    sub.add_argument("--merge", metavar="OUTPUT", help="merge sorted indexes into one; - for standard output")


def _convert_arguments(sub: argparse.ArgumentParser) -> None:
    _files(sub, "WARC files; - for standard input (with --output)")
    sub.add_argument("--to", required=True, choices=list(SUFFIXES), help="kind of file")
    sub.add_argument("-o", "--output", metavar="FILE", help="default: beside the original, with the suffix of its kind")
    sub.add_argument("--level", type=int, help="of the compressor (defaults: xz 1, gz 6, zst 3)")
    _add_force(sub)
    sub.add_argument(
        "--pack-bytes", type=_at_least(1), default=1 << 20, help="unpacked bytes of an xz pack (default 1 MiB)"
    )


def _stats_arguments(sub: argparse.ArgumentParser) -> None:
    _files(sub)
    sub.add_argument("--top", type=_at_least(0), default=20, help="rows of each table (default 20; 0: all)")


def _at_least(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if int(text) < least:
            raise ValueError(text)
        return int(text)

    number.__name__ = f"number from {least} on"
    return number
