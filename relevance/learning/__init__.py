"""From plain text to a model file, and how good it is."""
