"""The inverse of a triangular matrix by LAPACK's dtrtri, while other threads of Python run.

SciPy's wrapper keeps them waiting, which many small systems side by side would feel; its table of LAPACK functions for
Cython has the address of the same function.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import cython_lapack, lapack

_POINTER = ctypes.c_void_p


def invert_upper(U: np.ndarray) -> np.ndarray:
    """Return the inverse of an upper triangular float64 matrix, in its own memory; what is below the diagonal stays.

    Parameters
    ----------
    U : ndarray of shape (m, m), Fortran-ordered
        Without zeros on its diagonal, as a factor of Cholesky is.

    Examples
    --------
    >>> invert_upper(np.array([[2.0, 1.0], [0.0, 4.0]], order="F"))
    array([[ 0.5  , -0.125],
           [ 0.   ,  0.25 ]])
    """
    function = _dtrtri()
    if function is None or not (U.flags.f_contiguous and U.flags.writeable and U.dtype == np.float64):
        return lapack.dtrtri(U, lower=0, overwrite_c=1)[0]
    size, info = ctypes.c_int(len(U)), ctypes.c_int(0)
    function(b"U", b"N", ctypes.byref(size), U.ctypes.data, ctypes.byref(size), ctypes.byref(info))
    if info.value:
        raise np.linalg.LinAlgError(f"dtrtri: entry {info.value} of the diagonal is zero, or an argument is wrong")
    return U


@cache
def _dtrtri() -> Any:
    """Return the function, None where SciPy's table does not have it in the form expected (integers of 64 bits)."""
    capsule = getattr(cython_lapack, "__pyx_capi__", {}).get("dtrtri")
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = _POINTER
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    name = b"" if capsule is None else api.PyCapsule_GetName(capsule)
    if name != b"void (char *, char *, int *, __pyx_t_5scipy_6linalg_13cython_lapack_d *, int *, int *)":
        return None
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, _POINTER, _POINTER, _POINTER, _POINTER)
    return prototype(api.PyCapsule_GetPointer(capsule, name))
