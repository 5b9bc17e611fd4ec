"""What the learners over a graph optimise, as problems of matrices and numbers.

ordered.py   osk: the quadratically constrained program of ordered weights
schatten.py  simple-npk: its closed form for the linear loss
hinge.py     simple-npk: its dual for the squared hinge loss
"""
