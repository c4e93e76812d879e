"""PDF documents as pages: text by paragraph, in a process of its own that may die of what it reads."""

from relevance.pdf.reader import MAX_BODY, PDF, PdfReader, is_pdf, may_be_pdf

__all__ = ["MAX_BODY", "PDF", "PdfReader", "is_pdf", "may_be_pdf"]
