"""How alike two kernel matrices are, as numbers.

alignment.py     kernel_alignment, centred_alignment
independence.py  hsic
matrices.py      what they accept as a kernel matrix
"""
