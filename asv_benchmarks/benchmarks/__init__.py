"""Performance over time, peers side by side.

    peers.py        measuring: interleaved best times, memory, the write limit of the machine; the peers' own code
    bars.py         ours against the peer, one ratio per line of the table `python -m asv_benchmarks.bars` prints
    frameworks.py   ours against PyTorch, JAX, KeOps and numexpr
    roofline.py     every driver of the engine against writing, arithmetic and exponentials alone
    scaling.py      growth with samples, features, classes, labels, landmarks; the fitted exponents
    kernels.py      kernel matrices: time and memory; time per value in streamed blocks
    operators.py    products with a kernel matrix that is never held
    solvers.py      ls-svm, ask-ls, leave-one-out paths, tuning: ratios, memory
    kpca.py         kernel PCA, in memory and matrix-free
    ksvd.py         kernel SVD of graphs and of dense samples, against randomised SVD
    nystrom.py      the asymmetric Nyström method: dense samples, graphs, a million sparse rows
    biclustering.py documents and terms: table 2 of the KSVD paper, planted biclusters
    scg.py          SCG-LDK and SCG-OSK: against samples, labels, the printed formula; Adult a6a
    metric.py       kernel learners of the plugin kernreg-metric
    structured.py   time series and mixed tables, of the plugin kernreg-structured, against tslearn and gower
    chains.py       chains against their steps by hand
    model_files.py  saving and loading, damaged files
    cold_start.py   fresh processes: compiled kernels from disk, edited plugins
    jit.py          the scalar functions, per element
    registry.py     importing and listing

Everything is compiled in `setup`. With KERNREG_BENCH_TINY=1 all sizes shrink to a few hundred samples: the numbers
mean nothing then, but every line of code runs within seconds, which is how the tests keep the benchmarks alive.
"""
