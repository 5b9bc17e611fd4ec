"""KernelFamily: a kernel without its parameters, and the decorator that makes one of a function."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import cloudpickle  # type: ignore[import-untyped]  # it has no stubs
import numpy as np

from kernreg.engine.program import STATISTICS, Split
from kernreg.errors import ParameterError
from kernreg.kernels.base import Kernel
from kernreg.kernels.domains import REQUIRED, Domain, Parameter, boolean, integer, real
from kernreg.registry import entry_of, get_registry, qualified_name

_NAME = re.compile(r"[^\W\d_][\w.-]*")
INPUTS = ("real", "nonnegative", "distribution", "gaussian", "index")


class KernelFamily:
    """A named kernel whose parameters are still open; call it with them to get a Kernel.

    Attributes
    ----------
    name, doc, formula : str
        The formula is the first line of the docstring.
    of : str
        Which statistic of a pair the function sees.
    symmetric : bool
    definite : bool or None
    normalize : {"rows", None}
    inputs : {"real", "nonnegative", "distribution", "gaussian", "index"}
        What samples the kernel accepts.
    parameters : tuple of Parameter
    function : callable or None
        The plain Python function.
    """

    __kernreg_kernel__ = True

    def __init__(
        self,
        name: str,
        kernel_class: type[Kernel],
        parameters: tuple[Parameter, ...],
        *,
        doc: str = "",
        of: str = "kernels",
        symmetric: bool = False,
        definite: bool | None = None,
        normalize: str | None = None,
        inputs: str = "real",
        function: Callable[..., Any] | None = None,
        module: str | None = None,
        qualname: str | None = None,
        example: Callable[..., Any] | None = None,
        options: Mapping[str, Any] | None = None,
    ):
        self.name, self.kernel_class, self.parameters = name, kernel_class, parameters
        self.doc = inspect.cleandoc(doc)
        self.formula = self.doc.split("\n", 1)[0]
        self.of, self.symmetric, self.definite, self.normalize = of, symmetric, definite, normalize
        self.inputs, self.function = inputs, function
        self.module, self.qualname = module, qualname
        self.options: dict[str, Any] = dict(options or {})
        self._example = example
        self.__doc__ = self.doc
        self.__name__ = qualname or name
        if module is not None:
            self.__module__ = module

    def __call__(self, *args: Any, **params: Any) -> Kernel:
        """Return the Kernel with these parameters; the rest take their defaults."""
        names = [parameter.name for parameter in self.parameters]
        if len(args) > len(names):
            raise ParameterError(f"{self.name} takes {len(names)} parameter(s) ({', '.join(names)}), got {len(args)}")
        for name, value in zip(names, args, strict=False):
            if name in params:
                raise ParameterError(f"{self.name}: {name} is given twice")
            params[name] = value
        unknown = [name for name in params if name not in names]
        if unknown:
            accepted = ", ".join(names) or "none"
            raise ParameterError(f"{self.name} has no parameter {unknown[0]!r}; its parameters are: {accepted}")
        values = {}
        for parameter in self.parameters:
            value = params.get(parameter.name, parameter.default)
            if value is REQUIRED:
                raise ParameterError(f"{self.name} needs {parameter.name}=…, {parameter.domain}")
            values[parameter.name] = parameter.accept(value, self.name)
        return self.kernel_class(self, values)

    def example(self, rng: np.random.Generator, n: int) -> tuple[Kernel, Any]:
        """Return a kernel of this family and n random samples it accepts: what the test kit runs on."""
        if self._example is not None:
            return self._example(rng, n)
        kernel = self()
        if self.inputs == "real":
            return kernel, rng.normal(size=(n, 5))
        if self.inputs == "gaussian":
            return kernel, np.hstack([rng.normal(size=(n, 3)), 0.5 + rng.random((n, 3))])
        X = rng.random((n, 6)) + 0.01
        return kernel, X / X.sum(axis=1, keepdims=True) if self.inputs == "distribution" else X

    def __repr__(self) -> str:
        return f"<kernel family {self.name}: {self.formula}>"

    def __reduce__(self) -> Any:
        # By name where another process finds the same name; functions of a script or notebook travel by value.
        if self._is_found_by_name():
            return _import_family, (self.module, self.qualname)
        data = cloudpickle.dumps((self.function, self.options))
        _by_value.setdefault(data, self)  # in this process the loaded family is this one
        return _load_by_value, (data,)

    def __getstate__(self) -> dict[str, Any]:
        # For formats such as that of skops; pickle takes __reduce__.
        entry = entry_of("kernel", self)
        if entry is None:
            raise ParameterError(
                f"the kernel {self.name!r} is registered nowhere, and so another process cannot find it. Register it "
                f"in both, kernreg.register('kernel', {self.name!r}, …), or put it into a plugin: kernreg new-plugin"
            )
        return {"registered": qualified_name(entry)}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(vars(get_registry("kernel").get(state["registered"])))

    def _is_found_by_name(self) -> bool:
        if self.module is None or self.qualname is None or self.module == "__main__":
            return False
        try:
            return _import_family(self.module, self.qualname) is self
        except (ImportError, AttributeError):  # a local function, or kernel(f, of=…) bound to another name
            return False


def kernel(
    function: Callable[..., Any] | None = None,
    *,
    of: str | Callable[..., Any],
    symmetric: bool = False,
    definite: bool | None = None,
    normalize: str | None = None,
    log: bool = False,
    parameters: Mapping[str, Domain] | None = None,
    inputs: str = "real",
    split: Split | None = None,
    prepare: Callable[..., Any] | None = None,
    example: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """Make a kernel family of one function.

    Parameters
    ----------
    of : {"dot", "sqeuclidean", "l1", "rows", "blocks"} or callable
        What the function sees of a pair of samples: the inner product, the squared distance, the l1 distance, the
        sum over features of ``of(x_d, z_d)``, the two rows, or two arrays of rows (called as plain Python).
    symmetric : bool
        k(x, z) = k(z, x) holds. Only then is half of k(X) mirrored.
    definite : bool or None
        Whether every k(X) is positive semi-definite; None when not known.
    normalize : {"rows"}, optional
        Divide each row by its sum over the reference set. A kernel of a distance gets a parameter ``self_term``:
        whether identical samples count, or are taken as infinitely far apart.
    log : bool
        With ``normalize``: the function returns the logarithm of the weight, which is exponentiated safely.
    parameters : mapping of name to domain, optional
        What values each parameter accepts (`kernreg.kernels.positive`, `integer(1)`, …). Without it a parameter with an
        integer default is an integer, any other a finite number.
    inputs : {"real", "nonnegative", "distribution", "gaussian", "index"}
        What samples are accepted; a distribution is a row that sums to one, a Gaussian a row of means and as many
        variances.
    split : Split, optional
        The factorisation at zero inner product, for fast products with sparse data.
    prepare : callable, optional
        For ``of="blocks"``: gets the parameters, returns what the block function receives as third argument. Called
        once per kernel object.
    example : callable, optional
        ``example(rng, n)`` returns (kernel, samples) for the test kit; needed where parameters have no default.
    name : str, optional
        By default the function's name with hyphens for underscores.

    Examples
    --------
    >>> from kernreg import kernel
    >>> from kernreg.jit import exp
    >>> @kernel(of="sqeuclidean", symmetric=True, definite=True)
    ... def gauss(d2, sigma=1.0):
    ...     '''exp(-|x - y|² / sigma²).'''
    ...     return exp(-d2 / (sigma * sigma))
    >>> gauss(sigma=2.0)
    gauss(sigma=2.0)
    >>> gauss(sigma=2.0)([[0.0], [1.0]]).round(3).tolist()
    [[1.0, 0.779], [0.779, 1.0]]
    """
    options: dict[str, Any] = {
        "of": of,
        "symmetric": symmetric,
        "definite": definite,
        "normalize": normalize,
        "log": log,
        "parameters": dict(parameters or {}),
        "inputs": inputs,
        "split": split,
        "prepare": prepare,
        "example": example,
        "name": name,
    }
    if function is None:
        return lambda decorated: _family_of(decorated, options)
    return _family_of(function, options)


def _family_of(function: Any, options: dict[str, Any]) -> KernelFamily:
    from kernreg.kernels.function import FunctionKernel

    plain = getattr(function, "py_func", function)
    if not isinstance(plain, FunctionType):
        raise ParameterError(f"`kernel` decorates a function, got {type(function).__name__}")
    name = options["name"] or plain.__name__.rstrip("_").replace("_", "-")
    _check_options(name, options)
    of = options["of"]
    statistic = of if isinstance(of, str) else "term"
    source, skipped = (plain, 2 if statistic in ("rows", "blocks") else 1)
    if options["prepare"] is not None:
        source, skipped = options["prepare"], 0
    if len(inspect.signature(plain).parameters) < (2 if statistic in ("rows", "blocks") else 1):
        seen = "the two samples" if statistic in ("rows", "blocks") else "the statistic"
        raise ParameterError(f"kernel {name!r}: the function takes too few arguments; it must take {seen} first")
    parameters = _parameters(name, source, skipped, options["parameters"])
    if options["normalize"] and statistic in ("sqeuclidean", "l1"):
        parameters += (Parameter("self_term", True, boolean),)
    return KernelFamily(
        name,
        FunctionKernel,
        parameters,
        doc=plain.__doc__ or "",
        of=statistic,
        symmetric=options["symmetric"],
        definite=options["definite"],
        normalize=options["normalize"],
        inputs=options["inputs"],
        function=function,
        module=plain.__module__,
        qualname=plain.__qualname__,
        example=options["example"],
        options=options,
    )


def _check_options(name: str, options: dict[str, Any]) -> None:
    if not _NAME.fullmatch(name):
        raise ParameterError(
            f"{name!r} cannot be the name of a kernel, which stands in specs: letters, digits, '-', '_', '.', a letter "
            "first. Give one with name='…'"
        )
    of = options["of"]
    if isinstance(of, str) and (of not in STATISTICS or of == "term"):
        raise ParameterError(
            f"kernel {name!r}: of={of!r}; accepted are 'dot', 'sqeuclidean', 'l1', 'rows', 'blocks' or a function of "
            "one feature of each sample"
        )
    if not isinstance(of, str) and not callable(of):
        raise ParameterError(f"kernel {name!r}: of={of!r} is neither a statistic's name nor a function")
    if options["normalize"] not in (None, "rows"):
        raise ParameterError(f"kernel {name!r}: normalize={options['normalize']!r}; accepted are 'rows' and None")
    if options["log"] and not options["normalize"]:
        raise ParameterError(f"kernel {name!r}: log=True says how rows are normalised; it needs normalize='rows'")
    if options["normalize"] and options["symmetric"]:
        raise ParameterError(f"kernel {name!r}: a row-normalised kernel is not symmetric")
    for option, accepted in (("symmetric", (True, False)), ("definite", (True, False, None)), ("log", (True, False))):
        if not any(options[option] is value for value in accepted):
            raise ParameterError(
                f"kernel {name!r}: {option}={options[option]!r}; accepted are {', '.join(map(str, accepted))}"
            )
    for parameter, domain in options["parameters"].items():
        if not isinstance(domain, Domain):
            raise ParameterError(
                f"kernel {name!r}: parameters={{{parameter!r}: {domain!r}}}; a domain is accepted, such as "
                "kernreg.kernels.positive, integer(1) or choice('a', 'b')"
            )
    if options["inputs"] not in INPUTS:
        raise ParameterError(f"kernel {name!r}: inputs={options['inputs']!r}; accepted are {', '.join(INPUTS)}")
    if (options["prepare"] is not None or options["inputs"] == "index") and of != "blocks":
        raise ParameterError(f"kernel {name!r}: prepare= and inputs='index' go with of='blocks'")


def _parameters(
    owner: str, source: Callable[..., Any], skipped: int, domains: Mapping[str, Domain]
) -> tuple[Parameter, ...]:
    found = []
    for parameter in list(inspect.signature(source).parameters.values())[skipped:]:
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
    raise ParameterError(
        f"kernel {owner!r}: {name}={default!r} is not a number; say what it accepts with parameters={{{name!r}: …}}"
    )


def _import_family(module: str, qualname: str) -> Any:
    found: Any = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


_by_value: dict[bytes, KernelFamily] = {}


def _load_by_value(data: bytes) -> KernelFamily:
    if data not in _by_value:
        _by_value[data] = _family_of(*cloudpickle.loads(data))
    return _by_value[data]
