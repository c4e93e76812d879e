"""What `pip install` takes along."""

import tomllib
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
ROOMS = sorted(pattern.removesuffix("*") for pattern in PROJECT["packages"]["find"]["include"])


def test_every_file_beside_the_code_is_taken_along() -> None:
    """Also the model's card, which names the licences of what it was trained from. (`seeds/` is where a user's own
    files are, too.)"""
    data = PROJECT["package-data"]
    files = [
        path.relative_to(ROOT)
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.is_file() and path.parent.name != "seeds" and path.suffix != ".py" and "__pycache__" not in path.parts
    ]
    left = [
        str(file)
        for file in files
        if not any(fnmatch(file.name, one) for one in (*data["*"], *data.get(".".join(file.parts[:-1]), ())))
    ]
    assert len(files) > 30
    assert left == []


def test_type_checkers_of_others_read_the_types() -> None:
    assert [room for room in ROOMS if not (ROOT / room / "py.typed").is_file()] == []
