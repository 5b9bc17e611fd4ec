"""The point of the package: a loop over any of the functions is SIMD code without a call in it."""

import math
import platform
import re

import numpy as np
import pytest
from numba import float32, float64, int64, njit, prange
from numba.core.registry import cpu_target
from numba.extending import register_jitable

import kernreg.jit

FUNCTIONS = ("exp", "expm1", "log", "log1p", "tanh", "sqrt", "fabs", "pow", "maximum", "minimum")
X86 = platform.machine().lower() in ("x86_64", "amd64")
MATH = re.compile(r"\b(?:exp|expm1|log|log1p|tanh|pow|__powidf2|sqrt|fabs|fma|ldexp|floor)f?\b")


def compile_loop(loop, *signature):
    """The optimised LLVM code and the assembly of a jitted function."""
    loop.compile(signature)
    return loop.inspect_llvm(signature), loop.inspect_asm(signature)


def vector_operations(llvm, kind):
    return len(re.findall(rf"= (?:tail call |fmul |fadd )<\d+ x {kind}>", llvm))


def library_calls(assembly):
    """The functions of the mathematical library that the assembly refers to."""
    return set(MATH.findall(assembly))


def test_library_calls_are_seen():
    @njit
    def loop(x, out):
        for i in range(out.shape[0]):
            out[i] = math.exp(x[i])

    _, assembly = compile_loop(loop, float64[::1], float64[::1])
    assert "exp" in library_calls(assembly)


@pytest.mark.parametrize(("kind", "llvm_kind", "packed"), [(float64, "double", "pd"), (float32, "float", "ps")])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_loop_becomes_packed_instructions_without_calls(name, kind, llvm_kind, packed, compiled_loop):
    arrays = (kind[::1],) * (3 if name in ("pow", "maximum", "minimum") else 2)
    llvm, assembly = compile_loop(compiled_loop(name), *arrays)
    assert re.search(rf"<\d+ x {llvm_kind}>", llvm)
    if name in ("exp", "expm1", "log", "log1p", "tanh", "pow"):
        assert vector_operations(llvm, llvm_kind) > 5
        if X86:
            assert len(re.findall(rf"\bv?(?:mul|fn?m(?:add|sub)\d+){packed}\b", assembly)) > 5
    # float32 is computed in float32: nothing is widened.
    assert kind is float64 or "fpext" not in llvm
    assert not library_calls(assembly)


@register_jitable
def gaussian(d2, sigma):
    return kernreg.jit.exp(-d2 / (sigma * sigma))


@register_jitable
def polynomial(dot, degree):
    return kernreg.jit.pow(dot + 1.0, degree)


def driver(kernel):
    @njit(nogil=True)
    def apply(statistic, parameter, out):
        for i in range(out.shape[0]):
            out[i] = kernel(statistic[i], parameter)

    return apply


def test_a_kernel_captured_by_a_driver_is_vectorised():
    llvm, assembly = compile_loop(driver(gaussian), float64[::1], float64, float64[::1])
    assert vector_operations(llvm, "double") > 5
    assert not library_calls(assembly)


@pytest.mark.parametrize(("kind", "llvm_kind"), [(float64, "double"), (float32, "float")])
def test_an_integer_degree_is_decided_outside_the_loop(kind, llvm_kind):
    """A vectorised loop for the cube, with the two multiplications and nothing of the other cases in it."""

    @njit(nogil=True)
    def powers(x, degree, out):
        for i in range(out.shape[0]):
            out[i] = kernreg.jit.pow(x[i], degree)

    llvm, _ = compile_loop(powers, kind[::1], int64, kind[::1])
    bodies = re.findall(r"^vector\.body\d*:.*?(?=^\S)", llvm, re.MULTILINE | re.DOTALL)
    products = [len(re.findall(rf"fmul <\d+ x {llvm_kind}>", body)) for body in bodies]
    fused = [body.count("llvm.fma") for body in bodies]
    assert len(bodies) >= 4
    assert any(0 < p <= 2 * 4 and f == 0 for p, f in zip(products, fused, strict=True))


has_avx512 = pytest.mark.skipif(  # of the CPU that Numba compiles for, which NUMBA_CPU_NAME may choose
    "+avx512f" not in cpu_target.target_context.codegen().magic_tuple()[2], reason="no 512-bit vectors here"
)


@has_avx512
def test_wide_gives_full_width_vectors():
    @njit(nogil=True)
    def loop(x, out):
        kernreg.jit.wide()
        for i in range(out.shape[0]):
            out[i] = kernreg.jit.exp(x[i])

    llvm, assembly = compile_loop(loop, float64[::1], float64[::1])
    assert "<8 x double>" in llvm
    assert "zmm" in assembly


@has_avx512
def test_wide_works_in_the_body_of_a_parallel_loop():
    @njit(nogil=True, parallel=True)
    def loop(x, out):
        for i in prange(out.shape[0]):
            kernreg.jit.wide()
            for j in range(out.shape[1]):
                out[i, j] = kernreg.jit.exp(x[i, j])

    _, assembly = compile_loop(loop, float64[:, ::1], float64[:, ::1])
    assert "zmm" in assembly
    x = np.linspace(-3, 3, 60).reshape(3, 20)
    out = np.empty_like(x)
    loop(x, out)
    np.testing.assert_allclose(out, np.exp(x), rtol=1e-15)
