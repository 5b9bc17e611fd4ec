"""Kernels made of other kernels.

base.py         what they share: the parts, and the samples as each part sees them
algebra.py      sums, products, multiples, powers, transposes, kernels of feature maps
symmetrized.py  symmetric kernels of an asymmetric one
reference.py    kernels defined through a reference set: centred, with a corrected spectrum
learned.py      kernels that were learned: another one, corrected or projected through fixed samples
neighbour_spectrum.py  eigenvectors of a neighbourhood graph, extended to new samples
"""
