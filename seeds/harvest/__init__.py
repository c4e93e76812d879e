"""What is polled again and again: an answer judged (`poll`), what is remembered of it, and when to ask next."""

from seeds.harvest.answers import Answer
from seeds.harvest.polls import poll, request, stored_us
from seeds.harvest.schedule import Polling
from seeds.harvest.types import FollowUp, PollRequest, PollResult, PollStats, PollWarning

__all__ = [
    "Answer",
    "FollowUp",
    "PollRequest",
    "PollResult",
    "PollStats",
    "PollWarning",
    "Polling",
    "poll",
    "request",
    "stored_us",
]
