"""Against outside text and models: MasakhaPOS, Universal Dependencies, UDPipe, MorphoDiTa."""

from pathlib import Path

import pytest

from corpus.errors import UsageFault
from corpus.tagging.tagger import Tagger
from corpus.tagging.training import Sentence, accuracy, tagged_sentences, train

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "tagging"
pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the shared data is not here")


def _read(name: str) -> list[Sentence]:
    return list(tagged_sentences((DATA / name).read_text(encoding="utf-8").splitlines(), name))


@pytest.mark.parametrize(
    ("name", "sentences", "words", "first"),
    [
        ("masakhane/zul.train.txt", 753, 12_419, ("Kubhekwe", "VERB", "", "", "")),
        ("masakhane/zul.dev.txt", 150, 2_383, ("Kuthintwa", "VERB", "", "", "")),
        ("masakhane/xho.train.txt", 752, 13_197, None),
        ("masakhane/xho.dev.txt", 150, 2_367, None),
        ("ud/en_pud.0-300.conllu", 300, None, ("“", "PUNCT", '"', "``", "")),
        ("ud/cs_pud.0-300.conllu", 300, None, None),
    ],
)
def test_tagged_text_is_read(name: str, sentences: int, words: int | None, first: tuple[str, ...] | None) -> None:
    found = _read(name)
    assert len(found) == sentences
    assert words in (None, sum(map(len, found)))
    assert first in (None, found[0][0])


def test_models(tmp_path: Path) -> None:
    assert len(Tagger(DATA / "models" / "udpipe-test.model", ["lemma", "tag"])(["Yebo", "."])) == 2
    with pytest.raises(UsageFault, match="is no model of UDPipe 1"):
        Tagger(DATA / "models" / "morphodita-test.tagger", ["tag"])


@pytest.mark.slow
def test_a_tenth_of_masakhapos_makes_a_tagger() -> None:
    """The whole takes a minute, and gives 0.874."""
    model = train(_read("masakhane/zul.train.txt")[:75])
    [(column, share, words)] = accuracy(model, _read("masakhane/zul.dev.txt"))
    assert (column, words) == ("tag", 2_383)
    assert share > 0.65
