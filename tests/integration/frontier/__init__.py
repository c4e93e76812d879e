"""Tests of the frontier: integration."""
