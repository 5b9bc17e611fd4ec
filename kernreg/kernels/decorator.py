"""The `kernel` decorator: a kernel family of one function."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

import cloudpickle  # type: ignore[import-untyped]  # it has no stubs

from kernreg.engine.program import STATISTICS, Split
from kernreg.engine.tiles.statistics import BLOCK
from kernreg.errors import ParameterError
from kernreg.kernels.domains import REQUIRED, Domain, Parameter, boolean, integer, real
from kernreg.kernels.family import KernelFamily
from kernreg.kernels.function import FunctionKernel
from kernreg.kernels.packed_kernel import PackedKernel
from kernreg.kernels.structure import Structure
from kernreg.kernels.widths import width
from kernreg.registry.file_origin import is_plugin_file

_NAME = re.compile(r"[^\W\d_][\w.-]*")
INPUTS = ("real", "nonnegative", "distribution", "gaussian", "index")


@dataclass(frozen=True)
class Declaration:
    """What an author says about a function: the keywords of `kernel`, which explains them."""

    of: str | Callable[..., Any]
    symmetric: bool
    definite: bool | Callable[..., bool | None] | None
    normalize: str | None
    log: bool
    parameters: Mapping[str, Domain]
    inputs: str | Structure
    split: Split | None
    prepare: Callable[..., Any] | None
    represent: Callable[..., Any] | None
    learn: Mapping[str, Callable[..., Any]]
    block: int
    blas: bool
    example: Callable[..., Any] | None
    name: str | None


class FunctionFamily(KernelFamily):
    """The family of the kernels that one function gives, with what its author declared."""

    def __init__(self, function: Any, declared: Declaration):
        plain = getattr(function, "py_func", function)
        if not isinstance(plain, FunctionType):
            raise ParameterError(f"`kernel` decorates a function, got {type(function).__name__}")
        name = declared.name or plain.__name__.rstrip("_").replace("_", "-")
        _check(name, declared)
        self.function, self.declared = function, declared
        self.of = declared.of if isinstance(declared.of, str) else "term"
        self.normalize, self.inputs = declared.normalize, declared.inputs
        self.fills = self.of == "blocks" and _takes_out(plain)
        super().__init__(
            name,
            PackedKernel if isinstance(declared.inputs, Structure) else FunctionKernel,
            self._parameters(name, plain),
            symmetric=declared.symmetric,
            definite=declared.definite,
            example=declared.example,
        )
        self._describe(plain, plain.__qualname__)
        if self.of != "blocks" and str(self.module).split(".")[0] != "kernreg":
            self._compared = set()

    def _parameters(self, name: str, plain: FunctionType) -> tuple[Parameter, ...]:
        pair = self.of in ("rows", "blocks")
        skipped = 2 if pair else 1
        if len(inspect.signature(plain).parameters) < skipped:
            seen = "the two samples" if pair else "the statistic"
            raise ParameterError(f"kernel {name!r}: the function takes too few arguments; it must take {seen} first")
        prepare, domains = self.declared.prepare, self.declared.parameters
        given = list(inspect.signature(plain).parameters.values())[skipped:]
        if prepare is not None:
            given = list(inspect.signature(prepare).parameters.values())
        elif self.fills:
            given = [parameter for parameter in given if parameter.name != "out"]
        parameters = _parameters(name, given, domains)
        if self.normalize and self.of in ("sqeuclidean", "l1"):
            parameters += (Parameter("self_term", True, boolean),)
        return parameters

    def __reduce__(self) -> Any:
        # By name where another process finds the same name; functions of a script, a notebook or
        # a plugin file travel by value.
        if self._is_found_by_name() and not is_plugin_file(self.module):
            return super().__reduce__()
        # Without the example, which makes kernels of this family, and so would lead here again.
        data = cloudpickle.dumps((self.function, replace(self.declared, example=None)))
        _by_value.setdefault(data, self)  # in this process the loaded family is this one
        return _load_by_value, (data,)


def kernel(
    function: Callable[..., Any] | None = None,
    *,
    of: str | Callable[..., Any],
    symmetric: bool = False,
    definite: bool | Callable[..., bool | None] | None = None,
    normalize: str | None = None,
    log: bool = False,
    parameters: Mapping[str, Domain] | None = None,
    inputs: str | Structure = "real",
    split: Split | None = None,
    prepare: Callable[..., Any] | None = None,
    represent: Callable[..., Any] | None = None,
    learn: Mapping[str, Callable[..., Any]] | None = None,
    block: int = BLOCK,
    blas: bool = True,
    example: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """Make a kernel family of one function.

    Parameters
    ----------
    of : {"dot", "sqeuclidean", "l1", "rows", "blocks"} or callable
        What the function sees of a pair of samples: the inner product, the squared distance, the l1 distance, the
        sum over features of ``of(x_d, z_d)``, the two rows, or two arrays of rows (called as plain Python). A function
        of two arrays that ends with ``*, out=None`` may fill ``out`` and return it, where that is not None: an array of
        the result's shape and dtype, often a part of the matrix itself. Its rows are contiguous, all of it may not be.
        Where a symmetric kernel gets ``out`` and the same object twice, values above the diagonal are not looked at.
    symmetric : bool
        k(x, z) = k(z, x) holds. Only then is half of k(X) mirrored.
    definite : bool, None or callable
        Whether every k(X) is positive semi-definite; None when not known. Or a function of the parameters that says so.
    normalize : {"rows"}, optional
        Divide each row by its sum over the reference set. A kernel of a distance gets a parameter ``self_term``:
        whether identical samples count, or are taken as infinitely far apart.
    log : bool
        With ``normalize``: the function returns the logarithm of the weight, which is exponentiated safely.
    parameters : mapping of name to domain, optional
        What values each parameter accepts (`kernreg.kernels.positive`, `integer(1)`, …). Without it a parameter with an
        integer default is an integer, one with the default ``"scale"`` (or ``"median"``, ``"2*scale"``) a width, which
        is a number or such a word and resolved on the training samples, any other a finite number.
    inputs : {"real", "nonnegative", "distribution", "gaussian", "index"} or Structure
        What samples are accepted; a distribution is a row that sums to one, a Gaussian a row of means and as many
        variances. A `kernreg.kernels.Structure` packs samples that are not rows of numbers, lists of arrays for
        example; it goes with ``of="blocks"``, and the function sees `PackedSamples`.
    split : Split, optional
        The factorisation at zero inner product, for fast products with sparse data.
    prepare : callable, optional
        For ``of="blocks"``: gets the parameters, returns what the block function receives as third argument. Called
        once per kernel object.
    represent : callable, optional
        For a Structure: ``represent(samples, **parameters)`` returns a tuple of arrays with a row for each sample, made
        once for a sample set. The function then sees two such tuples, cut to the rows of a block.
    learn : mapping of name to callable, optional
        For a Structure: parameters that may be words, and ``learn[name](samples, weights, parameters)``, which gives
        them a value when the kernel is bound to samples; weights may be None.
    block : int
        For a Structure: how many samples on each side a block of the matrix has, at most 256. Where a pair costs more
        than a call of the function, small blocks spread few samples over threads, and spare half of a symmetric k(X).
    blas : bool
        For ``of="blocks"``: whether the function may call BLAS, products of NumPy for example. False saves the time to
        hold BLAS to one thread, which small matrices notice.
    example : callable, optional
        ``example(rng, n)`` returns (kernel, samples) for the test kit; needed where parameters have no default, and for
        structured samples.
    name : str, optional
        By default the function's name with hyphens for underscores.

    Examples
    --------
    >>> from kernreg import kernel
    >>> from kernreg.jit import exp
    >>> @kernel(of="sqeuclidean", symmetric=True, definite=True)
    ... def gauss(d2, sigma="scale"):
    ...     '''exp(-|x - y|² / sigma²).'''
    ...     return exp(-d2 / (sigma * sigma))
    >>> gauss(sigma=2.0)
    gauss(sigma=2.0)
    >>> gauss(sigma=2.0)([[0.0], [1.0]]).round(3).tolist()
    [[1.0, 0.779], [0.779, 1.0]]
    """
    declared = Declaration(
        of=of,
        symmetric=symmetric,
        definite=definite,
        normalize=normalize,
        log=log,
        parameters=dict(parameters or {}),
        inputs=inputs,
        split=split,
        prepare=prepare,
        represent=represent,
        learn=dict(learn or {}),
        block=block,
        blas=blas,
        example=example,
        name=name,
    )
    if function is None:
        return lambda decorated: FunctionFamily(decorated, declared)
    return FunctionFamily(function, declared)


def _check(name: str, declared: Declaration) -> None:
    if not _NAME.fullmatch(name):
        raise ParameterError(
            f"{name!r} cannot be the name of a kernel, because specs are written with it; it takes letters, "
            "digits, '-', '_', '.', and a letter first. Give one with name='…'"
        )
    of = declared.of
    if isinstance(of, str) and (of not in STATISTICS or of == "term"):
        raise ParameterError(
            f"kernel {name!r}: of={of!r}; accepted are 'dot', 'sqeuclidean', 'l1', 'rows', 'blocks' or a function of "
            "one feature of each sample"
        )
    if not isinstance(of, str) and not callable(of):
        raise ParameterError(f"kernel {name!r}: of={of!r} is neither a statistic's name nor a function")
    if declared.normalize not in (None, "rows"):
        raise ParameterError(f"kernel {name!r}: normalize={declared.normalize!r}; accepted are 'rows' and None")
    if declared.log and not declared.normalize:
        raise ParameterError(f"kernel {name!r}: log=True says how rows are normalised; it needs normalize='rows'")
    if declared.normalize and declared.symmetric:
        raise ParameterError(f"kernel {name!r}: a row-normalised kernel is not symmetric")
    for option in ("symmetric", "definite", "log", "blas"):
        accepted = (True, False, None) if option == "definite" else (True, False)
        given = getattr(declared, option)
        if not (any(given is value for value in accepted) or (option == "definite" and callable(given))):
            raise ParameterError(f"kernel {name!r}: {option}={given!r}; accepted are {', '.join(map(str, accepted))}")
    for parameter, domain in declared.parameters.items():
        if not isinstance(domain, Domain):
            raise ParameterError(
                f"kernel {name!r}: parameters={{{parameter!r}: {domain!r}}}; a domain is accepted, such as "
                "kernreg.kernels.positive, integer(1) or choice('a', 'b')"
            )
    if isinstance(declared.inputs, Structure):
        _check_structured(name, declared)
        return
    if declared.inputs not in INPUTS:
        known = ", ".join(INPUTS)
        raise ParameterError(f"kernel {name!r}: inputs={declared.inputs!r}; accepted are {known} and a Structure")
    if declared.represent is not None or declared.learn or declared.block != BLOCK:
        raise ParameterError(f"kernel {name!r}: represent=, learn= and block= need a Structure as inputs=")
    if (declared.prepare is not None or declared.inputs == "index" or not declared.blas) and of != "blocks":
        raise ParameterError(f"kernel {name!r}: prepare=, blas=False and inputs='index' need of='blocks'")


def _check_structured(name: str, declared: Declaration) -> None:
    if declared.of != "blocks" or declared.normalize or declared.prepare is not None:
        raise ParameterError(
            f"kernel {name!r}: structured samples need of='blocks', without normalize= and prepare=; what is "
            "computed of single samples belongs in represent="
        )
    if not 1 <= declared.block <= BLOCK:
        raise ParameterError(f"kernel {name!r}: block={declared.block!r}; accepted are integers from 1 to {BLOCK}")


def _takes_out(function: FunctionType) -> bool:
    """Return whether a function of blocks ends with ``*, out=None``."""
    out = inspect.signature(function).parameters.get("out")
    return out is not None and out.kind is out.KEYWORD_ONLY and out.default is None


def _parameters(owner: str, given: Sequence[inspect.Parameter], domains: Mapping[str, Domain]) -> tuple[Parameter, ...]:
    found = []
    for parameter in given:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise ParameterError(f"kernel {owner!r}: {parameter} is not allowed; parameters are plain names")
        if parameter.name == "self_term" or "__" in parameter.name or parameter.name.startswith("_"):
            raise ParameterError(
                f"kernel {owner!r}: a parameter cannot be called {parameter.name!r}: 'self_term' is a parameter of "
                "every normalised kernel, '__' leads to the parameters of kernels inside; choose another name"
            )
        default = REQUIRED if parameter.default is parameter.empty else parameter.default
        domain = domains.get(parameter.name) or _inferred(owner, parameter.name, default)
        found.append(Parameter(parameter.name, default, domain))
    unknown = set(domains) - {parameter.name for parameter in found}
    if unknown:
        raise ParameterError(f"kernel {owner!r}: parameters= names {sorted(unknown)}, which the function does not take")
    return tuple(found)


def _inferred(owner: str, name: str, default: Any) -> Domain:
    if isinstance(default, bool):
        return boolean
    if isinstance(default, int):
        return integer()
    if isinstance(default, float) or default is REQUIRED:
        return real
    if isinstance(default, str) and default.endswith(("scale", "median")):
        return width
    raise ParameterError(
        f"kernel {owner!r}: {name}={default!r} is not a number; say what it accepts with parameters={{{name!r}: …}}"
    )


_by_value: dict[bytes, FunctionFamily] = {}


def _load_by_value(data: bytes) -> FunctionFamily:
    if data not in _by_value:
        _by_value[data] = FunctionFamily(*cloudpickle.loads(data))
    return _by_value[data]
