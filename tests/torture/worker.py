"""The process that cases run in. Reads names of attacks and cases, a line of JSON each, and answers with outcomes.

    python -m torture.worker

Standard output is for answers alone: what a case prints goes to standard error.
"""

from __future__ import annotations

import faulthandler
import json
import math
import os
import resource
import sys
import traceback
from pathlib import Path
from typing import Any

from torture.attack import Attack, Case, attacks


def main() -> None:
    """Answer until there are no more cases."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    faulthandler.enable()
    there, current = attacks(), None
    answers.write("ready\n")
    answers.flush()
    for line in sys.stdin:
        name, case = json.loads(line)
        attack = there[name]
        if name != current:
            limit_memory(attack.memory)
            current = name
        limit_cpu(attack.cpu)
        answers.write(json.dumps(outcome(attack, case)) + "\n")
        answers.flush()


def outcome(attack: Attack, case: Case) -> dict[str, Any]:
    """Run a case, and say what came of it."""
    try:
        result = attack.run(case)
    except BaseException as error:
        place = traceback.format_exc()[-4000:]
        return {"outcome": f"{type(error).__name__}: {error}"[:2000], "traceback": place}
    return {"outcome": result if result is None or isinstance(result, str) else int(result)}


def limit_memory(more: int) -> None:
    """Allow this process so many bytes of addresses more than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if sys.platform == "linux" else 0
    if pages:
        size = pages * os.sysconf("SC_PAGE_SIZE") + more
        resource.setrlimit(resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1]))


def limit_cpu(seconds: float) -> None:
    """Allow this process so many seconds of computing from now on: the system ends it afterwards."""
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used + seconds), resource.getrlimit(resource.RLIMIT_CPU)[1]))


if __name__ == "__main__":
    main()
