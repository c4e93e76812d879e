"""``python -m corpus``."""

import sys

from archive.terminal import stop_on_term
from corpus.cli import main

if __name__ == "__main__":
    stop_on_term()
    sys.exit(main())
