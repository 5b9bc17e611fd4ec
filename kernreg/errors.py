"""Every error kernreg raises on purpose.

The tree (the builtin each one also is, in brackets)::

    KernregError
    ├── SpecError                [ValueError]    a spec string or dict cannot be read
    ├── ConfigError              [ValueError]    a setting has a value that is not accepted
    ├── ParameterError           [ValueError]    a parameter of a kernel, solver or ensembler is out of its domain
    ├── ChainError               [ValueError]    steps that do not fit together
    ├── DataError                [ValueError]    the arrays given are not what the operation accepts
    │   └── AsymmetryError                       an asymmetric kernel where the method requires symmetry
    ├── MemoryBudgetError        [MemoryError]   the result does not fit in the memory budget
    ├── EngineError              [RuntimeError]  an engine cannot run here
    ├── MissingDataset           [LookupError]   a data set is not available; the message says how to get it
    ├── MissingExtra             [ImportError]   an optional package is not installed; the message names the extra
    ├── ModelFileError           [ValueError]    something is wrong with a model file
    │   ├── UnsavableModel       [TypeError]     the model holds what a model file cannot; the message says where
    │   ├── DamagedModelFile                     corrupted, truncated, tampered with, or not a model file
    │   ├── NewerModelFile                       written by a later version of kernreg
    │   └── ModelNeedsPlugin     [ImportError]   a plugin that the model uses is missing, blocked or broken
    └── PluginError
        ├── UnknownPlugin        [LookupError]   no plugin of that name
        ├── PluginConflict       [LookupError]   two distributions claim the name
        ├── PluginExists         [ValueError]    runtime registration over an existing name
        ├── PluginBlocked        [ImportError]   KERNREG_PLUGINS does not allow the distribution
        ├── PluginIncompatible   [ImportError]   written for another major version of the plugin API
        └── PluginLoadError      [ImportError]   importing or checking the plugin failed

and one warning tree::

    KernregWarning               [UserWarning]
    ├── PluginWarning                            a plugin works, but something about it deserves attention
    ├── ModelVersionWarning                      a model file was written with another version of what it needs
    ├── GridEndWarning                           the best of a grid is at its end: what lies beyond may be better
    ├── UninformativeKernelWarning               a kernel matrix that tells no samples apart, or all of them
    ├── RangeWarning                             numbers so large or small that a kernel loses them
    ├── FormulaWarning                           a kernel's compiled code and its Python function disagree
    ├── UnknownCategoryWarning                   a table with a category that the model was not fitted with
    ├── ApproximationWarning                     an approximation that nobody asked for, because memory is short
    ├── MemoryBudgetWarning                      what was asked for needs more than the memory budget, and is done
    └── PerformanceWarning                       the result is right, but a faster way exists
"""

from __future__ import annotations

_LONGEST = 4000  # characters of a message, of which the middle is left out beyond
_LONGEST_VALUE = 200  # characters of a value in a message
_MANY = 50  # values of a list of which a message shows the first ones


def shown(value: object) -> str:
    """Return a value as a message shows it: in few characters, and whatever it is.

    Python itself refuses to print integers of thousands of digits, and printing may fail in other ways.

    >>> shown("loo"), shown([1.0, 2.0])
    ("'loo'", '[1.0, 2.0]')
    >>> shown(10**5000), len(shown("x" * 1_000_000)) < 250
    ('(an integer of more than 20 digits)', True)
    """
    try:
        if isinstance(value, int) and abs(value) >= 10**20:
            return "(an integer of more than 20 digits)"
        if isinstance(value, list | tuple) and len(value) > _MANY:
            return f"({type(value).__name__} of {len(value)} values that begins with {shown(value[:5])})"
        text = repr(value)
    except Exception:  # whatever the value's own code raises
        return f"(a value of type {type(value).__name__} that cannot be printed)"
    if "\n" in text:  # arrays and tables
        text = " ".join(text.split())
    if len(text) > _LONGEST_VALUE:
        half = _LONGEST_VALUE // 2
        text = f"{text[:half]} … {text[-half:]}"
    return text


def printable(text: str) -> str:
    r"""Return text in which nothing does something to a terminal: control characters are escaped.

    >>> printable("a plugin\x1b[2J")
    'a plugin\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(c if c in "\n\t" or c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class KernregError(Exception):
    """Base of all errors raised by kernreg on purpose.

    A message says what was given, which may be megabytes of text, and names that others have chosen: it is printed with
    its beginning and its end, and without control characters.

    >>> len(str(KernregError("x" * 1_000_000 + " is not accepted; give less"))) < 5000
    True
    """

    def __str__(self) -> str:
        text = super().__str__()
        if len(text) > _LONGEST:
            half = _LONGEST // 2
            text = f"{text[:half]} … ({len(text) - 2 * half} characters left out) … {text[-half:]}"
        return printable(text)


class SpecError(KernregError, ValueError):
    """A spec such as ``"sne(sigma=2.0)"`` cannot be read."""


class ConfigError(KernregError, ValueError):
    """A setting has a value that is not accepted."""


class ParameterError(KernregError, ValueError):
    """A parameter of a kernel, solver or ensembler is out of its domain."""


class ChainError(KernregError, ValueError):
    """Steps of a chain do not fit together."""


class DataError(KernregError, ValueError):
    """The arrays given are not what the operation accepts."""


class AsymmetryError(DataError):
    """An asymmetric kernel was given where the method requires symmetry."""


class MemoryBudgetError(KernregError, MemoryError):
    """The result does not fit in the memory budget."""


class EngineError(KernregError, RuntimeError):
    """An engine cannot run here."""


class MissingDataset(KernregError, LookupError):
    """A data set is not available."""


class MissingExtra(KernregError, ImportError):
    """An optional package is not installed."""


class ModelFileError(KernregError, ValueError):
    """Something is wrong with a model file."""


class UnsavableModel(ModelFileError, TypeError):
    """The model holds what a model file cannot hold."""


class DamagedModelFile(ModelFileError):
    """The file is corrupted, truncated, tampered with, or not a model file."""


class NewerModelFile(ModelFileError):
    """The file was written by a later version of kernreg."""


class ModelNeedsPlugin(ModelFileError, ImportError):
    """A plugin that the model uses is missing, blocked or broken."""


class PluginError(KernregError):
    """Something is wrong with a plugin."""


class UnknownPlugin(PluginError, LookupError):
    """No plugin of that name."""


class PluginConflict(PluginError, LookupError):
    """Two distributions claim the same name."""


class PluginExists(PluginError, ValueError):
    """Runtime registration over an existing name."""


class PluginBlocked(PluginError, ImportError):
    """KERNREG_PLUGINS does not allow the distribution."""


class PluginIncompatible(PluginError, ImportError):
    """The plugin was written for another major version of the plugin API."""


class PluginLoadError(PluginError, ImportError):
    """Importing the plugin, or checking what it provides, failed."""


class KernregWarning(UserWarning):
    """Base of all warnings issued by kernreg."""


class PluginWarning(KernregWarning):
    """A plugin works, but something about it deserves attention."""


class ModelVersionWarning(KernregWarning):
    """A model file was written with another version of what it needs."""


class GridEndWarning(KernregWarning):
    """The best value of a grid is at its end, and what lies beyond may be better."""


class UninformativeKernelWarning(KernregWarning):
    """The kernel matrix of the training samples is about a multiple of the identity, or about constant."""


class RangeWarning(KernregWarning):
    """Samples are so large or small that what a kernel multiplies becomes 0 or infinite."""


class FormulaWarning(KernregWarning):
    """The compiled code of a kernel has other values than its Python function: integers, as a rule."""


class UnknownCategoryWarning(KernregWarning):
    """A table holds a category that the model was not fitted with; it counts as none."""


class ApproximationWarning(KernregWarning):
    """An approximation was taken without being asked for, since what is exact does not fit the memory budget."""


class MemoryBudgetWarning(KernregWarning):
    """What was asked for needs more than the memory budget, and is done nevertheless."""


class PerformanceWarning(KernregWarning):
    """The result is right, but a faster way exists."""
