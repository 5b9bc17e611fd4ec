"""Broken and hostile plugins: they are listed with a reason, and affect nothing else."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from torture import installations, plugins
from torture.attack import Attack, Case, Outcome
from torture.plugin_checks import POLICIES, ask, in_child, is_it, others_wrong, printed_wrong, ready, reasons_wrong

KINDS = tuple(plugins.THINGS)
#: Names that several may claim, most of them kernreg's own.
CONTESTED = [("kernel", "rbf"), ("solver", "ls-svm"), ("ensembler", "average"), ("command", "list"), ("kernel", "same")]
#: What stands on the path as well.
PLACES = ["missing", "file", "zip", "path", "bytes", "wheel", "broken wheel", "egg", "broken egg"]
#: What prints without importing anything.
LOOKS = [["--help"], ["list", "--json"], *(["list", "--kind", kind] for kind in KINDS), ["list"]]
#: What is looked at after everything was asked for.
EXAMINATIONS = [["doctor"], ["doctor", "--json"], ["info"], ["list"]]


# Cases ----------------------------------------------------------------------------------------------------------


def cases(rng: Random) -> Iterator[Case]:
    while True:
        yield {
            "distributions": [distribution(rng, number) for number in range(rng.choice((1, 2, 3, 5)))],
            "strays": rng.sample(installations.STRAYS, rng.choice((0, 0, 1, 2))),
            "places": rng.sample(PLACES, rng.choice((0, 0, 0, 1, 2))),
            "policy": rng.choice(POLICIES) if rng.random() < 0.4 else None,
            "looks": [rng.choice(LOOKS), rng.choice(EXAMINATIONS)],
        }


def distribution(rng: Random, number: int) -> dict[str, Any]:
    """Return a distribution: sound half the time, but for what its points are."""
    sound = rng.random() < 0.5
    name = f"plugin-{number}" if rng.random() < 0.85 else rng.choice(["Plugin.0", *installations.STRANGE_NAMES])
    return {
        "name": name,
        "code": number,
        "version": "1.0" if rng.random() < 0.9 else rng.choice(["0[b]", f"2{plugins.ESCAPE}"]),
        "form": "dist-info" if sound else rng.choice(list(installations.FORMS)),
        "file": "sound" if sound else rng.choice(list(installations.FILES)),
        "metadata": "sound" if sound else rng.choice(list(installations.METADATA)),
        "place": rng.randrange(2),
        "points": [point(rng, f"own-{number}-{index}") for index in range(rng.choice((1, 1, 2, 4)))],
    }


def point(rng: Random, own: str) -> dict[str, Any]:
    kind, name = rng.choice(KINDS), own
    if rng.random() < 0.2:
        kind, name = rng.choice(CONTESTED)
    elif rng.random() < 0.15:
        name = rng.choice(plugins.STRANGE_NAMES)
    return {
        "kind": kind,
        "name": name,
        "body": "sound" if rng.random() < 0.4 else rng.choice(list(plugins.BODIES)),
        "target": "sound" if rng.random() < 0.8 else rng.choice(list(plugins.TARGETS)),
        "number": rng.randrange(2, 1000),
    }


def smaller(case: Case) -> Iterator[Case]:
    """Yield cases with fewer distributions, strays and points, and with sound ones in the place of others."""
    for key in ("distributions", "strays", "places"):
        yield from (case | {key: less} for less in _without_one(case[key]))
    if case["policy"] is not None:
        yield case | {"policy": None}
    for place, one in enumerate(case["distributions"]):
        before, after = case["distributions"][:place], case["distributions"][place + 1 :]
        for other in _sounder(one):
            yield case | {"distributions": [*before, other, *after]}


def _without_one(items: list[Any]) -> list[list[Any]]:
    return [items[:place] + items[place + 1 :] for place in range(len(items))]


def _sounder(one: dict[str, Any]) -> Iterator[dict[str, Any]]:
    plain = {"form": "dist-info", "file": "sound", "metadata": "sound", "version": "1.0"}
    yield from (one | {key: value} for key, value in plain.items() if one[key] != value)
    yield from (one | {"points": less} for less in _without_one(one["points"]))
    for number, each in enumerate(one["points"]):
        better = {"body": "sound", "target": "sound", "name": f"own-{one['code']}-{number}"}
        for key in (key for key, value in better.items() if each[key] != value):
            yield one | {"points": [*one["points"][:number], each | {key: better[key]}, *one["points"][number + 1 :]]}


# What has to come of them ---------------------------------------------------------------------------------------


class Expected(NamedTuple):
    """A point, and what has to come of it: it "works", is "broken", "blocked" or "gone", or anything may ("open")."""

    distribution: dict[str, Any]
    point: dict[str, Any]
    what: str
    provider: str
    readable: bool  # its name and target

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.point['name']}"


def expected(case: Case) -> Iterator[Expected]:
    from kernreg.registry import normalize_distribution
    from kernreg.registry.policy import current_policy

    allowed = current_policy().allowed
    providers = Counter(normalize_distribution(one["name"]) for one in case["distributions"])
    for one in case["distributions"]:
        provider = normalize_distribution(one["name"])
        _, file, _ = installations.FILES[one["file"]]
        names = Counter((each["kind"], each["name"]) for each in one["points"])
        for each in one["points"]:
            readable = each["name"] not in plugins.STRANGE_NAMES and each["target"] not in plugins.UNREADABLE_TARGETS
            twice = names[each["kind"], each["name"]] > 1 or providers[provider] > 1
            twice = twice or (":" in provider and ":" in each["name"])  # which part is which?
            if file == "open" or twice or each["target"] in plugins.OTHER_TARGETS:
                what = "open"
            elif file != "whole":
                what = "gone"
            elif allowed is not None and provider not in allowed:
                what = "blocked"
            elif not readable or each["target"] in plugins.BROKEN_TARGETS or each["body"] in plugins.BROKEN_BODIES:
                what = "broken"
            else:
                what = "open" if each["body"] in plugins.INTERRUPTS else "works"
            yield Expected(one, each, what, provider, readable)


# Running --------------------------------------------------------------------------------------------------------


def run(case: Case) -> Outcome:
    return in_child(partial(judged, case), case["policy"])


def judged(case: Case, folder: Path) -> str | None:
    """Return what is wrong where these distributions are installed; run in a child."""
    import kernreg as kr
    from kernreg.registry import refresh

    marks = folder / "marks"
    files = installed(case, folder, marks)
    refresh()
    points = list(expected(case))
    wrong = listing_wrong(case, points, files)
    if wrong or marks.exists():
        return wrong or f"imported: by listing: {marks.read_text().split()}"
    wrong = answers_wrong(points) or short_names_wrong(case, points) or others_wrong()
    wrong = wrong or reasons_wrong(kr.available()) or examination_wrong(case["looks"][1], points)
    if wrong:
        return wrong
    refresh()
    imported = marks.read_text().split() if marks.exists() else []
    blocked = tuple(f"torture_{one.distribution['code']}_" for one in points if one.what == "blocked")
    ran = [module for module in imported if module.startswith(blocked)]
    return f"blocked: and imported: {ran}" if ran else answers_wrong([one for one in points if one.what == "works"])


def installed(case: Case, folder: Path, marks: Path) -> list[Path]:
    """Install everything and put it on the path; return where the entry points of each distribution are."""
    sites = [folder / "a", folder / "b"]
    for site in sites:
        site.mkdir()
    files = [installations.install(one, sites[one["place"]], marks) for one in case["distributions"]]
    for number, what in enumerate(case["strays"]):
        installations.stray(sites[number % 2], what)
    packed = {what: installations.pack(folder, what) for what in case["places"] if what.endswith(("wheel", "egg"))}
    (folder / "file").write_bytes(b"PK\x03\x04 nothing" * 10)
    (folder / "zip").write_bytes(b"PK\x05\x06" + bytes(18))
    odd: dict[str, Any] = {"path": folder, "bytes": bytes(folder), **packed}
    eggs = [str(file.parent.parent) for file in files if file.parent.name == "EGG-INFO"]
    sys.path[:0] = [*map(str, sites), *eggs, *(odd.get(what, str(folder / what)) for what in case["places"])]
    return files


def listing_wrong(case: Case, points: list[Expected], files: list[Path]) -> str | None:
    """Return what is wrong before anything was imported: what is listed, told to be unreadable, and printed."""
    import kernreg as kr
    from kernreg.registry import discovery_report

    entries = kr.available()
    listed = {(one.kind, one.name, one.distribution): one for one in entries}
    for one in points:
        entry = listed.get((one.point["kind"], one.point["name"], one.provider))
        if (entry is None) != (one.what == "gone") and one.what != "open":
            return f"{'lost' if entry is None else 'found'}: {one.name!r:.100} of {one.distribution['file']!r}"
        if one.what == "broken" and not one.readable and entry is not None and entry.status != "broken":
            return f"not told: {one.name!r:.100} is {entry.status}"
    for what in {"wheel", "egg"} & set(case["places"]):
        if ("kernel", f"packed-{what}", what) not in listed:
            return f"lost: what is in the {what}"
    advice = "\n".join(discovery_report().advice())
    for distribution, file in zip(case["distributions"], files, strict=True):
        _, _, told = installations.FILES[distribution["file"]]
        hidden = distribution["form"] == "egg" and not file.is_file()  # entrypoints looks for files in eggs alone
        if told and str(file) not in advice and not hidden:
            return f"not told: {distribution['file']} {file.name} of {distribution['name']!r}"
    return printed_wrong(case["looks"][0])


def answers_wrong(points: list[Expected]) -> str | None:
    """Return what is wrong with what comes of asking for plugins by distribution and name."""
    from kernreg.registry import get_registry

    fits = {
        "works": lambda one, value, told, status: is_it(value, one.point) and status in ("available", "loaded"),
        "broken": lambda one, value, told, status: (
            status in ("broken", "incompatible") and told.startswith(("PluginLoadError", "PluginIncompatible"))
        ),
        "blocked": lambda one, value, told, status: status == "blocked" and told.startswith("PluginBlocked"),
    }
    for one in points:
        kind, point = one.point["kind"], one.point
        value, told, wrong = ask(kind, one.name)
        if wrong:
            return wrong
        status = get_registry(kind).entry(one.name).status if one.what in fits else ""
        forgotten = point["body"] == "refreshes" and one.what == "broken"  # before it was known to be so
        if one.what in fits and not forgotten and not fits[one.what](one, value, told, status):
            return f"not {one.what}: {one.name!r:.100} ({point['body']}, {point['target']}), {status}: {told[:300]}"
    return None


def short_names_wrong(case: Case, points: list[Expected]) -> str | None:
    """Return what is wrong with what comes of asking by name alone, where more than one may be meant."""
    from kernreg.errors import printable

    if any(one.what == "open" or one.point["body"] == "takes over" for one in points):
        return None
    for kind, name in CONTESTED:
        claims = [p for p in points if (p.point["kind"], p.point["name"]) == (kind, name) and p.readable]
        claims = [one for one in claims if one.what in ("works", "broken")]
        own = ready().get((kind, f"kernreg:{name}"))
        value, told, wrong = ask(kind, name)
        if len(claims) + (own is not None) > 1:
            named = all(printable(f"{one.provider}:") in told for one in claims)
            wrong = wrong or (None if told.startswith("PluginConflict") and named else f"conflict: {name}: {told}")
        elif own is not None and value is not own:
            wrong = f"taken: {kind} {name}: {told}"
        elif claims and (claims[0].what == "works") == bool(told):
            wrong = f"alone: {kind} {name}: {told}"
        if wrong:
            return wrong
    return None


def examination_wrong(words: list[str], points: list[Expected]) -> str | None:
    """Return what is wrong with what is printed once everything was asked for."""
    if words != ["info"]:
        return printed_wrong(words)
    calls = ((["info", "--", one.point["kind"], one.name], one.what) for one in points)
    return next(filter(None, (printed_wrong(*call) for call in calls)), None)


ATTACKS = [
    Attack(
        "registry",
        "random sets of installed plugins, broken and hostile in metadata, names, targets and modules: each is listed "
        "with a reason, sound ones and kernreg's own work as alone, nothing that is blocked is imported, names do "
        "nothing to a terminal",
        cases,
        run,
        full=800,
        ci=8,
        minutes=3,
        seconds=600,
        fresh=True,
        shrink=smaller,
    ),
]
