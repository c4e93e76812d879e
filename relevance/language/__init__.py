"""Text to language: letters, words, evidence, and what is made of them."""
