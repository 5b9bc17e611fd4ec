"""Modules of plugins, sound and broken: what they do when they are imported, and how entry points name them.

A point is plain data: ``{"kind": "kernel", "name": "k", "body": "sound", "target": "sound", "number": 7}``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

ESCAPE = "\x1b]0;owned\x07\x9b2J"
#: What a module defines as `thing`, by kind; {number} tells one from another.
THINGS = {
    "kernel": "from kernreg import kernel\n@kernel(of='blocks', symmetric=True)\ndef {thing}(X, Z):\n"
    "    'It.'\n    return {number} * (X @ Z.T)\n",
    "solver": "from kernreg.solvers import LSSVC\nclass {thing}(LSSVC):\n    'It.'\n    number = {number}\n",
    "engine": "from kernreg.engine import LocalEngine\nclass {thing}(LocalEngine):\n    'It.'\n    number = {number}\n",
    "ensembler": "from kernreg.ensemblers import Average\nclass {thing}(Average):\n    'It.'\n    number = {number}\n",
    "command": "import click\n@click.command('{thing}')\ndef {thing}():\n    'It.'\n{thing}.number = {number}\n",
}
_ANGRY = """
class Refusal({base}): pass
class Angry:
    def __getattribute__(self, name): raise Refusal("no " + name)
    def __repr__(self): raise Refusal("no")
"""
ANGRY, FURIOUS = _ANGRY.format(base="Exception"), _ANGRY.format(base="BaseException")
#: Texts in the place of {sound}, the text of a thing. Bytes cannot be decoded.
SOUND_BODIES: dict[str, str | bytes] = {
    "sound": "{sound}",
    "prints": "print('hello', flush=True)\n{sound}",
    "warns": "import warnings\nwarnings.warn('old')\n{sound}",
    "newer": "__kernreg_api__ = '1.7'\n{sound}",
    "asks itself": "from kernreg.registry import get_registry\ntry:\n    get_registry({kind!r}).get({name!r})\n"
    "except ImportError: pass\n{sound}",
    "asks for all": "import kernreg\nkernreg.available()\n{sound}",
    "refreshes": "from kernreg.registry import refresh\n{sound}\nrefresh()",
    "registers": "{sound}\nimport kernreg\nkernreg.register({kind!r}, 'extra-{number}', {thing}, replace=True)",
    "takes over": "{sound}\nimport kernreg\nif {kind!r} == 'kernel':\n"
    "    kernreg.register('kernel', 'rbf', {thing}, replace=True)",
    "large": "{sound}\n#" + "x" * 1_000_000,
    "pitfalls": "__all__ = ['{thing}']\n{sound}\ndef __getattr__(name): raise RuntimeError(name)",
}
BROKEN_BODIES: dict[str, str | bytes] = {
    "nothing": "pass",
    "a number": "{thing} = 3",
    "a function": "def {thing}(*args): pass",
    "angry": ANGRY + "{thing} = Angry()",
    "furious": FURIOUS + "{thing} = Angry()",
    "metaclass": ANGRY + "class Meta(type):\n    def __getattribute__(cls, name): raise Refusal(name)\n"
    "class {thing}(metaclass=Meta): pass",
    "raises": "raise ValueError('no such device')",
    "import": "import no_such_module_anywhere",
    "syntax": "def {thing}(:",
    "indentation": "  {sound}\n\tx",
    "exit": "import sys\nsys.exit(3)",
    "exit angry": FURIOUS + "raise SystemExit(Angry())",
    "exit huge": "raise SystemExit(10**5000)",
    "exit long": "raise SystemExit('x' * 1_000_000)",
    "base": "class Strange(BaseException): pass\nraise Strange('odd')",
    "generator": "raise GeneratorExit",
    "recursion": "def f(): f()\nf()",
    "memory": "raise MemoryError",
    "stop": "raise StopIteration",
    "group": "raise BaseExceptionGroup('several', [SystemExit(1), ValueError('x')])",
    "angry text": FURIOUS + "class Odd(Exception):\n    def __str__(self): raise Refusal('no')\nraise Odd",
    "long text": "raise ValueError('x' * 1_000_000)",
    "escapes": f"raise ValueError({ESCAPE!r})",
    "older": "__kernreg_api__ = '0.1'\n{sound}",
    "other": "__kernreg_api__ = '9.0'\nraise ValueError",
    "api digits": "__kernreg_api__ = '9' * 5000 + '.0'\n{sound}",
    "api number": "__kernreg_api__ = 1.0\n{sound}",
    "api huge": "__kernreg_api__ = 10**5000\n{sound}",
    "api angry": FURIOUS + "__kernreg_api__ = Angry()\n{sound}",
    "replaced": ANGRY + "import sys\nsys.modules[__name__] = Angry()",
    "replaced furiously": FURIOUS + "import sys\nsys.modules[__name__] = Angry()",
    "replaced by none": "import sys\nsys.modules[__name__] = None",
    "removed": "import sys\ndel sys.modules[__name__]\n{sound}",
    "needs itself": "from kernreg.registry import get_registry\nget_registry({kind!r}).get({name!r})\n{sound}",
    "nul": "{sound}\0",
    "bytes": b"\xff\xfe" + bytes(range(128, 256)),
    "deep": "{sound}\nx = " + "-" * 100_000 + "1",
    "folder": "",
    "loop": "",
    "missing": "",
}
#: Exceptions that nothing reports: the user's own key.
INTERRUPTS = {"interrupt": "raise KeyboardInterrupt"}
BODIES = SOUND_BODIES | BROKEN_BODIES | INTERRUPTS
#: Those that plugin files have as well.
FILE_BODIES: dict[str, str | bytes] = {
    "angry neighbours": ANGRY + "angry, a = Angry(), 3\nclass Meta(type): __getattribute__ = Angry.__getattribute__\n"
    "class Neighbour(metaclass=Meta): pass\n{sound}",
    "odd names": "globals()['two words'] = globals()['é'] = 3\n{sound}",
    "removed": "import sys\ndel sys.modules[__name__]\n{sound}",
    "methods": "{sound}\nif isinstance({thing}, type): {thing}.doc = {thing}.help = lambda self: 3",
}
BROKEN_FILE_BODIES: dict[str, str | bytes] = {
    "list of names": "__all__ = 3\n{sound}",
    "hidden": "__all__ = []\n{sound}",
    "renamed": "__name__ = 'other'\n{sound}",
    "nameless": "{sound}\ndel __name__",
    "numbers": "globals()[3] = 4\n{sound}",
    "loads itself": "import kernreg\nkernreg.load_plugin(__file__)\n{sound}",
    "loads nothing": "import kernreg\nkernreg.load_plugin('nowhere.py')\n{sound}",
    "taken": "{sound}\nimport kernreg\nkernreg.register('kernel', 'rbf', 3)",
}

#: Entry points, {target} being a sound one.
SOUND_TARGETS = {"sound": "{target}", "spaces": " {module} :  thing ", "extras": "{target} [a,b]"}
UNREADABLE_TARGETS = {
    "no object": "{module}",
    "hyphens": "my-{module}:thing",
    "two objects": "{target}:thing",
    "dots": "..:x",
    "escapes": ESCAPE,
    "long": "(" + "x" * 500_000,
    "percent": "{module}:%(x)s",
}
BROKEN_TARGETS = {
    "no module": "no_such_{module}:thing",
    "no attribute": "{target}.thing.thing",
    "private": "{target}.__class__.__subclasses__",
    "not ours": "os:system",
    "modules": "sys:modules",
    "main": "__main__:thing",
    "digits": "1.2:3",
    "long name": "json." + "a" * 5000 + ":thing",
    "deep name": "json." + "a." * 5000 + "b:thing",
    "deep attribute": "{target}" + ".__class__" * 5000 + ".thing",
}
#: Anything may come of it: the very target that kernreg's own has.
OTHER_TARGETS = {"kernreg's": "kernreg.kernels.builtin:rbf"}
TARGETS = SOUND_TARGETS | UNREADABLE_TARGETS | BROKEN_TARGETS | OTHER_TARGETS

#: Names that no spec can hold: listed, and told to be so.
STRANGE_NAMES = [
    *("two words", f"a{ESCAPE}", "a\u202eb", "x" * 300, "x" * 200_000, "-x", "(", "rbf(2.0)", "%", "a,b", ":", "a:b"),
    *("kernreg:rbf", "kernreg:list", "kernreg:ls-svm", "plugin-1:own-1-0", "🙂", "a[red]x[/]", "a[/]", "\\"),
]


def target_of(point: dict[str, Any], module: str) -> str:
    """Return what an entry point says."""
    return TARGETS[point["target"]].replace("{target}", f"{module}:thing").replace("{module}", module)


def source_of(point: dict[str, Any], asked: str, marks: Path | None = None, thing: str = "thing") -> str | bytes:
    """Return the text of a module: it leaves a mark when it is imported, and then does what its body says."""
    body = (FILE_BODIES | BROKEN_FILE_BODIES | BODIES)[point["body"]]
    if isinstance(body, bytes):
        return body
    mark = f"with open({str(marks)!r}, 'a') as marks: marks.write(__name__ + '\\n')\n" if marks else ""
    body = body.replace("{sound}", THINGS[point["kind"]])
    for key, value in {"kind!r": repr(point["kind"]), "name!r": repr(asked), "number": str(point["number"])}.items():
        body = body.replace("{" + key + "}", value)
    return mark + body.replace("{thing}", thing)


def write_module(path: Path, body: str, source: str | bytes) -> None:
    """Write a module, or what is in its place."""
    if body == "folder":
        path.mkdir()
    elif body == "loop":
        path.symlink_to(path.name)
    elif body != "missing":
        path.write_bytes(source if isinstance(source, bytes) else source.encode())
