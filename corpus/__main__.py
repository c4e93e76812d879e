"""``python -m corpus``."""

import sys

from corpus.cli import main, stop_on_term

if __name__ == "__main__":
    stop_on_term()
    sys.exit(main())
