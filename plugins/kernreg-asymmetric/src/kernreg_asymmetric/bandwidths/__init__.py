"""Gaussian kernels whose bandwidth differs from sample to sample, and so from one argument to the other.

    local_scaling.py  local-rbf: widths by the distance to the k-th neighbour in a reference set
    per_centre.py     lab-rbf, the kernel: a bandwidth for every feature of every centre
    overlap.py        how much Gaussians of different widths overlap: the matrix of the penalty, and its derivatives
    adaptation.py     the leave-one-out error of exact solves, and its gradient with respect to bandwidths
    descent.py        steps of descent; bandwidths that stay near each other unless samples say otherwise
    growth.py         which samples are centres: some, then those of the worst residuals
    freedom.py        bandwidths of features or of centres: what predicts held-out samples better
    lab_rbf.py        lab-rbf and lab-rbf-classifier, the solvers

The solvers evaluate these kernels by matrix products of their own; the kernels are for every other solver.
"""
