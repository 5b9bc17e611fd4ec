"""Attacks that fail on purpose: what the tests of the suite itself run."""
