"""What goes between who asks for a document and the process that reads it; imported by both, so without PDFium."""

from __future__ import annotations

import struct

ASKED = struct.Struct(">dQ")
"""Seconds that the document may take, and its bytes, which follow."""
TOLD = struct.Struct(">Q")
"""Bytes of the answer, which follow: an object in JSON, with ``reason`` or with title, language, blocks and links."""
