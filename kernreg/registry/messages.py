"""The sentences of lookup errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernreg.registry.record import Claim, Entry

_SHOWN = 40  # names listed in a message; more would hide the first line


def unknown(kind: str, name: object, entries: Sequence[Entry], elsewhere: Iterable[str], unread: int) -> str:
    """For a name nobody claims: close matches, what there is, what is broken, and what may be missing."""
    parts = [f"there is no {kind} named {name!r}."]
    names = sorted({entry.name for entry in entries})
    close = close_matches(str(name).rpartition(":")[2], names)
    if close:
        parts.append(f"Did you mean {' or '.join(map(repr, close))}?")
    parts += [f"A plugin of the kind {other!r} has that name." for other in elsewhere]
    usable = sorted({entry.name for entry in entries if entry.status in ("available", "loaded")})
    if usable:
        parts.append(f"Available: {', '.join(usable[:_SHOWN])}{', …' if len(usable) > _SHOWN else ''}.")
    elif not entries:
        parts.append(f"No {kind} is registered at all; is kernreg itself installed (pip install kernreg)?")
    for status in ("broken", "incompatible", "blocked", "conflicting"):
        listed = [_qualified(entry) for entry in entries if entry.status == status]
        if listed:
            parts.append(f"{status.capitalize()}: {', '.join(listed[:_SHOWN])}.")
    if unread:
        parts.append(f"The metadata of {unread} distribution(s) could not be read; see kernreg doctor.")
    return " ".join(parts)


def conflict(kind: str, name: str, claims: Sequence[Claim]) -> str:
    """For a name that more than one distribution claims."""
    text = f"the {kind} {name!r} is claimed by {' and by '.join(f'{c.provider} ({c.target})' for c in claims)}."
    choices = sorted({f"{claim.distribution}:{claim.name}" for claim in claims})
    if len(choices) < len(claims):
        return f"{text} One distribution gives the name two targets; its entry points need correcting."
    return f"{text} Say which: {' or '.join(map(repr, choices))}."


def close_matches(word: str, known: Iterable[str]) -> list[str]:
    """Up to three known names that look like the word, whatever its case.

    >>> close_matches("RFB", ["rbf", "linear"])
    ['rbf']
    """
    import difflib  # needed only for an error

    by_folded = {name.casefold(): name for name in known}
    return [by_folded[match] for match in difflib.get_close_matches(word.casefold(), by_folded, 3)]


def _qualified(entry: Entry) -> str:
    return entry.name if entry.distribution is None else f"{entry.distribution}:{entry.name}"
