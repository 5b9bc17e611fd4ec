"""Where text goes: a rich console on a terminal, plain unwrapped text in a pipe."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from kernreg.errors import printable

if TYPE_CHECKING:
    from rich.console import Console

#: In a pipe there is no terminal to fit into; tables are only as wide as their text, up to this.
PIPE_WIDTH = 200

#: One style per plugin status and per verdict, wherever they are printed.
STYLES = {
    "available": "green",
    "loaded": "green",
    "held": "green",
    "broken": "bold red",
    "conflicting": "bold red",
    "incompatible": "bold red",
    "blocked": "yellow",
    "not applicable": "dim",
}


json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON instead of text.")


def console() -> Console:
    """Return a console on standard output, which prints names and messages of others as `printable` text."""
    from rich.console import Console
    from rich.segment import Segment

    class SafeConsole(Console):
        def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                yield segment if segment.control else Segment(printable(segment.text), segment.style)

    probe = SafeConsole(highlight=False)
    return probe if probe.is_terminal else SafeConsole(highlight=False, width=PIPE_WIDTH)


def styled(word: str) -> str:
    """Return a status or verdict in rich markup, in its colour."""
    style = STYLES.get(word)
    return f"[{style}]{word}[/]" if style else word


def plain(value: Any) -> Any:
    """Turn records into what JSON can hold."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)


def write_json(value: Any) -> None:
    """Write records to standard output as JSON, in which nothing does something to a terminal either."""
    text = json.dumps(plain(value), indent=2, ensure_ascii=False)
    click.echo("".join(c if c == "\n" or c.isprintable() else _escaped(c) for c in text))


def _escaped(character: str) -> str:
    """Return a character as JSON may write it; `json` itself escapes neither DEL nor what comes behind ASCII."""
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else json.dumps(character)[1:-1]


def brief(text: str, most: int = 300) -> str:
    """Return the beginning and the end of a text that is too long to be read.

    >>> brief("rbf"), len(brief("x" * 1_000_000)) <= 300
    ('rbf', True)
    """
    return text if len(text) <= most else f"{text[: most // 2 - 2]} … {text[-(most // 2 - 2) :]}"
