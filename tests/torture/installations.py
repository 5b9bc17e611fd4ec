"""Distributions as they lie in a folder, sound and broken: entry points, metadata, and what these are in.

A distribution is plain data::

    {"name": "plugin-3", "code": 3, "version": "1.0", "form": "dist-info", "file": "sound", "metadata": "sound",
     "place": 0, "points": […]}
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from zipfile import ZipFile

from kernreg.registry import KINDS
from torture.plugins import ESCAPE, source_of, target_of, write_module

STRANGE_NAMES = ["two words", f"a{ESCAPE}", "[red]x", "a:b", "\udcff", "ünïcode", "x" * 200, "%(x)s", "~lugin"]
#: What lies around beside them.
STRAYS = ["egg-link", "file", "loop", "parent", "numpy", "scikit_learn"]


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def written(text: str) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(text.encode("utf-8", "surrogateescape")) and None


#: What becomes of entry_points.txt: how it is written, whether its points are listed ("whole", "gone", or "open" where
#: that cannot be known), and whether the file is reported as unreadable.
FILES: dict[str, tuple[Callable[[str, Random], Callable[[Path], None]], str, bool]] = {
    "sound": (lambda text, rng: written(text), "whole", False),
    "windows": (lambda text, rng: written(text.replace("\n", "\r\n")), "whole", False),
    "comment": (lambda text, rng: written(text + "#" + "x" * 1_000_000), "whole", False),
    "twice": (lambda text, rng: written(text + "\n" + text), "whole", True),
    "other groups": (lambda text, rng: written("[console_scripts]\na = b:%c\n" + text), "whole", False),
    "more points": (lambda text, rng: written(text + crowd(rng.choice((30, 300)))), "whole", False),
    "contradictions": (lambda text, rng: written(text + crowd(1000, "same")), "whole", True),
    "no header": (lambda text, rng: written("a = b:c\n" + text), "whole", True),
    "wrong group": (lambda text, rng: written(text.replace("s]", "]")), "open", False),
    "missing": (lambda text, rng: lambda path: None, "gone", False),
    "empty": (lambda text, rng: written(""), "gone", False),
    "words": (lambda text, rng: written(text + "just words\n"), "gone", True),
    "not utf-8": (lambda text, rng: written(text + "# caf\udce9\n"), "gone", True),
    "utf-16": (lambda text, rng: lambda path: path.write_bytes(text.encode("utf-16")) and None, "gone", True),
    "mark": (lambda text, rng: written("\ufeff" + text), "open", True),
    "folder": (lambda text, rng: _folder, "gone", True),
    "loop": (lambda text, rng: _loop, "gone", True),
    "dangling": (lambda text, rng: _dangling, "gone", True),
    "cut": (lambda text, rng: written(text[: rng.randrange(len(text))]), "open", False),
    "noise": (lambda text, rng: written(noisy(text, rng)), "open", False),
    "binary": (lambda text, rng: lambda path: path.write_bytes(rng.randbytes(5000)) and None, "open", False),
}

METADATA: dict[str, Callable[[Path, str], None]] = {
    "sound": lambda path, text: written(text)(path),
    "missing": lambda path, text: None,
    "empty": lambda path, text: written("")(path),
    "not utf-8": lambda path, text: written(text + "\udcff")(path),
    "folder": lambda path, text: _folder(path),
    "loop": lambda path, text: _loop(path),
    "escapes": lambda path, text: written(f"Name: a{ESCAPE}\nVersion: 1{ESCAPE}\nSummary: b{ESCAPE}\n")(path),
    "markup": lambda path, text: written("Name: [/a]\nVersion: 1[/b]\nSummary: [/c]\n")(path),
    "long": lambda path, text: written(f"Name: {'x' * 10**5}\nVersion: {'1' * 10**5}\nSummary: {'x' * 10**6}\n")(path),
    "lies": lambda path, text: written("Name: plugin-1\nVersion: 1.0\n")(path),
    "claims to be kernreg": lambda path, text: written("Name: kernreg\nVersion: 9.0\n")(path),
}

#: How metadata lie in a folder, and the folder of the modules.
FORMS: dict[str, Callable[[str, str], str]] = {
    "dist-info": lambda name, version: f"{name.replace('-', '_')}-{version}.dist-info",
    "hyphens": lambda name, version: f"{name}-{version}.dist-info",
    "egg-info": lambda name, version: f"{name.replace('-', '_')}-{version}-py3.11.egg-info",
    "develop": lambda name, version: f"{name.replace('-', '_')}.egg-info",
    "egg": lambda name, version: f"{name.replace('-', '_')}-{version}-py3.11.egg/EGG-INFO",
}


def crowd(count: int, name: str = "") -> str:
    """Return the text of many entry points, all of one name where it is given."""
    return "\n[kernreg.engines]\n" + "".join(f"{name or f'crowd-{n}'} = crowd_{n}:thing\n" for n in range(count))


def noisy(text: str, rng: Random) -> str:
    """Return the text with a few pieces cut out and put in."""
    for _ in range(rng.choice((1, 3, 10))):
        place = rng.randrange(len(text))
        piece = rng.choice([*"[]=\n\r\0 %:#\x1b\udcff\ufeff", "[kernreg.x]"])
        text = text[:place] + rng.choice(("", piece, piece * 3)) + text[place + rng.randrange(3) :]
    return text


def module_of(distribution: dict[str, Any], number: int) -> str:
    """Return the name of the module of one of the points of a distribution."""
    return f"torture_{distribution['code']}_{number}"


def install(distribution: dict[str, Any], site: Path, marks: Path) -> Path:
    """Write a distribution into a folder, and return where its entry points are."""
    points = distribution["points"]
    text = "".join(
        f"[{KINDS[kind]}]\n"
        + "".join(
            f"{p['name']} = {target_of(p, module_of(distribution, n))}\n"
            for n, p in enumerate(points)
            if p["kind"] == kind
        )
        for kind in sorted({point["kind"] for point in points})
    )
    info = site / FORMS[distribution["form"]](distribution["name"], distribution["version"])
    info.mkdir(parents=True, exist_ok=True)
    header = f"Metadata-Version: 2.1\nName: {distribution['name']}\nVersion: {distribution['version']}\n"
    name = "METADATA" if info.suffix == ".dist-info" else "PKG-INFO"
    METADATA[distribution["metadata"]](info / name, header)
    write, _, _ = FILES[distribution["file"]]
    write(text or "[console_scripts]\n", Random(distribution["code"]))(info / "entry_points.txt")
    modules = info.parent if distribution["form"] == "egg" else site
    for number, point in enumerate(points):
        source = source_of(point, f"{distribution['name']}:{point['name']}", marks)
        write_module(modules / f"{module_of(distribution, number)}.py", point["body"], source)
    return info / "entry_points.txt"


def pack(folder: Path, what: str) -> str:
    """Write a zip file with a distribution in it, and return its path."""
    egg, broken = what.endswith("egg"), what.startswith("broken")
    path = folder / (f"{what.replace(' ', '_')}-1.0" + (".egg" if egg else ".zip"))
    with ZipFile(path, "w") as file:
        info = "EGG-INFO" if egg else f"{path.stem}.dist-info"
        name = f"packed-{what}".replace(" ", "-")  # two of one name and one target would be one plugin
        text = f"[kernreg.kernels]\n{name} = packed:thing\n" + ("# caf\udce9\n" if broken else "")
        file.writestr(f"{info}/entry_points.txt", text.encode("utf-8", "surrogateescape"))
    return str(path)


def stray(site: Path, what: str) -> None:
    """Put something into a folder that is no distribution, or hardly one."""
    path = site / {"egg-link": "stray.egg-link", "file": "stray-1.0.dist-info"}.get(what, f"{what}-1.0.dist-info")
    if what == "egg-link":
        path.write_text(f"{site}\n../\n")
    elif what == "file":
        path.write_bytes(bytes(range(256)))
    elif what == "loop":
        path.symlink_to(path.name)
    elif what == "parent":
        path.symlink_to(site)
    else:  # the metadata of something that kernreg needs, damaged
        path.mkdir()
        (path / "METADATA").write_bytes(b"\xff\xfe\xff")
        (path / "entry_points.txt").symlink_to("entry_points.txt")
