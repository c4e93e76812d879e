"""Tests of the frontier: conformance."""
