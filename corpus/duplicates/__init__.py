"""Duplicates within a run and across runs: of documents, paragraphs and rows."""
