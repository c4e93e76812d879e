"""The media type of an answer, as browsers take it from its ``Content-Type`` (Fetch, "extract a MIME type").

Two such headers may have been put together with a comma: the last type counts. What is no type ("text/html
charset=utf-8", "*/*") says nothing, as if the header were missing."""

from __future__ import annotations

import re

_TYPE = re.compile(r"[\w!#$%&'*+.^`|~-]+/[\w!#$%&'*+.^`|~-]+", re.ASCII)


def media_type(content_type: str) -> str:
    """In lower case, without parameters; "" when none is told."""
    found = ""
    for value in content_type.split(","):
        told = value.partition(";")[0].strip().lower()
        if told != "*/*" and _TYPE.fullmatch(told):
            found = told
    return found
