"""``kernreg info``: all about one kernel, solver, ensembler, engine or command."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import click

from kernreg.cli.installation.list import KINDS
from kernreg.cli.output import brief, console, json_option, styled, write_json


@dataclass(frozen=True)
class ParameterInfo:
    """One parameter as a user sets it."""

    name: str
    type: str
    default: str


@dataclass(frozen=True)
class Info:
    """All that is known about an entry."""

    kind: str
    name: str
    summary: str
    description: str
    properties: dict[str, str]
    parameters: tuple[ParameterInfo, ...]
    target: str
    distribution: str
    version: str
    origin: str
    status: str


#: What ``definite`` and ``symmetric`` say, in words.
DEFINITE = {True: "positive semi-definite", False: "indefinite", None: "not declared"}
SYMMETRIC = {True: "symmetric", False: "asymmetric"}
INPUTS = {
    "real": "rows of real numbers",
    "nonnegative": "rows of non-negative numbers",
    "distribution": "rows that are distributions (non-negative, sum 1)",
    "gaussian": "rows that are diagonal Gaussians (the means, then the variances)",
    "index": "indices",
}


def describe(kind: str, name: str) -> Info:
    """Find out all about one entry; this imports its plugin."""
    from kernreg.registry import get_registry

    registry = get_registry(kind)
    obj = registry.get(name)
    entry = registry.entry(name)  # after loading, so that its status is current
    if kind == "kernel":
        documentation, properties, parameters = obj.doc, kernel_properties(obj), kernel_parameters(obj)
    elif kind == "command":
        # A backspace on a line of its own is click's mark for lines to leave as they are.
        documentation = (obj.help or "").replace("\b\n", "")
        properties, parameters = command_properties(obj), command_parameters(obj)
    else:
        documentation, properties, parameters = inspect.getdoc(obj) or "", {}, class_parameters(obj)
    summary, _, description = inspect.cleandoc(documentation or "").partition("\n")
    return Info(
        kind=kind,
        name=entry.name,
        summary=summary.strip(),
        description=description.strip(),
        properties=properties,
        parameters=parameters,
        target=str(entry.target),
        distribution=entry.distribution or entry.file,
        version=entry.version or "",
        origin=str(entry.origin),
        status=str(entry.status),
    )


def kernel_properties(family: Any) -> dict[str, str]:
    """Say in words what a kernel family declares."""
    properties = {
        "function of": str(family.of),
        "symmetry": SYMMETRIC.get(family.symmetric, str(family.symmetric)),
        "definiteness": DEFINITE.get(family.definite, "depends on the parameters"),
        "samples": INPUTS.get(family.inputs, str(family.inputs)),
    }
    if family.normalize:
        properties["normalised"] = f"by {family.normalize}, over the reference set"
    return properties


def kernel_parameters(family: Any) -> tuple[ParameterInfo, ...]:
    """List the parameters of a kernel family with their domains."""
    return tuple(
        ParameterInfo(
            parameter.name,
            "any" if parameter.domain is None else str(parameter.domain),
            "required" if parameter.default is type(parameter).required else repr(parameter.default),
        )
        for parameter in family.parameters
    )


def command_properties(command: click.Command) -> dict[str, str]:
    """Name the commands of a group."""
    return {"commands": ", ".join(command.commands)} if isinstance(command, click.Group) else {}


def command_parameters(command: click.Command) -> tuple[ParameterInfo, ...]:
    """List the arguments and options of a command as they are written."""
    return tuple(
        ParameterInfo(
            " ".join(parameter.opts) if isinstance(parameter, click.Option) else parameter.human_readable_name,
            parameter.type.name,
            "required" if parameter.required else option_default(parameter),
        )
        for parameter in command.params
    )


def option_default(parameter: click.Parameter) -> str:
    """Return the default of an option or argument in words; what click stands for "not given" is nobody's concern."""
    default = parameter.to_info_dict()["default"]
    return "none" if default is None or callable(default) or default == () else repr(default)


def class_parameters(cls: type) -> tuple[ParameterInfo, ...]:
    """List the constructor parameters of a solver, ensembler or engine with their annotations."""
    found = []
    for parameter in inspect.signature(cls).parameters.values():
        annotation = parameter.annotation
        if annotation is inspect.Parameter.empty:
            annotation = "any"
        elif isinstance(annotation, type):
            annotation = annotation.__name__
        default = "required" if parameter.default is inspect.Parameter.empty else repr(parameter.default)
        found.append(ParameterInfo(parameter.name, str(annotation), default))
    return tuple(found)


class KindChoice(click.Choice[str]):
    """The kind of an entry; an error says what to write where it is left out."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the kind."""
        from kernreg.registry import get_registry

        kinds = [] if value in KINDS else [kind for kind in KINDS if value in get_registry(kind)]
        if kinds:
            calls = " or ".join(f"kernreg info {kind} {value}" for kind in kinds)
            self.fail(f"the kind comes before the name: {calls}", param, ctx)
        return super().convert(value, param, ctx)


@click.command("info")
@click.argument("kind", type=KindChoice(KINDS))
@click.argument("name")
@json_option
def command(kind: str, name: str, as_json: bool) -> None:
    """Show everything about NAME: formula, parameters, properties, and where it comes from.

    Write DISTRIBUTION:NAME where two distributions claim the same name.
    """
    info = describe(kind, name)
    if as_json:
        write_json(info)
        return

    from rich.markup import escape
    from rich.table import Table

    screen = console()
    screen.print(f"[bold]{escape(info.name)}[/] ({info.kind})", escape(info.summary), sep="\n")
    if info.description:
        screen.print("", escape(info.description), sep="\n")
    if info.properties:
        grid = Table(box=None, pad_edge=False, show_header=False)
        for heading, value in info.properties.items():
            grid.add_row(heading, escape(value))
        screen.print("", grid, sep="\n")
    if info.parameters:
        grid = Table(box=None, pad_edge=False, header_style="bold")
        for heading in ("parameter", "type", "default"):
            grid.add_column(heading, overflow="fold")
        for parameter in info.parameters:
            grid.add_row(escape(parameter.name), escape(parameter.type), escape(parameter.default))
        screen.print("", grid, sep="\n")
    origin = f"{info.distribution} {info.version}".strip() or info.origin
    screen.print(f"\nfrom {escape(origin)}, {escape(brief(info.target))}, {styled(info.status)}")
