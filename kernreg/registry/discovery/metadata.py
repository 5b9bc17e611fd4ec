"""Reading the metadata of distributions one at a time, with `importlib.metadata`.

This is the slower, more patient way beside the `entrypoints` package: what cannot be read is kept apart
from what can, file by file. It is imported only when needed, because `importlib.metadata` is slow to import.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, DistributionFinder, MetadataPathFinder

from kernreg.registry.record import MetadataProblem, split_stem


def distributions_on(places: Iterable[object]) -> Iterator[Distribution]:
    """The distributions whose metadata lie on the path.

    Only the path is searched: a foreign finder on ``sys.meta_path`` may fail, and then nothing is found. Nor is
    ``PathFinder`` asked: the backport importlib_metadata takes this method away from it when it is imported.
    """
    readable = [os.fsdecode(place) for place in places if isinstance(place, str | bytes | os.PathLike)]
    return iter(MetadataPathFinder.find_distributions(DistributionFinder.Context(path=readable)))


def name_and_version(distribution: Distribution) -> tuple[str, str | None]:
    """The normalised name and the version, from the name of the directory as `entrypoints` has them.

    The name in METADATA may be that of another distribution, which would be shadowed; the version there counts where
    the directory has none.
    """
    directory = location(distribution)
    if os.path.basename(directory) == "EGG-INFO":
        directory = os.path.dirname(directory)
    name, version = split_stem(os.path.splitext(os.path.basename(directory))[0])
    return name, version or _version(distribution)


def installed_version(name: str) -> str | None:
    """The version of an installed distribution, None if nothing says it."""
    try:
        return _version(Distribution.from_name(name))
    except Exception:  # a develop install may have no readable version; that is no reason to fail
        return None


def installed_summary(name: str) -> str:
    """The one line in which an installed distribution says what it is, empty if it says nothing."""
    try:
        return " ".join((_field(Distribution.from_name(name), "Summary") or "").split())
    except Exception:  # unreadable metadata must not keep anybody from a list of commands
        return ""


def location(distribution: Distribution) -> str:
    """The metadata directory; the standard library has no public name for it."""
    return str(getattr(distribution, "_path", "")).rstrip("/") or type(distribution).__name__  # in a zip it ends in "/"


def unreadable(places: Iterable[object], groups: str) -> Iterator[MetadataProblem]:
    """Everything on the path that the `entrypoints` package cannot read, with the reason.

    `groups` is how the groups begin whose values are read; other groups only have to parse.
    """
    from configparser import ConfigParser
    from configparser import Error as ParserError

    places = list(places)
    for place in places:
        if not isinstance(place, str):
            kind = f"sys.path holds {place!r} of type {type(place).__name__}"
            yield MetadataProblem(str(place), f"{kind}; Python imports nothing from it, add str(path) instead")
    for distribution in distributions_on(places):
        path = os.path.join(location(distribution), "entry_points.txt")
        # Case kept and "=" only, as the format says; the defaults of ConfigParser find no fault then.
        parser = ConfigParser(delimiters=("=",))
        parser.optionxform = str  # type: ignore[assignment,method-assign]  # the documented way to keep case
        try:
            text = distribution.read_text("entry_points.txt")
            if text is None and os.path.lexists(path):
                yield MetadataProblem(path, "it cannot be opened as a file")
            parser.read_string(text or "", source=path)
            for group in parser.sections():
                if group.startswith(groups):
                    parser.items(group)
        except (ParserError, UnicodeError, OSError) as failure:
            yield MetadataProblem(path, summary(failure))


def summary(failure: BaseException) -> str:
    """Type and text of an exception on one line; the text of a foreign one may itself fail, in any way."""
    try:
        text = " ".join(str(failure).split())
    except KeyboardInterrupt:
        raise
    except BaseException:
        text = ""
    if len(text) > 400:
        text = text[:400] + " …"
    return f"{type(failure).__name__}: {text}" if text else type(failure).__name__


def _version(distribution: Distribution) -> str | None:
    """The version in METADATA, where it looks like one."""
    version = _field(distribution, "Version") or ""
    return version if version.isprintable() and 0 < len(version) <= 100 else None


def _field(distribution: Distribution, key: str) -> str | None:
    try:
        return distribution.metadata[key]
    except Exception:  # missing or unreadable METADATA; from Python 3.14 on a missing key raises
        return None
