"""AsK-RFFs: random Fourier features of asymmetric shift-invariant kernels, and machines on them.

    documentation.py   what several docstrings share
    features.py        FourierFeatures: frequencies, phases and weights; the two feature maps
    feature_kernel.py  ask-rff, a kernel: the inner product of the two feature maps
    transformer.py     ask-rff, a solver: transform and transform_right
    dual_spectrum.py   AsK-LS on features for every γ, with exact leave-one-out of some samples
    machines.py        ask-rff-ls and ask-rff-lsr: AsK-LS in time linear in the number of samples

The maps are explicit: any linear learner may stand behind ``transform``.
"""
