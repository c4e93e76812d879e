"""Vertical text: its tokens, its form, written, read, and as Manatee takes it."""
