"""Content-codings taken off answers as Scrapy does it; what is not coded as its head says is no failure of the fetch.

A body that was announced as packed and is not, or is followed by something else, is read as the archive's readers will
read it: as far as its coding goes, else as it came. It was answered, and asking again would bring the same. What
unpacks beyond the limit is refused where it was to be read; any other answer is what its status says, without a body.
Only the rules of a host must be whole: a robots.txt that cannot be unpacked to its end (Scrapy takes what comes before
a fault, and what it does not know how to unpack as it came) is as good as cut off.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib

import brotli
import zstandard
from scrapy import Spider
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response
from scrapy.responsetypes import responsetypes

from archive.messages.http import HttpHead, decode
from crawler.fetch.errors import CutError

_STEP_BYTES = 65_536
_NO_CODING = re.compile(r"identity|none|utf-?\d+|iso-8859-\d+|windows-\d+|us-ascii")


class Unpacking(HttpCompressionMiddleware):
    """Downloader middleware; see the module."""

    def process_response(
        self,
        request: Request,
        response: Response,
        spider: Spider | None = None,  # noqa: ARG002 - Scrapy's signature
    ) -> Request | Response:
        """:class:`CutError` for rules (``request.meta["robots"]``) that are not whole, or not what their head says."""
        rules = bool(request.meta.get("robots")) and 200 <= response.status < 300
        said = b",".join(response.headers.getlist("Content-Encoding"))
        packed, names = response.body, codings(response)
        try:
            unpacked = super().process_response(request, response)
            if rules and not are_whole(names, packed):
                raise CutError(f"cannot be unpacked to its end: {said!r}")
            return unpacked
        except CutError:
            raise
        except IgnoreRequest:  # it unpacks to more than the limit
            if 200 <= response.status < 300:
                raise
            headers = response.headers.copy()
            del headers["Content-Encoding"]
            return response.replace(headers=headers, body=b"")
        except Exception as error:  # noqa: BLE001 - each coding's library has errors of its own
            if rules:
                raise CutError(f"cannot be unpacked: {error}") from None
        body = decode(HttpHead(0, b"Content-Encoding: " + said), response.body, self._max_size)
        headers = response.headers.copy()
        del headers["Content-Encoding"]
        kind = responsetypes.from_args(headers=headers, url=response.url, body=body)
        return response.replace(cls=kind, headers=headers, body=body)


def codings(response: Response) -> list[str]:
    """The content-codings that an answer names, in lower case. What letters are encoded in, which some servers name
    there, is none."""
    said = b",".join(response.headers.getlist("Content-Encoding")).decode("latin-1").lower()
    return [name for part in said.split(",") if (name := part.strip()) and not _NO_CODING.fullmatch(name)]


def are_whole(names: list[str], packed: bytes) -> bool:
    """Whether a body with these codings goes to its end. Of several codings, and of one that nobody here can read, that
    is not known, but of nothing at all."""
    if not names or not packed:
        return True
    unpack = _UNPACKERS.get(names[0]) if len(names) == 1 else None
    try:
        return unpack is not None and unpack(packed)
    except Exception:  # noqa: BLE001 - each coding's library has errors of its own
        return False


def _gzip_is_whole(packed: bytes) -> bool:
    with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
        while file.read(_STEP_BYTES):
            pass
    return True


def _deflate_is_whole(packed: bytes) -> bool:
    state = zlib.decompressobj(zlib.MAX_WBITS if packed[0] & 15 == 8 else -zlib.MAX_WBITS)
    state.decompress(packed)
    return state.eof


def _brotli_is_whole(packed: bytes) -> bool:
    state = brotli.Decompressor()
    state.process(packed)
    return bool(state.is_finished())


def _zstd_is_whole(packed: bytes) -> bool:
    state = zstandard.ZstdDecompressor().decompressobj()
    state.decompress(packed)
    return state.eof and not state.unused_data


_UNPACKERS = {
    "gzip": _gzip_is_whole,
    "x-gzip": _gzip_is_whole,
    "deflate": _deflate_is_whole,
    "br": _brotli_is_whole,
    "zstd": _zstd_is_whole,
}
