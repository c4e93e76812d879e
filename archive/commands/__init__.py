"""The commands of ``python -m archive``: a module each."""
