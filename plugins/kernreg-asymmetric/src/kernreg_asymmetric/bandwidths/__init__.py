"""Gaussian kernels whose bandwidth differs from sample to sample, and so from one argument to the other.

    local_scaling.py  local-rbf: widths by the distance to the k-th neighbour in a reference set
    per_centre.py     lab-rbf, the kernel: a bandwidth for every feature of every centre
    adaptation.py     the leave-one-out error of exact solves, and its gradient with respect to bandwidths
    selection.py      centres and a width for each, chosen together from all samples at several widths
    growth.py         what is learned in which order, and what of it is worth it
    lab_rbf.py        lab-rbf and lab-rbf-classifier, the solvers

The solvers evaluate these kernels by matrix products of their own; the kernels are for every other solver.
"""
