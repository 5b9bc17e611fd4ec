"""Texts that are read as specs and chains: whatever they hold, an object or a clear error comes of them, and soon."""

from __future__ import annotations

import json
import os
import string
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

from torture.attack import Attack, Case, Outcome

SPECS = [
    "rbf(sigma=2.0)",
    "poly(degree=3, gamma=0.5, coef0=1)",
    "add(rbf, linear)",
    "spectrum('rbf(sigma=1.0)', method='shift')",
    "kernreg:laplacian(sigma='median')",
    "ask-ls(kernel='sne(sigma=2.0)', gamma=1)",
    "ls-svm(kernel=\"scale('linear', factor=2.5)\", gamma='loo', class_weight={'a': 1, 'b': 2.5})",
    "kpca(n_components=2, center=True)",
    "precomputed",
    "average(weights=[0.5, -1e-3, inf], names=('a', \"b\"))",
    "bicluster(n_clusters=(3, 4), random_state=None)",
    "stack(cv=5)",
]
PIECES = [
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        "=",
        ":",
        "'",
        '"',
        "\\",
        "\n",
        "\r",
        "\r\n",
        "\t",
        "\0",
        "\f",
        "\x1b[31m",
        "#",
    ),
    *("**", "*", "...", "lambda: 0", "__import__('os')", "1 if 1 else 2", "f'{1}'", "b'x'", "1j", "1e999", "-", "+-~"),
    *(
        "nan",
        "inf",
        "True",
        "None",
        "0x10",
        "0777",
        "1_000",
        "é",
        "ﬁ",
        "λ",
        "\u202e",
        "\ud800",
        "😀",
        "9" * 5000,
        "(" * 300,
    ),
    *("x for x in y", "a.b", "a[0]", "not 1", "1 < 2", "'\\d'", "'\\N{DIGIT ONE}'", "'\\x'", "'''", "yield", "await x"),
    *(
        "sigma=",
        "kernel='rbf'",
        "add(" * 40,
        ";",
        "import os",
        "\\\n",
        "1is 2",
        "0or 1",
        "kernreg:",
        "::",
        "-rbf",
        "`",
        "$",
    ),
]
VALUES: list[Any] = [
    *(
        None,
        True,
        -1,
        0,
        10**30,
        1.5,
        -0.0,
        1e308,
        "",
        "x",
        "rbf",
        "rbf(",
        "\u202e",
        "é" * 50,
        [],
        {},
        [[]],
        [None],
        {"": 1},
    ),
    *(
        {"$none": True},
        {"$float": "inf"},
        {"$float": [1]},
        {"$float": "x"},
        {"$tuple": 3},
        {"$tuple": [1, {"$none": 0}]},
    ),
    *(
        {"$array": [1, 2]},
        {"$array": 5, "dtype": "O"},
        {"$array": [[1], [1, 2]]},
        {"$array": ["a"], "dtype": "<U99999999"},
    ),
    *({"$array": [1], "dtype": "nonsense"}, {"$kernel": 1}, {"$kernel": "rbf"}, {"$kernel": "nope("}, {"$object": 1}),
    *({"$object": {"solver": "ls-svm"}}, {"$object": {"name": "x", "solver": {}}}, {"$other": 1}, {"$": 1, "$b": 2}),
    *(
        {"$array": [{"$none": True}], "dtype": "<f8"},
        {"$array": [1e400], "dtype": "<i4"},
        {"$array": [-1], "dtype": "<u8"},
    ),
    *({"chain": {}}, {"name": "x", "chain": 3}, {"name": "x", "parallel": 3}, {"name": "x", "parallel": [1]}),
    *(
        {"name": 1, "solver": "kpca"},
        {"name": "x", "sklearn": "Pipeline"},
        {"name": "x", "sklearn": "FunctionTransformer"},
    ),
    *(
        {"name": "x", "scikit-learn": "os:system"},
        {"name": "x", "solver": "sklearn.svm:SVC"},
        {"name": "x", "kernreg": 1},
    ),
    *({"name": "x", "kernreg": "kernreg.chain.estimator:Chain"}, {"name": "x", "solver": "ls-svm", "params": []}),
    *({"name": "x", "solver": "ls-svm", "params": {"nope": 1}}, {"name": "x", "solver": ["ls-svm"]}, "x" * 10000),
]
CHAINS: list[dict[str, Any]] = [
    {
        "kernreg_chain": 1,
        "kernel": "rbf(sigma=1.5)",
        "steps": [
            {"name": "kpca", "solver": "kpca", "params": {"n_components": 3}},
            {"name": "lssvm", "solver": "ls-svm", "params": {"gamma": {"$float": "inf"}}},
        ],
    },
    {
        "kernreg_chain": 1,
        "learn_from": "folds",
        "cv": 3,
        "steps": [
            {"name": "scale", "sklearn": "StandardScaler", "params": {"with_mean": False}},
            {
                "name": "both",
                "parallel": [
                    {"name": "a", "solver": "ls-svm", "params": {"kernel": {"$kernel": "rbf(sigma=2.0)"}}},
                    {"name": "b", "chain": {"kernreg_chain": 1, "steps": [{"name": "c", "solver": "ask-ls"}]}},
                ],
            },
            {"name": "average", "ensembler": "average"},
        ],
    },
]
SECONDS = 2.0  # of computing, for one text
FORBIDDEN = ("exec", "os.", "subprocess.", "socket.", "shutil.", "open", "ctypes.", "pickle.")


class Watch:
    """What the interpreter does while a text is read: nothing may be run, opened or started."""

    def __init__(self) -> None:
        self.seen: list[str] | None = None
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: Any) -> None:
        if self.seen is not None and event.startswith(FORBIDDEN):
            self.seen.append(event)

    def during(self, read: Callable[[], Any]) -> tuple[Any, list[str]]:
        """Return what reading gives, and the forbidden events."""
        self.seen = seen = []
        try:
            return read(), seen
        finally:
            self.seen = None


@cache
def watch() -> Watch:
    """One for the process: a hook cannot be taken off."""
    return Watch()


def judged(read: Callable[[], Any], shown: str, *, quiet: bool = True) -> str | None:
    """Return what is wrong with how a text is read: no error but kernreg's, no warning, no code, no waiting."""
    from kernreg.errors import KernregError

    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            _, seen = watch().during(read)
            if seen and quiet:
                return f"code: {shown}: {seen[:3]}"
        except KernregError as error:
            message = str(error)
            if not message.strip() or len(message) > 5000:
                return f"message: {shown}: {message[:200]!r}"
        except Exception as error:
            return f"{type(error).__name__}: {shown}: {error}"[:1000]
    if time.process_time() - start > SECONDS:
        return f"slow: {shown}: {time.process_time() - start:.1f} s"
    return None


# Specs ---------------------------------------------------------------------------------------------------------


def mutated(rng: Random, text: str) -> str:
    """Return the text with a few changes: pieces put in, cut out, doubled, swapped, and noise."""
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        place, other = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
        change = rng.randrange(6)
        if change == 0:
            text = text[:place] + rng.choice(PIECES) + text[place:]
        elif change == 1:
            text = text[:place] + text[min(other, place + 8) :]
        elif change == 2:
            text = text[:other] + text[place:other] + text[other:]
        elif change == 3:
            text = text[:place] + rng.choice(string.printable) + text[place + 1 :]
        elif change == 4:
            text = text[:place] + rng.choice(SPECS) + text[place:]
        else:
            text = text[:place] + "".join(
                chr(rng.choice((rng.randrange(128), rng.randrange(0x11000)))) for _ in range(3)
            )
    return text[:20000]


def spec_cases(rng: Random) -> Iterator[Case]:
    while True:
        texts = [mutated(rng, rng.choice(SPECS)) for _ in range(450)]
        texts += ["".join(rng.choice(PIECES) for _ in range(rng.randrange(12))) for _ in range(50)]
        yield {"texts": texts}


def run_specs(case: Case) -> Outcome:
    from kernreg.factory import make_ensembler, make_kernel, make_solver
    from kernreg.registry import parse_spec

    ready()
    for text in case["texts"]:
        wrong = judged(partial(_parse_and_back, parse_spec, text), repr(text)[:300])
        for make in (make_kernel, make_solver, make_ensembler):
            wrong = wrong or judged(partial(make, text), f"{make.__name__} {text!r}"[:300])
        if wrong:
            return wrong
    return len(case["texts"])


def _parse_and_back(parse: Callable[[str], Any], text: str) -> None:
    spec = parse(text)
    again = parse(str(spec))
    if repr(again) != repr(spec):  # nan is not equal to itself
        raise AssertionError(f"{spec!r} is written as {spec}, which is read as {again!r}")


@cache
def ready() -> None:
    """Import everything that making things imports: later only the texts are at work."""
    from sklearn.utils import all_estimators

    from kernreg.chain import Chain
    from kernreg.registry import get_registry

    for kind in ("kernel", "solver", "ensembler"):
        for entry in get_registry(kind).entries():
            get_registry(kind).get(entry.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        all_estimators()
    for chain in CHAINS:
        Chain.from_spec(chain)
    watch()


# Chains --------------------------------------------------------------------------------------------------------


def paths(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of everything inside."""
    yield before
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield from paths(item, (*before, key))


def with_value(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return a copy with something else at one place; _CUT leaves it out."""
    if not path:
        return new
    key, *rest = path
    if isinstance(value, dict):
        changed = {k: with_value(v, tuple(rest), new) if k == key else v for k, v in value.items()}
        return {k: v for k, v in changed.items() if v is not _CUT}
    changed_list = [with_value(v, tuple(rest), new) if i == key else v for i, v in enumerate(value)]
    return [v for v in changed_list if v is not _CUT]


_CUT = object()


def hostile(rng: Random) -> Any:
    chain = rng.choice(CHAINS)
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = list(paths(chain))
        place = rng.choice(places[1:] or places)
        kind = rng.randrange(10)
        if kind == 0 and place:
            chain = with_value(chain, place, _CUT)
        elif kind == 1 and place and isinstance(place[-1], str):
            whole = _at(chain, place[:-1])
            chain = with_value(chain, place[:-1], {**whole, mutated(rng, str(place[-1])): _at(chain, place)})
        elif kind == 2:
            chain = with_value(chain, place, mutated(rng, rng.choice(SPECS)))
        elif kind == 3:
            chain = with_value(chain, place, rng.choice(CHAINS))
        else:
            chain = with_value(chain, place, rng.choice(VALUES))
        if not isinstance(chain, dict):
            return chain
    return chain


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def chain_cases(rng: Random) -> Iterator[Case]:
    while True:
        yield {"chains": [hostile(rng) for _ in range(200)], "texts": [chain_text(rng) for _ in range(50)]}


def chain_text(rng: Random) -> list[str]:
    """Return the suffix and the text of a damaged chain file."""
    from kernreg.chain.toml import to_toml

    chain = rng.choice(CHAINS)
    text, suffix = (json.dumps(chain), ".json") if rng.random() < 0.5 else (to_toml(chain), ".toml")
    if rng.random() < 0.1:
        depth = rng.choice((50, 2000, 100_000))
        bombs = {".json": "[" * depth, ".toml": "x = " + "[" * depth}
        return [suffix, rng.choice((bombs[suffix], text + bombs[suffix], "[" * 100 + "a" + ".b" * depth + "]" * 100))]
    return [suffix, mutated(rng, text)]


def run_chains(case: Case) -> Outcome:
    from kernreg.chain import Chain
    from kernreg.cli.models.run import read_spec, run_settings

    ready()
    for chain in case["chains"]:
        wrong = judged(partial(Chain.from_spec, chain), json.dumps(chain)[:600])
        if wrong:
            return wrong
    with tempfile.TemporaryDirectory() as folder:
        for suffix, text in case["texts"]:
            path = Path(folder) / f"chain{suffix}"
            path.write_bytes(text.encode("utf-8", "surrogatepass"))

            def read(path: Path = path) -> None:
                spec = read_spec(path)
                run_settings(spec.pop("run", {}), path)
                Chain.from_spec(spec)

            wrong = judged(read, f"{suffix} {text[:600]!r}", quiet=False)  # it opens the file
            if wrong:
                return wrong
    return len(case["chains"]) + len(case["texts"])


# Settings, which are texts, too --------------------------------------------------------------------------------


def setting_cases(rng: Random) -> Iterator[Case]:
    kinds = ("memory", "threads", "engine", "cache_dir", "plugins")
    words = [
        "1GB",
        "50%",
        "0",
        "-1",
        "1e400",
        "nan",
        "local",
        "kernreg-dask",
        "none",
        "all",
        "",
        " ",
        "2",
        "½",
        "١",
        "²",
    ]
    while True:
        texts = [rng.choice((rng.choice(words), mutated(rng, rng.choice(words)))) for _ in range(200)]
        texts = [text.encode(errors="ignore").decode().replace("\0", "") for text in texts]  # what a variable can hold
        yield {"settings": [[rng.choice(kinds), text] for text in texts]}


def run_settings_attack(case: Case) -> Outcome:
    from kernreg import config
    from kernreg.registry.policy import current_policy

    for kind, text in case["settings"]:
        name = f"KERNREG_{kind.upper()}"
        before = dict(os.environ)

        def read(name: str = name, kind: str = kind, text: str = text) -> None:
            os.environ[name] = text
            config._process = None
            current_policy()
            config.get_config().memory_budget()
            config.get_config().cache_directory()
            if kind != "plugins":
                with config.config_context(**{kind: text}):  # type: ignore[arg-type]  # that is the attack
                    pass

        try:
            wrong = judged(read, f"{name}={text!r}"[:300], quiet=False)
        finally:
            os.environ.clear()
            os.environ.update(before)
            config._process = None
        if wrong:
            return wrong
    return len(case["settings"])


ATTACKS = [
    Attack(
        "specs",
        "random and damaged spec strings, parsed and made into kernels, solvers and ensemblers: an object or a clear "
        "error, no code run, no warning, at most 2 s; what is read is written and read back to the same",
        spec_cases,
        run_specs,
        full=160,
        ci=4,
        minutes=4,
        seconds=300,
        cpu=120,
    ),
    Attack(
        "specs-chains",
        "hostile chain specs, and damaged TOML and JSON files of chains: a chain or a clear error, no code run",
        chain_cases,
        run_chains,
        full=80,
        ci=4,
        minutes=2,
        seconds=300,
        cpu=120,
    ),
    Attack(
        "specs-settings",
        "random values of the environment variables KERNREG_* and of settings: accepted or a clear error",
        setting_cases,
        run_settings_attack,
        full=25,
        ci=2,
        minutes=0.3,
    ),
]
