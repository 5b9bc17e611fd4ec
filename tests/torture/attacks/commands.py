"""Every command with every typical mistake: exit code 2, one helpful line, no traceback, and nothing touched."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from torture.attack import Attack, Case, Outcome

# Sound calls; {data} and the like stand for files in the folder of a case.
SOUND: dict[str, list[str]] = {
    "fit": ["fit", "data.csv", "-t", "who", "-k", "rbf(sigma=2.0)", "-o", "new.kern"],
    "predict": ["predict", "model.kern", "data.csv", "-o", "new.csv"],
    "report": ["report", "model.kern", "data.csv", "-t", "who", "-o", "new.html"],
    "evaluate": ["evaluate", "data.csv", "-t", "who", "-s", "ls-svm(gamma=1.0)", "-k", "linear", "--cv", "2"],
    "tune": ["tune", "data.csv", "-t", "who", "-k", "rbf(sigma=2.0)", "-g", "gamma=0.1,1", "-o", "new.kern"],
    "embed": ["embed", "data.csv", "-t", "who", "-s", "kpca(n_components=2)", "-k", "linear", "-o", "new.csv"],
    "bicluster": ["bicluster", "data.csv", "-t", "who", "-n", "2", "-k", "linear", "-o", "new.csv"],
    "gram": ["gram", "data.csv", "-t", "who", "-k", "linear", "-o", "new.npy"],
    "run": ["run", "chain.toml", "-o", "new.kern"],
    "show": ["show", "model.kern"],
    "list": ["list"],
    "info": ["info", "kernel", "rbf"],
    "doctor": ["doctor", "--json"],
    "check": ["check", "linear", "--kind", "kernel"],
    "cache": ["cache", "info"],
    "new-plugin": ["new-plugin", "my-plugin", "--into", "."],
}
CHAIN = """kernreg_chain = 1
kernel = "rbf(sigma=1.5)"
[run]
data = "data.csv"
target = "who"
[[steps]]
name = "lssvm"
solver = "ls-svm"
params = { gamma = 1.0 }
"""
DATA = "height,weight,who\n" + "".join(
    f"{1.5 + 0.01 * i},{50 + (7 * i) % 23}.5,{'ann' if i % 3 else 'bob'}\n" for i in range(24)
)

# Files in the place of a sound one ------------------------------------------------------------------------------


def _bytes(content: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(content) and None


def _text(old: str, new: str, count: int = 1) -> Callable[[Path], None]:
    return lambda path: path.write_text(path.read_text().replace(old, new, count)) and None


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


BAD_FILES: dict[str, Callable[[Path], None]] = {
    "missing": lambda path: path.unlink(),
    "empty": _bytes(b""),
    "folder": _folder,
    "pipe": _pipe,
    "loop": _loop,
    "binary": _bytes(bytes(range(256)) * 40),
    "zeros": _bytes(bytes(5000)),
    "utf-16": lambda path: path.write_bytes("height,weight,who\n1,2,a\n".encode("utf-16")) and None,
}
BAD_TABLES: dict[str, Callable[[Path], None]] = {
    "only names": _bytes(b"height,weight,who\n"),
    "no names": _bytes(b"1.5,50,1\n1.6,60,2\n1.7,70,1\n"),
    "ragged": _text("50.5,", "50.5,7,"),
    "text": _text("50.5", "heavy"),
    "gap": _text("50.5", ""),
    "infinite": _text("50.5", "inf"),
    "decimal commas": _bytes(b"height;weight;who\n1,5;50,5;a\n1,6;60,5;b\n"),
    "same names": _text("weight", "height"),
    "quotes": _text("50.5", '"50.5'),
}
# What some commands have no need to refuse: they read no targets, or clean tables themselves.
HARMLESS = {
    ("fit", "gap"),
    ("evaluate", "gap"),
    ("tune", "gap"),
}

# Words in the place of sound ones -------------------------------------------------------------------------------

BAD_SPECS = [
    *("nope", "rbf(", "rbf)", "rbf(sigma=)", "rbf(sgma=1)", "", " ", "RBF sigma 2", "rbf(sigma=__import__('os'))"),
    *("(" * 500, "rbf(sigma='x')", "rbf(sigma=-1)", "rbf(sigma=nan)", "rbf(sigma=0)", "\x1b[31mrbf", "ls-svn", "a\0b"),
]
BAD_SOLVERS = [
    *("nope", "ls-svm(", "ls-svm(gama=1)", "ls-svm(gamma=-1)", "ls-svm(gamma='x')", "ls-svm(gamma=nan)", "average", ""),
    *("ls-svm(kernel='nope')", "rbf", "ls-svm(solver='nope')", "ls-svm(gamma=10**400)"),
]
BAD_OUTPUTS = ["missing-folder/new.kern", ".", "data.csv", "foreign.txt", "/dev/null", "", "loop/x", "x" * 300]
BAD_WORDS: dict[str, list[list[str]]] = {
    "--target": [["nope"], ["height,weight"], [""], ["WHO"]],
    "-k": [[spec] for spec in BAD_SPECS],
    "-s": [[spec] for spec in BAD_SOLVERS],
    "--cv": [["1"], ["0"], ["-3"], ["two"], ["25"], ["1e3"], [""]],
    "-n": [["1"], ["0"], ["x"], ["100"]],
    "-g": [["gamma"], ["=1"], ["gamma="], ["gamma=a,b"], ["nope=1,2"], ["gamma=1:2"], ["gamma=0:1:3"], ["gamma=-1,1"]],
    "--coverage": [["0"], ["1"], ["2"], ["-1"], ["nan"], ["x"]],
    "--seed": [["x"], ["1.5"], [""]],
    "-o": [[name] for name in BAD_OUTPUTS],
    "--block-rows": [["0"], ["-1"], ["x"]],
    "--against": [["missing.csv"], ["folder"], ["other.csv"]],
    "--id": [["nope"], [""]],
    "--kind": [["nope"], [""], ["kernels"]],
    "--repeats": [["0"], ["x"]],
    "--column-clusters": [["0"], ["99"]],
}
TAKES: dict[str, list[str]] = {
    "fit": ["-t", "-k", "-s", "-o"],
    "predict": ["-o", "--id"],
    "report": ["-t", "-o", "--coverage"],
    "evaluate": ["-t", "-k", "-s", "--cv", "--seed", "--repeats"],
    "tune": ["-t", "-k", "-s", "-g", "-o"],
    "embed": ["-t", "-k", "-s", "-o"],
    "bicluster": ["-n", "-k", "-o", "--seed", "--column-clusters"],
    "gram": ["-k", "-o", "--block-rows", "--against"],
    "run": ["--cv", "-o", "--seed"],
    "list": ["--kind"],
    "check": ["--kind"],
}
WHOLE: dict[str, list[list[str]]] = {
    "info": [
        ["info"],
        ["info", "kernel"],
        ["info", "nope", "rbf"],
        ["info", "kernel", "rbff"],
        ["info", "rbf", "kernel"],
    ],
    "check": [["check"], ["check", "nope"], ["check", ""], ["check", "rbf("]],
    "cache": [
        ["cache", "nope"],
        ["cache", "warm"],
        ["cache", "warm", "nope"],
        ["cache", "warm", "rbf", "--dtype", "int8"],
    ],
    "new-plugin": [
        *(
            ["new-plugin", name, "--into", "."]
            for name in ("", "..", "../x", "a b", "1x", "rbf", "kernreg", "é", "-x", "a/b")
        ),
        ["new-plugin"],
        ["new-plugin", "my-plugin", "--into", "data.csv"],
        ["new-plugin", "my-plugin", "--into", "missing/deep"],
        ["new-plugin", "folder", "--into", "."],
    ],
    "run": [
        ["run"],
        ["run", "chain.toml", "--data", "missing.csv"],
        ["run", "data.csv"],
        ["run", "chain.toml", "-t", "nope"],
    ],
    "show": [["show"], ["show", "data.csv"], ["show", "model.kern", "extra"]],
    "predict": [
        ["predict", "model.kern"],
        ["predict", "data.csv", "model.kern"],
        ["predict", "model.kern", "other.csv"],
    ],
    "fit": [["fit"], ["fit", "data.csv"], ["fit", "data.csv", "-t", "who"], ["fit", "data.csv", "-o", "new.kern"]],
    "": [["nope"], ["--nope"], ["fitt", "data.csv"], ["kernreg:nope"], [":"]],
}
BAD_CHAINS = [
    ("kernreg_chain = 1", "kernreg_chain = 2"),
    ("kernreg_chain = 1", ""),
    ("ls-svm", "ls-svn"),
    ("gamma = 1.0", "gama = 1.0"),
    ("gamma = 1.0", "gamma = -1.0"),
    ("gamma = 1.0", "gamma = {}"),
    ("rbf(sigma=1.5)", "rbf(sigma="),
    ("[[steps]]", "[[step]]"),
    ("[[steps]]", "[steps]"),
    ("[run]", "[runs]"),
    ("[run]", "[run]\noutput = '../out.kern'"),
    ("[run]", "[run]\noutput = '/tmp/out.kern'"),
    ("[run]", "[run]\ncv = 1"),
    ("[run]", "[run]\ncv = 'x'"),
    ('"data.csv"', '"nope.csv"'),
    ('"data.csv"', "3"),
    ('"who"', '"nope"'),
    ('"who"', "["),
]


def cases(rng: Random) -> Iterator[Case]:
    grid: list[Case] = [{"command": name, "sound": True} for name in SOUND]
    grid += [{"command": name, "more": [option]} for name in SOUND for option in ("--nope", "-9")]
    for name, call in SOUND.items():
        for given in [word for word in call if word in ("data.csv", "model.kern", "chain.toml")]:
            grid += [{"command": name, "file": given, "bad": bad} for bad in BAD_FILES]
        if "data.csv" in call:
            bad_tables = [bad for bad in BAD_TABLES if (name, bad) not in HARMLESS]
            grid += [{"command": name, "file": "data.csv", "bad": bad} for bad in bad_tables]
        if "model.kern" in call:
            grid += [{"command": name, "file": "model.kern", "cut": share} for share in (0.01, 0.3, 0.9, 0.999)]
            grid += [
                {"command": name, "file": "model.kern", "flip": share}
                for share in (0.001, 0.2, 0.5, 0.99)
                if name != "show" or share < 0.01
            ]  # it reads what a file says of itself, and no arrays
    for name, options in TAKES.items():
        for option in options:  # values of gamma that the grid of tune replaces are no mistakes
            for words in BAD_WORDS["--target" if option == "-t" else option]:
                if not (name == "tune" and option == "-s" and "gamma=" in words[0]):
                    grid.append({"command": name, "option": option, "words": words})
    for name, calls in WHOLE.items():
        grid += [{"command": name, "call": call} for call in calls]
    grid += [{"command": "run", "chain": list(change)} for change in BAD_CHAINS]
    rng.shuffle(grid)
    yield from grid


@cache
def template() -> Path:
    """A folder with a sound file of each kind, made once."""
    from click.testing import CliRunner

    from kernreg.cli.app import application

    folder = Path(tempfile.mkdtemp())
    (folder / "data.csv").write_text(DATA)
    (folder / "other.csv").write_text("a,b,c,d\n1,2,3,4\n5,6,7,8\n")
    (folder / "chain.toml").write_text(CHAIN)
    (folder / "foreign.txt").write_text("somebody's letters\n")
    (folder / "folder").mkdir()
    call = ["fit", str(folder / "data.csv"), "-t", "who", "-k", "rbf(sigma=2.0)", "-o", str(folder / "model.kern")]
    done = CliRunner().invoke(application, call)
    assert done.exit_code == 0, done.output
    return folder


def snapshot(folder: Path) -> dict[str, Any]:
    """What is in a folder: kinds, contents, modes and times."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else ""
        times = status.st_mtime_ns if not path.is_dir() else 0
        found[str(path.relative_to(folder))] = (status.st_mode, times, content)
    return found


def run(case: Case) -> Outcome:
    from click.testing import CliRunner

    from kernreg.cli.app import application

    call = list(case.get("call", SOUND.get(case["command"], []))) + case.get("more", [])
    origin = template()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "work"
        shutil.copytree(origin, folder)
        spoil(folder, case)
        if "option" in case:
            call = replaced(call, case["option"], case["words"])
        before = os.getcwd()
        os.chdir(folder)
        there, device = snapshot(Path(name)), os.stat("/dev/null")
        try:
            done = CliRunner().invoke(application, call, prog_name="kernreg")
        finally:
            os.chdir(before)
        after = snapshot(Path(name))
    shown = f"kernreg {' '.join(call)!r:.300} {case.get('bad', '')}"
    if not isinstance(done.exception, SystemExit | None):
        return f"{type(done.exception).__name__}: {shown}: {done.exception}"
    if case.get("sound"):
        return None if done.exit_code == 0 else f"refused: {shown}: {done.output[-300:]}"
    if done.exit_code != 2:
        return f"exit code: {shown}: {done.exit_code}, {done.output[-300:]!r}"
    if after != there or not os.path.samestat(device, os.stat("/dev/null")):
        touched = {key for key in there.keys() | after.keys() if there.get(key) != after.get(key)}
        return f"touched: {shown}: {sorted(touched)}"
    return wrong_words(done.stderr, shown)


def wrong_words(told: str, shown: str) -> str | None:
    """Return what is wrong with a message: it is to be short, of one paragraph, and printable."""
    lines = [line for line in told.splitlines() if line.strip() and not line.startswith(("Usage:", "Try ", "Warning:"))]
    if "Traceback" in told:
        return f"traceback: {shown}: {told[-300:]}"
    if not lines or not lines[0].startswith("Error: ") or len(lines[0]) < 20:
        return f"no error line: {shown}: {told!r:.300}"
    if len(lines) > 8 or len(told) > 3000:  # a spec is shown with a caret under it
        return f"long: {shown}: {len(lines)} lines, {len(told)} characters"
    if any(not character.isprintable() and character not in "\n\t" for character in told):
        return f"unprintable: {shown}: {told!r:.300}"
    return None


def spoil(folder: Path, case: Case) -> None:
    """Put the mistake in place."""
    if "bad" in case:
        {**BAD_FILES, **BAD_TABLES}[case["bad"]](folder / case["file"])
    elif "cut" in case:
        data = (folder / case["file"]).read_bytes()
        (folder / case["file"]).write_bytes(data[: int(case["cut"] * len(data))])
    elif "flip" in case:
        data = bytearray((folder / case["file"]).read_bytes())
        data[int(case["flip"] * len(data))] ^= 0x55
        (folder / case["file"]).write_bytes(data)
    elif "chain" in case:
        _text(*case["chain"])(folder / "chain.toml")
    elif case.get("words") == ["loop/x"]:
        (folder / "loop").symlink_to(folder / "loop")


def replaced(call: list[str], option: str, words: list[str]) -> list[str]:
    """Return the call with other words after an option."""
    if option not in call:
        return [*call, option, *words]
    place = call.index(option)
    return [*call[: place + 1], *words, *call[place + 2 :]]


ATTACKS = [
    Attack(
        "commands",
        "every command with every typical mistake in its files, options and specs: exit code 2, one helpful message, "
        "no traceback, nothing touched",
        cases,
        run,
        full=10_000,
        ci=60,
        minutes=2,
        seconds=600,
        cpu=60,
    )
]
