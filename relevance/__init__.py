"""Text -> language -> verdict. Pure functions and small policies; no Scrapy, no network, nothing of the other rooms."""

from relevance.errors import ModelError, PolicyError, RelevanceError, TrainingError, UnknownLanguageError
from relevance.identification import codes, identify
from relevance.mixed import labels_by_word
from relevance.page import Block, Link, Page, read_page
from relevance.policies import make_policy
from relevance.policy import LinkContext, PageContext, Policy, Target, Verdict
from relevance.types import Identification

__all__ = [
    "Block",
    "Identification",
    "Link",
    "LinkContext",
    "ModelError",
    "Page",
    "PageContext",
    "Policy",
    "PolicyError",
    "RelevanceError",
    "Target",
    "TrainingError",
    "UnknownLanguageError",
    "Verdict",
    "codes",
    "identify",
    "labels_by_word",
    "make_policy",
    "read_page",
]
