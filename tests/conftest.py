"""Hypothesis draws the same cases in every run; HYPOTHESIS_PROFILE=explore draws new ones, to look for faults."""

import os

from hypothesis import HealthCheck, settings

# Neither a deadline nor a check of how long cases take to draw: a machine that stalls is no fault.
UNTIMED = settings(deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("steady", UNTIMED, derandomize=True)
settings.register_profile("explore", UNTIMED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
