"""Plugins of one file, sound and broken: registered as they say, or refused with a reason and without a trace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from torture import plugins
from torture.attack import Attack, Case, Outcome
from torture.plugin_checks import POLICIES, in_child, is_it, others_wrong, printed_wrong, reasons_wrong, unprintable

#: How a file is asked for: what its name is made of, or what is there in its place.
SOUND_PATHS = ["plain", "spaces", "letters", "escapes"]
BROKEN_PATHS = ["no suffix", "capitals", "nul", "nobody's", "pipe", "device", "long", "folder", "loop", "missing"]
BODIES = plugins.BODIES | plugins.FILE_BODIES | plugins.BROKEN_FILE_BODIES
#: What a file does that has no thing of that name yet.
OPEN = {"asks itself", "takes over", *plugins.INTERRUPTS}


def cases(rng: Random) -> Iterator[Case]:
    while True:
        files = []
        for number in range(rng.choice((1, 2, 4))):
            sound = rng.random() < 0.3
            files.append(
                {
                    "code": number,
                    "kind": rng.choice(list(plugins.THINGS)),
                    "body": "sound" if sound else rng.choice(list(BODIES)),
                    "path": "plain" if rng.random() < 0.7 else rng.choice(SOUND_PATHS + BROKEN_PATHS),
                    "number": rng.randrange(2, 1000),
                }
            )
        policy = rng.choice(POLICIES) if rng.random() < 0.15 else None
        yield {"files": files, "policy": policy, "command": rng.random() < 0.3}


def smaller(case: Case) -> Iterator[Case]:
    """Yield cases with fewer files, and with plainer ones."""
    files = case["files"]
    for place, one in enumerate(files):
        yield case | {"files": [*files[:place], *files[place + 1 :]]}
        for key, value in (("body", "sound"), ("path", "plain")):
            if one[key] != value:
                yield case | {"files": [*files[:place], one | {key: value}, *files[place + 1 :]]}


def run(case: Case) -> Outcome:
    return in_child(partial(judged, case), case["policy"])


def judged(case: Case, folder: Path) -> str | None:
    """Return what is wrong with how these files are loaded, one after the other; run in a child."""
    import kernreg as kr

    marks = folder / "marks"
    for one in case["files"]:
        if case["command"] and one["path"] == "nul":  # no command line can hold it
            continue
        marks.unlink(missing_ok=True)
        source = plugins.source_of(one, "nobody", marks, f"thing{one['code']}")
        path = place(folder, one, source)
        before = kr.available()
        what = expected(one, case["policy"])
        if case["command"]:
            wrong = printed_wrong(["--plugin", path, "list", "--kind", one["kind"]], what)
        else:
            wrong = loaded(path, one, what)
        if not wrong and what == "blocked" and marks.exists():
            wrong = f"blocked: and executed: {one}"
        if not wrong and what in ("broken", "blocked") and [*map(str, kr.available())] != [*map(str, before)]:
            wrong = f"left behind: {one}"
        if wrong:
            return wrong
    return others_wrong() or reasons_wrong(kr.available()) or printed_wrong(["list"])


def place(folder: Path, one: dict[str, Any], source: str | bytes) -> str:
    """Write a file, or what is in its place; return its path."""
    stem, how = f"file{one['code']}", one["path"]
    names = {
        "spaces": f"{stem} a b.py",
        "letters": f"{stem}é.py",
        "escapes": f"{stem}{plugins.ESCAPE}.py",
        "no suffix": stem,
        "capitals": f"{stem}.PY",
        "nul": f"{stem}\0.py",
        "long": "x" * 300 + ".py",
    }
    if how == "nobody's":
        return "~nobody-of-that-name/file.py"
    path = folder / names.get(how, f"{stem}.py")
    if how == "pipe":
        os.mkfifo(path)
    elif how == "device":
        path.symlink_to("/dev/zero")
    elif how not in ("nul", "long"):
        plugins.write_module(path, how if how in ("folder", "loop", "missing") else one["body"], source)
    return str(path)


def expected(one: dict[str, Any], policy: str | None) -> str:
    """Return what has to come of a file."""
    body = one["body"]
    if one["path"] in BROKEN_PATHS or body in ("folder", "loop", "missing"):
        return "broken"
    if policy not in (None, "all"):
        return "blocked"
    if body in OPEN:
        return "open"
    return "works" if body in (plugins.SOUND_BODIES | plugins.FILE_BODIES) else "broken"


def loaded(path: str, one: dict[str, Any], what: str) -> str | None:
    """Return what is wrong with how a file is loaded, and loaded again."""
    import kernreg as kr
    from kernreg.errors import KernregError
    from kernreg.registry import get_registry

    try:
        entries = kr.load_plugin(path)
        again = kr.load_plugin(path)
    except KernregError as error:
        told = f"{type(error).__name__}: {error}"
        if not 30 < len(told) < 5000 or unprintable(told):
            return f"message: {one}: {told!r:.600}"
        fits = what == "open" or (what == "blocked") == told.startswith("PluginBlocked")
        return None if what != "works" and fits else f"refused: {one}: {told[:500]}"
    except KeyboardInterrupt:
        return None if what == "open" else f"interrupted: {one}"
    if what not in ("works", "open"):
        return f"accepted: {one}: {entries}"
    values = [get_registry(entry.kind).get(entry.name) for entry in entries if entry.kind == one["kind"]]
    if entries != again or not any(is_it(value, one) for value in values):
        return f"not working: {one}: {entries}, {again}"
    return None


ATTACKS = [
    Attack(
        "plugin-files",
        "plugins of one file, broken in every way, at paths of every kind, by load_plugin and --plugin: registered, or "
        "refused with a reason and nothing left behind",
        cases,
        run,
        full=300,
        ci=4,
        minutes=1,
        seconds=600,
        fresh=True,
        shrink=smaller,
    ),
]
