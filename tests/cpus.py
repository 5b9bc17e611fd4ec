"""The numerical part of the suite as other CPUs would run it: `make test-cpus`, or `python tests/cpus.py [name …]`.

OpenBLAS (that of numpy, of scipy and of cvxopt) and Numba choose their code by the CPU, and last bits differ. Each
setting makes both choose the code of one generation of CPUs. What this CPU cannot run is left out, and told. Arguments
that are not names of settings go to pytest; folders or files among them replace the numerical part.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import llvmlite.binding

#: Where last bits could show: accuracy against an oracle, the same bits for every tiling and number of threads, poles,
#: ranks and other thresholds. What an estimator keeps and refuses, files, commands and messages do not hang on them.
NUMERICAL = [
    *(f"tests/jit/test_{name}.py" for name in ("accuracy", "determinism", "special_values", "vectorised")),
    *(
        f"tests/engine/test_{name}.py"
        for name in ("accuracy", "determinism", "normal_products", "operator", "single_precision", "sparse")
    ),
    *(
        f"tests/kernels/test_{name}.py"
        for name in (
            *("builtin_values", "combinators", "diagonal", "learned", "normalised", "ranges", "reference_kernels"),
            "slices_of_the_reference",
        )
    ),
    "tests/linalg",
    *(f"tests/solvers/{name}" for name in ("decompositions", "kernel_learning")),
    *(
        f"tests/solvers/dual/test_{name}.py"
        for name in ("ask_ls", "gamma", "ls_svm", "sketched", "strategies", "symmetries")
    ),
    *(f"tests/solvers/inference/test_{name}.py" for name in ("gaussian_process", "influence", "left_out")),
    *(f"tests/solvers/test_{name}.py" for name in ("informativeness", "papers", "symmetry")),
    "tests/ensemblers/test_stacking.py",
    *(
        f"plugins/kernreg-{name}.py"
        for name in (
            *("asymmetric/tests/test_asymmetric_bandwidths", "asymmetric/tests/test_asymmetric_spectra"),
            *("graph/tests/test_graph_values", "histogram/tests/test_histogram_values"),
            *(f"krein/tests/test_krein_{part}" for part in ("dc", "ridge", "svm")),
            *(f"metric/tests/test_metric_{part}" for part in ("fisher", "ideal", "ldk", "npk", "osk")),
            *(f"structured/tests/test_{part}" for part in ("alignment", "bags", "gower")),
        )
    ),
    *("-k", "not scikit_learn_checks and not laws_of_solvers and not memory"),  # among those of the decompositions
]

# The kernels of OpenBLAS, the CPU that Numba compiles for, and its features: without these Numba takes all of this CPU.
_NEHALEM = "+cx16,+popcnt,+sahf,+sse3,+sse4.1,+sse4.2,+ssse3"
_SANDYBRIDGE = f"{_NEHALEM},+avx"
_HASWELL = f"{_SANDYBRIDGE},+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe"
_SKYLAKE = f"{_HASWELL},+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl"
SETTINGS = {
    "generic": ("Prescott", "generic", ""),
    "nehalem": ("Nehalem", "nehalem", _NEHALEM),
    "sandybridge": ("Sandybridge", "sandybridge", _SANDYBRIDGE),
    "haswell": ("Haswell", "haswell", _HASWELL),
    "skylake": ("SkylakeX", "skylake-avx512", _SKYLAKE),
}


def missing(name: str) -> set[str]:
    """Return the features of a setting that this CPU does not have."""
    own = {feature for feature, present in llvmlite.binding.get_host_cpu_features().items() if present}
    return {feature.lstrip("+") for feature in f"+sse3,{SETTINGS[name][2]}".split(",") if feature} - own


def main(names: list[str], arguments: list[str]) -> int:
    """Run the tests under each setting and return how many settings failed."""
    if not any(os.path.exists(word.partition("::")[0]) for word in arguments):
        arguments = [*NUMERICAL, *arguments]
    failed = []
    for name in names:
        if absent := missing(name):
            print(f"{name}: left out, this CPU has no {', '.join(sorted(absent))}", flush=True)
            continue
        chosen = dict(zip(("OPENBLAS_CORETYPE", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"), SETTINGS[name], strict=True))
        print(f"{name}: {' '.join(f'{key}={value}' for key, value in chosen.items())}", flush=True)
        start = time.monotonic()
        command = [sys.executable, "-m", "pytest", "-q", *arguments]
        if subprocess.run(command, env={**os.environ, **chosen}).returncode:
            failed.append(name)
        print(f"{name}: {'failed' if name in failed else 'passed'} in {time.monotonic() - start:.0f} s", flush=True)
    return len(failed)


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if word in SETTINGS]
    sys.exit(main(given or list(SETTINGS), [word for word in sys.argv[1:] if word not in SETTINGS]))
