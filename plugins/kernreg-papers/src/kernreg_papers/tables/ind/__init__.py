"""Tables of the paper IND: Huang, Maier, Hornegger & Suykens, indefinite kernels in LS-SVM and kernel PCA."""
