"""Content-codings taken off answers as Scrapy does it; what is not coded as its head says is no failure of the fetch.

A body that was announced as packed and is not, or is followed by something else, is read as the archive's readers will
read it: as far as its coding goes, else as it came. It was answered, and asking again would bring the same. Only the
rules of a host must be whole: a robots.txt that cannot be unpacked is as good as cut off.
"""

from __future__ import annotations

from scrapy import Spider
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response
from scrapy.responsetypes import responsetypes

from archive.http import HttpHead, decode
from crawler.fetch.errors import CutError


class Unpacking(HttpCompressionMiddleware):
    """Downloader middleware; see the module."""

    def process_response(
        self,
        request: Request,
        response: Response,
        spider: Spider | None = None,  # noqa: ARG002 - Scrapy's signature
    ) -> Request | Response:
        """:class:`CutError` for a robots.txt (``request.meta["robots"]``) that is not what its head says."""
        try:
            return super().process_response(request, response)
        except IgnoreRequest:  # it unpacks to more than the limit
            raise
        except Exception as error:  # noqa: BLE001 - each coding's library has errors of its own
            if request.meta.get("robots"):
                raise CutError(f"cannot be unpacked: {error}") from None
        codings = HttpHead(0, b"Content-Encoding: " + b",".join(response.headers.getlist("Content-Encoding")))
        body = decode(codings, response.body, self._max_size)
        headers = response.headers.copy()
        del headers["Content-Encoding"]
        kind = responsetypes.from_args(headers=headers, url=response.url, body=body)
        return response.replace(cls=kind, headers=headers, body=body)
