"""``python -m archive``."""

import sys

from archive.cli import main

if __name__ == "__main__":
    sys.exit(main())
