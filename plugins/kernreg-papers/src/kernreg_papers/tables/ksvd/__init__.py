"""Tables of the paper KSVD: Tao et al. 2024, kernel SVD."""
