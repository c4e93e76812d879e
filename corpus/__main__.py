"""``python -m corpus``, also installed as ``ulwembu-corpus``."""

import sys

from archive.terminal import stop_on_term
from corpus import cli


def main() -> int:
    """The command as a process of its own."""
    stop_on_term()
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
