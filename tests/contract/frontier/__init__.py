"""Tests of the frontier: contract."""
