"""Shift-invariant kernels k(x, z) = κ(x - z) with κ not even, and their complex spectral measures.

    kernels.py    shift-gauss, sinh-gauss, cosh-gauss, skew-laplace: one function each
    profiles.py   profile-product: κ of one feature as a table of values, of a function for example
    lines.py      a complex measure on the line, tabulated: masses, phases, samples
    measures.py   complex measures in d dimensions, of products and of Gaussians times a function of one direction
    spectra.py    spectral_measure: from a kernel to its measure

A kernel of one's own gets random features by an entry in `spectra.SPECTRA`.
"""
