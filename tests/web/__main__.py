"""``python -m tests.web serve|verify|truth``."""

from tests.web.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
