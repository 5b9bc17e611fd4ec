"""Parts that the docstrings of both machines share: `documented` puts them in place of ``{…}`` lines."""

from __future__ import annotations

from kernreg.common.docstrings import documented_with

_BLOCKS = {
    "parameters": """\
    kernel : str, KernelFamily or Kernel, optional
        By default that of the solver, or of the chain around it, else ``rbf``. Words for widths, such as ``"scale"``,
        are resolved in each cell.
    cell_size : int
        The most samples of a cell. The time of a fit grows with its square, and in proportion to all samples.
    overlap : float
        How many samples of other cells, the nearest ones, a cell is trained on too, as a share of its own: with 0.5,
        1000 samples and 500 neighbours. So borders do not show.
    n_nearest : int
        How many cells are asked about a sample: with 2 its own and the next, blended by how far it is from them.
    partition : {"tree", "kmeans"}
        How samples are partitioned: into halves along the leading direction, again and again; or into Voronoi cells of
        k-means, again where they are too large.
    widths : sequence of float or None
        Multiples of the kernel's widths that are tried; the best by exact leave-one-out is taken, cell by cell. None
        keeps the kernel as it is.
    search : {"pilots", "full"}
        ``full`` tries every width with every γ in every cell. ``pilots`` does so in eight cells, and in the others
        tries the two widths that were best there, and γ near theirs: several times quicker.
    random_state : int, Generator or None
        Of the samples that are looked at to find directions and centres.
""",
    "fitted": """\
    solvers_ : list of estimator
        The machine of each cell; None in a cell of one class.
    partition_ : Partition
        ``partition_.route(X)`` tells the cell of samples.
    sizes_, factors_ : ndarray of shape (cells,)
        The samples of each cell, and the multiple of the width that it took (NaN in a cell of one class).
    kernel_ : Kernel
    solver_report_ : CellsReport
    loo_decision_, loo_score_
        See the properties.
""",
}

#: A decorator that completes the docstring of a class.
documented = documented_with(_BLOCKS)
