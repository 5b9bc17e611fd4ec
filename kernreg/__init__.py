"""Kernel methods where a kernel is one line of mathematics and every solver runs on it.

>>> import kernreg as kr
>>> kr.make_kernel("rbf", sigma=2.0)
rbf(sigma=2.0)

The public names are those in ``__all__``. Each is imported from its home module the first time it is
used, so that ``import kernreg`` stays fast and pulls in no numerical package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kernreg.common.forking import forks_wait_for  # from here on: forks wait for the first import of any name, too

#: The version of kernreg.
__version__ = "0.1.0"

__all__ = [
    "__version__",
    "available",
    "config_context",
    "get_config",
    "kernel",
    "load",
    "load_plugin",
    "make_chain",
    "make_engine",
    "make_ensembler",
    "make_kernel",
    "make_solver",
    "open_samples",
    "parallel",
    "register",
    "save",
    "set_config",
    "tune",
]

if TYPE_CHECKING:
    from kernreg.chain import make_chain, parallel
    from kernreg.config import config_context, get_config, set_config
    from kernreg.factory import available, make_engine, make_ensembler, make_kernel, make_solver, register
    from kernreg.io.sources.opening import open_samples
    from kernreg.kernels import kernel
    from kernreg.persistence.files import load, save
    from kernreg.registry.plugin_files import load_plugin
    from kernreg.solvers.tuning import tune

_HOMES = {
    "available": "kernreg.factory",
    "config_context": "kernreg.config",
    "get_config": "kernreg.config",
    "kernel": "kernreg.kernels",
    "load": "kernreg.persistence.files",
    "load_plugin": "kernreg.registry.plugin_files",
    "make_chain": "kernreg.chain",
    "make_engine": "kernreg.factory",
    "make_ensembler": "kernreg.factory",
    "make_kernel": "kernreg.factory",
    "make_solver": "kernreg.factory",
    "open_samples": "kernreg.io.sources.opening",
    "parallel": "kernreg.chain",
    "register": "kernreg.factory",
    "save": "kernreg.persistence.files",
    "set_config": "kernreg.config",
    "tune": "kernreg.solvers.tuning",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'kernreg' has no attribute {name!r}; its names are {', '.join(__all__)}")
    value = globals()[name] = getattr(forks_wait_for(import_module, home), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
