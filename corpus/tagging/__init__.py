"""Parts of speech and lemmas for vertical text."""
