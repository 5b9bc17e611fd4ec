"""The demo: one story in half a minute. ``make demo``, ``kernreg demo`` or ``python -m kernreg.demo``.

    food_web.py   the data: who feeds whom, a directed graph in which direction is the information
    contest.py    every method on it, scikit-learn's best included
    speed.py      the same Python function as a kernel in scikit-learn and in kernreg, timed
    picture.py    the picture of the README
    command.py    what is printed, in which order

It runs after a plain ``pip install .``: where a plugin or matplotlib is missing, it says which and goes on without it.
"""
