from relevance.language import storage
from relevance.language.model import SHIPPED
from relevance.learning.card import card


def test_the_shipped_card_is_that_of_the_shipped_model() -> None:
    """All but the figures, which take long to measure."""
    written = SHIPPED.with_suffix(".md").read_text(encoding="utf-8")
    command = "python -m relevance train DATA --description southern.toml"
    assert written.startswith(card(storage.header_of(SHIPPED), SHIPPED.stat().st_size, {}, command))
