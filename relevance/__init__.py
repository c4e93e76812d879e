"""Text -> language -> verdict. Pure functions and small policies; no Scrapy, no network, nothing of the other rooms."""

from relevance.errors import ModelError, PdfError, PolicyError, RelevanceError, TrainingError, UnknownLanguageError
from relevance.language.identification import codes, identify, probabilities
from relevance.language.mixed import labels_by_word
from relevance.language.model import load as load_model
from relevance.learning.adapting import adapt
from relevance.pages.blocks import Block
from relevance.pages.page import Link, Page, read_page
from relevance.steering.policies import make_policy
from relevance.steering.policy import LinkContext, PageContext, Policy, Target, Verdict
from relevance.types import Identification

__all__ = [
    "Block",
    "Identification",
    "Link",
    "LinkContext",
    "ModelError",
    "Page",
    "PageContext",
    "PdfError",
    "Policy",
    "PolicyError",
    "RelevanceError",
    "Target",
    "TrainingError",
    "UnknownLanguageError",
    "Verdict",
    "adapt",
    "codes",
    "identify",
    "labels_by_word",
    "load_model",
    "make_policy",
    "probabilities",
    "read_page",
]
