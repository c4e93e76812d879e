"""``python -m archive``, also installed as ``ulwembu-archive``."""

import sys

from archive import cli
from archive.terminal import stop_on_term


def main() -> int:
    """The command as a process of its own."""
    stop_on_term()
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
