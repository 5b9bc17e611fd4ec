"""Kernels learned from labels or pairs.

scg_ldk.py           SCGLDK: the nearest kernel in LogDet divergence, in closed form, with
graph_penalty.py       (K0⁻¹ + γ S)⁻¹ without inverting K0
scg_osk.py           SCGOSK: weights of a graph's eigenvectors, with
neighbourhoods.py      graphs and their smoothest eigenvectors,
ordered_weights.py     the best decreasing weights, and
linear_program.py      linear programs through cvxopt
kernel_learner.py    what kernel learners share
side_information.py  what labels, pairs or a matrix say about pairs of samples
pair_checks.py       pairs and matrices as they are given, checked
partial_labels.py    labels of any type, some of them missing, as codes
"""
