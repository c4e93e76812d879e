"""Hypothesis draws the same cases in every run; HYPOTHESIS_PROFILE=explore draws new ones, to look for faults."""

import os

from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
