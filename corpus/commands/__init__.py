"""The commands of ``python -m corpus``: a module each."""
