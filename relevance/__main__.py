"""`python -m relevance`."""

from __future__ import annotations

import sys

from relevance.cli import main

if __name__ == "__main__":
    sys.exit(main())
