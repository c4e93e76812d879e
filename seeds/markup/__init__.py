"""Markup that is broken or made to be slow: what is done to it before a parser may see it."""
