"""Parameters of machines in cells: a solver inside with parameters of its own, checks, and what is tried in a cell."""

from __future__ import annotations

from math import isfinite
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_regressor

from kernreg.common.checks import as_number, check_choice, is_whole
from kernreg.errors import KernregError, ParameterError, shown
from kernreg.factory import make_solver
from kernreg.kernels import Kernel
from kernreg.solvers.cells.partition import PARTITIONS
from kernreg.solvers.cells.search import Plan, width_names
from kernreg.solvers.parameters import KernelParameters, given_as, unfitted_copy

SEARCHES = ("pilots", "full")


class CellParameters(KernelParameters):
    """An estimator with a ``solver`` beside its ``kernel``, set as ``solver__gamma`` and ``kernel__sigma``."""

    #: The solver of each cell where none is given.
    default_solver: ClassVar[str]

    def __init__(  # noqa: PLR0913  an estimator takes each of its settings as a parameter
        self,
        solver: Any = None,
        kernel: Any = None,
        *,
        cell_size: int = 1000,
        overlap: float = 0.0,
        n_nearest: int = 1,
        partition: str = "tree",
        widths: Any = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0),
        search: str = "pilots",
        random_state: Any = 0,
    ):
        self.solver = solver
        self.kernel = kernel
        self.cell_size = cell_size
        self.overlap = overlap
        self.n_nearest = n_nearest
        self.partition = partition
        self.widths = widths
        self.search = search
        self.random_state = random_state

    def _make_solver(self) -> Any:
        with given_as("solver", self.solver):
            return make_solver(self.default_solver if self.solver is None else self.solver)

    def resolve_kernel(self, parameter: str = "kernel") -> Kernel:
        """Return the kernel to compute with: the one given, else that of the solver, else the default."""
        if parameter == "kernel" and self.kernel is None:
            solver = self._make_solver()
            if isinstance(solver, KernelParameters):
                return solver.resolve_kernel()
        return super().resolve_kernel(parameter)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also those of the kernel and of the solver."""
        params = super().get_params(deep=deep)
        if deep and (isinstance(self.solver, type) or not hasattr(self.solver, "get_params")):
            try:
                inner = self._make_solver().get_params()
            except (KernregError, TypeError):  # a solver that does not exist is an error of fit, not of asking
                inner = {}
            params.update({f"solver__{name}": value for name, value in inner.items()})
        return params

    def set_params(self, **params: Any) -> CellParameters:
        """Set parameters, those of the kernel as ``kernel__sigma`` and of the solver as ``solver__gamma``."""
        if "solver" in params:
            self.solver = params.pop("solver")
        if any(name.startswith("solver__") for name in params):
            if isinstance(self.solver, type) or not hasattr(self.solver, "get_params"):
                self.solver = self._make_solver()
            inner = {name[len("solver__") :]: params.pop(name) for name in list(params) if name.startswith("solver__")}
            self.solver.set_params(**inner)
        super().set_params(**params)
        return self

    def _check_parameters(self) -> None:
        if not _is_integer(self.cell_size) or self.cell_size < 2:
            raise ParameterError(f"cell_size={shown(self.cell_size)} is not accepted; give an integer, at least 2")
        if not _is_integer(self.n_nearest) or self.n_nearest < 1:
            raise ParameterError(f"n_nearest={shown(self.n_nearest)} is not accepted; give an integer, at least 1")
        if not 0.0 <= as_number(self.overlap) < float("inf"):
            raise ParameterError(
                f"overlap={shown(self.overlap)} is not accepted; give neighbours as a share of the samples of a cell, "
                "a number that is not negative"
            )
        check_choice("partition", self.partition, tuple(PARTITIONS))
        check_choice("search", self.search, SEARCHES)

    def _factors(self) -> tuple[float, ...]:
        widths = (1.0,) if self.widths is None else self.widths
        numbers = [as_number(width) for width in widths] if np.iterable(widths) and not isinstance(widths, str) else []
        if not numbers or not all(isfinite(number) and number > 0.0 for number in numbers):
            raise ParameterError(
                f"widths={shown(self.widths)} is not accepted; give positive multiples of the kernel's width, such as "
                "(0.5, 1.0, 2.0), or None to keep it"
            )
        return tuple(dict.fromkeys(numbers))

    def _plan(self, kernel: Kernel) -> Plan:
        """Return what is tried in a cell; raise ParameterError where the solver cannot do it."""
        solver, factors = unfitted_copy("solver", self._make_solver()), self._factors()
        if not hasattr(solver, "predict") or is_regressor(solver) != is_regressor(self):
            raise ParameterError(
                f"solver={shown(self.solver)} is not accepted by {type(self).__name__}; give a "
                f"{'regression' if is_regressor(self) else 'classifier'} such as {self.default_solver!r}"
            )
        if not isinstance(solver, KernelParameters):
            if self.kernel is not None:
                if "kernel" not in solver.get_params(deep=False):
                    raise ParameterError(
                        f"kernel={shown(self.kernel)} is given, and {type(solver).__name__} takes none"
                    )
                solver.kernel = kernel
            return Plan(solver, None)
        if not width_names(kernel):
            factors = (1.0,)
        if len(factors) > 1 and not (hasattr(type(solver), "loo_score_") and "gamma" in solver.get_params(deep=False)):
            raise ParameterError(
                f"{type(solver).__name__} has no exact leave-one-out to choose widths={shown(self.widths)} by; give "
                "widths=None"
            )
        return Plan(solver, kernel, factors)


def _is_integer(value: Any) -> bool:
    return is_whole(value)
