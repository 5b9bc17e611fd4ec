"""What ``kernreg check --badge`` writes: the result of a check as JSON, and the same as a small picture (SVG)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from kernreg.common.atomic import replacing
from kernreg.errors import DataError

#: Colours of the right half, by whether every law held.
COLOURS = {True: "#2e7d32", False: "#c62828"}

_LABEL = "kernreg laws"
_CHARACTER = 6.6  # pixels of a letter at the font size below, about
_PADDING = 7


@dataclass(frozen=True)
class CheckResult:
    """The result of a check: laws that held among those that apply.

    Attributes
    ----------
    checked : str
        What was checked, as it was asked for.
    distribution, version : str
        The distribution (or the file) and its version; empty where several were checked.
    kernreg, api : str
        The versions of kernreg and of its plugin API that it was checked with.
    passed, total : int
        Laws that held, and laws that apply.
    entries : tuple of str
        What was checked, as ``"kernel rbf"``.
    broken : tuple of str
        Each law that did not hold, as ``"kernel rbf: declared symmetry"``.
    """

    checked: str
    distribution: str
    version: str
    kernreg: str
    api: str
    passed: int
    total: int
    entries: tuple[str, ...]
    broken: tuple[str, ...]

    @property
    def message(self) -> str:
        """The right half of the badge.

        >>> CheckResult("heat", "kernreg-heat", "1.0", "0.1.0", "1.0", 26, 27, ("kernel heat",), ("shape",)).message
        '26/27, API 1.0'
        """
        return f"{self.passed}/{self.total}, API {self.api}"


def result_of(checked: str, entries: Sequence[Any], findings: Iterable[Any]) -> CheckResult:
    """Sum up the findings of a check of some entries."""
    import kernreg
    from kernreg.registry import API_VERSION

    findings = list(findings)
    broken = tuple(f"{found.kind} {found.name}: {found.law}" for found in findings if found.outcome == "broken")
    passed = sum(found.outcome == "held" for found in findings)
    sources = {(entry.source, entry.version or "") for entry in entries}
    distribution, version = sources.pop() if len(sources) == 1 else ("", "")
    names = tuple(f"{entry.kind} {entry.name}" for entry in entries)
    total = passed + len(broken)
    return CheckResult(
        checked, Path(distribution).name, version, kernreg.__version__, API_VERSION, passed, total, names, broken
    )


def badge_files(path: str, checked: str) -> tuple[Path, Path]:
    """Return the files of a badge, SVG and JSON; they have one name but for the ending.

    >>> [str(file) for file in badge_files("", "kernreg-heat")]
    ['kernreg-heat-badge.svg', 'kernreg-heat-badge.json']
    >>> [str(file) for file in badge_files("docs/laws.svg", "kernreg-heat")]
    ['docs/laws.svg', 'docs/laws.json']
    """
    given = Path(path) if path else Path(f"{checked.replace(':', '-').removesuffix('.py')}-badge.svg")
    if given.suffix not in ("", ".svg", ".json"):
        raise DataError(f"--badge {path}: a badge is an SVG and a JSON file of one name; give a name that ends in .svg")
    if not given.absolute().parent.is_dir():
        raise DataError(f"--badge {path}: there is no folder {given.absolute().parent}; make it first")
    return given.with_suffix(".svg"), given.with_suffix(".json")


def write_badge(result: CheckResult, files: tuple[Path, Path]) -> None:
    """Write both files, each whole or not at all; a badge that is there is replaced."""
    texts = svg(result), json_text(result)
    for file, text in zip(files, texts, strict=True):
        with replacing(file) as output:
            output.write(text.encode())


def json_text(result: CheckResult) -> str:
    """Return the JSON of a result; the first four keys are those of an endpoint of shields.io."""
    from kernreg.cli.output import plain

    colour = COLOURS[not result.broken].removeprefix("#")
    head = {"schemaVersion": 1, "label": _LABEL, "message": result.message, "color": colour}
    return json.dumps({**head, **plain(result)}, indent=2, ensure_ascii=False) + "\n"


def read_result(path: Path) -> CheckResult:
    """Return the result that a JSON file of `write_badge` holds."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        fields = {name: found[name] for name in CheckResult.__dataclass_fields__}
        if not all(isinstance(fields[name], int) for name in ("passed", "total")):
            raise ValueError("passed and total are not numbers")
        for name in ("entries", "broken"):
            fields[name] = tuple(map(str, fields[name]))
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path} is not the result of a check ({type(error).__name__}: {error}); write one with "
            "kernreg check NAME --badge"
        ) from error
    return CheckResult(**fields)


def svg(result: CheckResult) -> str:
    """Return the badge as a picture: a label, and how many laws held.

    >>> text = svg(CheckResult("heat", "", "", "0.1.0", "1.0", 27, 27, (), ()))
    >>> "27/27, API 1.0" in text, text.count("http") == text.count("http://www.w3.org/2000/svg")
    (True, True)
    """
    left, right = (_CHARACTER * len(text) + 2 * _PADDING for text in (_LABEL, result.message))
    title = escape(f"{result.checked}: {result.passed} of {result.total} laws hold, plugin API {result.api}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right:.0f}" height="20" role="img" '
        f'aria-label="{title}">\n'
        f"  <title>{title}</title>\n"
        f'  <rect width="{left + right:.0f}" height="20" rx="3" fill="#444"/>\n'
        f'  <path d="M{left:.0f} 0h{right - 3:.0f}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{right - 3:.0f}z" '
        f'fill="{COLOURS[not result.broken]}"/>\n'
        '  <g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">\n'
        f'    <text x="{left / 2:.0f}" y="14">{escape(_LABEL)}</text>\n'
        f'    <text x="{left + right / 2:.0f}" y="14">{escape(result.message)}</text>\n'
        "  </g>\n</svg>\n"
    )
