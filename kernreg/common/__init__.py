"""Helpers that every room uses. Imports only `kernreg.config` and `kernreg.errors` of kernreg.

atomic.py    replace a file whole or not at all
bounded.py   read ordinary files only, within the memory budget
callers.py   whose line a warning is about
checks.py    single parameters: numbers, counts, flags, words
display.py   records as short text and as tables in notebooks
docstrings.py  what several docstrings share
forking.py   locks that a forked child finds open, imports that a fork waits for
hints.py     words of scikit-learn, and what they are called here
lazy.py      properties that are computed once, without a lock
medians.py   medians of weighted values
progress.py  progress bars: on a terminal only, or as the configuration says
sizes.py     numbers of bytes for people
"""
