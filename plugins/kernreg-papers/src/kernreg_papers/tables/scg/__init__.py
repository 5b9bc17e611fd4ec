"""Tables of the paper SCG: Pan, Chen, Chen & Xu 2016, supervised kernels."""
