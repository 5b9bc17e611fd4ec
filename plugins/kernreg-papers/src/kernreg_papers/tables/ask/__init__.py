"""Tables of the paper ASK: He, He, Shi, Huang & Suykens 2023, learning with asymmetric kernels."""
