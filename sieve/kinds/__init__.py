"""The kinds of one process, a module each, and what those that keep a folder have in common."""
