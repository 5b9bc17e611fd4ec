"""What to say before a decomposition takes more memory than the budget."""

from __future__ import annotations

from kernreg.config import memory_budget
from kernreg.engine.budget import beyond_budget
from kernreg.linalg.spectra.memory import of_pairs, of_triplets
from kernreg.linalg.spectra.partial import many_for_iterations


def doubt_of_pairs(n: int, k: int, solver: str, *, held: bool) -> str:
    """Return what to say before k eigenpairs of n samples are computed; nothing where they fit.

    Parameters
    ----------
    n, k : int
    solver : str
        As users give it.
    held : bool
        Whether the kernel matrix is in memory; else products with it are taken.

    Examples
    --------
    >>> from kernreg import config_context
    >>> with config_context(memory="40MB"):
    ...     print(doubt_of_pairs(2000, 2, "dense", held=True).partition(";")[0])
    n_components=2 of 2000 samples needs about 96.0 MB, more than the memory budget of 40.0 MB
    """
    if _refused((n, n), held=held):
        return ""
    needed = of_pairs(n, k, held=held, dense=_by_lapack((n, n), k, solver, held=held))
    return beyond_budget(needed, f"n_components={k} of {n} samples", "take fewer components")


def doubt_of_triplets(shape: tuple[int, int], k: int, solver: str, *, held: bool) -> str:
    """Return what to say before k singular triplets are computed; parameters as of `doubt_of_pairs`."""
    if _refused(shape, held=held):
        return ""
    needed = of_triplets(shape, k, held=held, dense=_by_lapack(shape, k, solver, held=held))
    return beyond_budget(needed, f"n_components={k} of {shape[0]} and {shape[1]} samples", "take fewer components")


def _refused(shape: tuple[int, int], *, held: bool) -> bool:
    """Return whether the kernel matrix itself is beyond the budget, and will be refused with an error of its own."""
    return held and 8 * shape[0] * shape[1] > memory_budget()


def _by_lapack(shape: tuple[int, int], k: int, solver: str, *, held: bool) -> bool:
    return held and (solver == "dense" or (solver == "auto" and many_for_iterations(shape, k)))
