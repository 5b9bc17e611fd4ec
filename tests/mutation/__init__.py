"""Mutation testing: small changes of the numerical code, each of which some test should notice.

mutants.py   what can be changed in a module, and the changed source
lines.py     which tests run which lines, recorded once
trial.py     one mutant against the tests that reach it, in a forked child, in a copy of the tree
__main__.py  `make mutation`: draw mutants, try them, count

A mutant is *killed* when a test fails or takes far longer than it used to, and *survives* otherwise.
"""
