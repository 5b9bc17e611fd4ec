"""Data: from a row of a table to training and test samples.

splits.py      loading, splitting, scaling
click_logs.py  generated tables of any length, and every generated set by name
mixtures.py    Gaussian mixtures as samples, divergences between distributions
"""
