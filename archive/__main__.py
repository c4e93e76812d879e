"""``python -m archive``."""

import sys

from archive.cli import main
from archive.terminal import stop_on_term

if __name__ == "__main__":
    stop_on_term()
    sys.exit(main())
