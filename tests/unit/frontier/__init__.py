"""Tests of the frontier: unit."""
