"""Print the arguments of ``asv run`` for a profile: quick or full."""

from __future__ import annotations

import sys

from asv_benchmarks.claims import quick

PROFILES = {"quick": lambda: f"--quick --bench {quick()}", "full": lambda: ""}


def main() -> None:
    """Read the name of a profile and print its arguments."""
    name = sys.argv[1] if len(sys.argv) > 1 else "quick"
    if name not in PROFILES:
        raise SystemExit(f"there is no profile {name!r}; there are {', '.join(PROFILES)}")
    print(PROFILES[name]())


if __name__ == "__main__":
    main()
