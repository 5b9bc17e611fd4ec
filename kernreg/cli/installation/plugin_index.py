"""``kernreg plugin-index``: a page about plugins, made of a list in a TOML file and of the results of their checks."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import click

from kernreg.cli.installation.badge import CheckResult, read_result, svg
from kernreg.common.atomic import replacing
from kernreg.errors import DataError

#: What a page written here begins with, by the ending of its name: such a page may be replaced.
MARKS = {
    ".html": "<!doctype html>\n<!-- written by kernreg plugin-index -->\n",
    ".md": "<!-- written by kernreg plugin-index -->\n",
}

_KEYS = {"distribution": True, "summary": True, "home": False, "result": False}  # of a plugin: whether it is needed

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
article { border-top: 1px solid #8886; padding: .5rem 0 1rem; }
h2 { font-size: 1.1rem; margin: .5rem 0; display: flex; gap: .8rem; align-items: center; flex-wrap: wrap; }
code { background: #8882; padding: 0 .25em; border-radius: 3px; }
small { opacity: .75; }
""".strip()


@dataclass(frozen=True)
class Listed:
    """A plugin of the list, with the result of its check where there is one."""

    distribution: str
    summary: str
    home: str = ""
    badge: str = ""  # the picture of the result, relative to the list
    result: CheckResult | None = None


def read_index(path: Path) -> tuple[str, str, list[Listed]]:
    """Return title, introduction and plugins of a list; raise DataError where something is missing or unknown."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not a TOML file: {error}") from error
    unknown = set(found) - {"title", "about", "plugin"}
    if unknown or not isinstance(found.get("plugin"), list) or not found["plugin"]:
        told = f"it has {', '.join(sorted(unknown))}" if unknown else "it lists no plugin"
        raise DataError(f"{path}: {told}; a list has title, about and a table [[plugin]] for each plugin")
    listed = [_plugin(path, number, each) for number, each in enumerate(found["plugin"], 1)]
    names = [each.distribution for each in listed]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"{path}: {', '.join(twice)} is listed twice")
    return str(found.get("title", "Plugins for kernreg")), str(found.get("about", "")), listed


def _plugin(path: Path, number: int, found: Any) -> Listed:
    texts = isinstance(found, dict) and all(isinstance(value, str) for value in found.values())
    if not texts or not {key for key, needed in _KEYS.items() if needed} <= set(found) <= set(_KEYS):
        raise DataError(
            f"{path}: plugin {number} is {found!r}; it needs distribution and summary, and may have home (an address) "
            "and result (the JSON file of kernreg check --badge), all as text"
        )
    if found.get("home", "https://").partition("://")[0] not in ("https", "http"):
        raise DataError(f"{path}: home of plugin {number} is {found['home']!r}; an address starts with https://")
    result, badge = None, ""
    if "result" in found:
        file = path.parent / found["result"]
        if not file.is_file():
            raise DataError(
                f"{path}: there is no file {file}, which is to be the result of {found['distribution']}; write it: "
                f"kernreg check {found['distribution']} --badge {file}"
            )
        result, badge = read_result(file), str(Path(found["result"]).with_suffix(".svg"))
    return Listed(found["distribution"], found["summary"], found.get("home", ""), badge, result)


def provided(result: CheckResult) -> dict[str, list[str]]:
    """Return the names of what was checked, by kind.

    >>> provided(CheckResult("x", "x", "1", "1", "1.0", 1, 1, ("kernel a", "kernel b", "command c"), ()))
    {'kernel': ['a', 'b'], 'command': ['c']}
    """
    found: dict[str, list[str]] = {}
    for entry in result.entries:
        kind, _, name = entry.partition(" ")
        found.setdefault(kind, []).append(name)
    return found


def html_page(title: str, about: str, listed: list[Listed]) -> str:
    """Return the page as one HTML file that needs nothing else."""
    parts = [
        f'{MARKS[".html"]}<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>\n<style>\n{_STYLE}\n</style></head>\n<body>",
        f"<h1>{escape(title)}</h1>",
    ]
    parts += [f"<p>{escape(about)}</p>"] if about else []
    for each in listed:
        name = escape(each.distribution)
        linked = f'<a href="{escape(each.home)}">{name}</a>' if each.home else name
        picture = svg(each.result) if each.result else "<small>not checked yet</small>"
        parts.append(f"<article><h2>{linked} {picture}</h2>\n<p>{escape(each.summary)}</p>")
        if each.result is not None:
            lines = [
                f"{kind}s: " + ", ".join(f"<code>{escape(n)}</code>" for n in names)
                for kind, names in provided(each.result).items()
            ]
            parts.append(f"<p>{'<br>'.join(lines)}</p>\n<p><small>{escape(conditions(each.result))}</small></p>")
            if each.result.broken:
                parts.append(
                    "<ul>" + "".join(f"<li>broken: {escape(law)}</li>" for law in each.result.broken) + "</ul>"
                )
        parts.append("</article>")
    return "\n".join([*parts, "</body></html>\n"])


def markdown_page(title: str, about: str, listed: list[Listed]) -> str:
    """Return the page as Markdown, which shows the badges beside the results."""
    parts = [f"{MARKS['.md']}\n# {title}\n"]
    parts += [f"{about}\n"] if about else []
    for each in listed:
        name = f"[{each.distribution}]({each.home})" if each.home else each.distribution
        parts.append(f"## {name}\n\n{each.summary}\n")
        if each.result is None:
            parts.append("Not checked yet.\n")
            continue
        told = f"{each.result.passed} of {each.result.total} laws hold, plugin API {each.result.api}"
        lines = [f"- {kind}s: {', '.join(f'`{n}`' for n in names)}" for kind, names in provided(each.result).items()]
        lines += [f"- broken: {law}" for law in each.result.broken]
        parts.append(f"![{told}]({each.badge})\n\n" + "\n".join(lines) + f"\n\n{conditions(each.result)}\n")
    return "\n".join(parts)


def conditions(result: CheckResult) -> str:
    """Say with which versions a result was had."""
    version = f"Version {result.version}, checked" if result.version else "Checked"
    return f"{version} with kernreg {result.kernreg}, plugin API {result.api}."


def check_page(output: Path, force: bool) -> None:
    """Refuse a page that cannot be written, or that somebody else wrote."""
    if output.suffix not in MARKS:
        raise DataError(f"--output {output}: a page ends in .html (one file) or .md (for a site)")
    if not output.absolute().parent.is_dir():
        raise DataError(f"--output {output}: there is no folder {output.absolute().parent}; make it first")
    if output.exists() and not force and MARKS[output.suffix].strip() not in output.read_text(errors="replace"):
        raise DataError(
            f"--output {output} exists, and kernreg did not write it; give another name, or --force to replace it"
        )


@click.command("plugin-index")
@click.argument("plugins", type=click.Path(path_type=Path), metavar="PLUGINS.TOML")
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), required=True, help="The page: FILE.html, or FILE.md for a site."
)
@click.option("--force", is_flag=True, help="Replace a page that is there, whoever wrote it.")
def command(plugins: Path, output: Path, force: bool) -> None:
    """Write a page about the plugins that a TOML file lists.

    Each [[plugin]] has distribution and summary, and may have home and result: the JSON file that
    kernreg check --badge wrote. No plugin is imported.
    """
    check_page(output, force)
    title, about, listed = read_index(plugins)
    text = (html_page if output.suffix == ".html" else markdown_page)(title, about, listed)
    with replacing(output) as file:
        file.write(text.encode())
    checked = sum(each.result is not None for each in listed)
    click.echo(f"wrote {output}: {len(listed)} plugins, {checked} of them checked")
