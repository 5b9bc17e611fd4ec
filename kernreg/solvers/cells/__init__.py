"""Local machines: the samples are partitioned into cells, and every cell has an exact machine of its own.

classifier.py     CellsClassifier: classes and probabilities of all cells, aligned
regressor.py      CellsRegressor: one or several real outputs
machine.py        what both share: `fit` from top to bottom, routed predictions, leave-one-out over all cells
parameters.py     parameters, those of the solver included, checked; what is tried in a cell
training.py       samples, targets and weights as they are given, checked; what the partition sees of samples
partition.py      the tree of splits: the cell of a sample, how far it is from others, which samples are near a cell
splits.py         one split: along the leading direction, or between centres of k-means
search.py         the machine of one cell: width and γ by exact leave-one-out, of all values or near those of pilots
running.py        cells in threads, or on the computers of the configured engine
alignment.py      decision values and probabilities of a cell, which may lack classes, as columns of all classes
documentation.py  what both docstrings share
"""
