"""The machine a process runs on: its cores, the memory that is left, and where the user's caches are."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

_PROC = Path("/proc")
_CGROUPS = Path("/sys/fs/cgroup")
# Directory under _CGROUPS, then the files with limit, use and statistics: version 2, then version 1.
_CGROUP_FILES = {
    "": (("", "unified"), "memory.max", "memory.current"),
    "memory": (("memory",), "memory.limit_in_bytes", "memory.usage_in_bytes"),
}
UNLIMITED = 2**63
_UNKNOWN_MACHINE = 4 * 2**30  # assumed available where nothing can be asked


def usable_cores() -> int:
    """How many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory() -> int:
    """Bytes that can be used now without swapping, within the limit of a container if there is one."""
    return max(0, min(_system_memory(), *_cgroup_memory()))


def _system_memory() -> int:
    match = re.search(r"^MemAvailable:\s*(\d+) kB", _read(_PROC / "meminfo"), re.MULTILINE)
    if match:
        return int(match[1]) * 1024
    for pages in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):
        try:
            return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, ValueError, OSError):  # not this system, or not this name
            continue
    return _UNKNOWN_MACHINE


def _cgroup_memory() -> list[int]:
    """What each control group this process is in leaves; a group is bound by those above it too."""
    left = [UNLIMITED]
    for line in _read(_PROC / "self" / "cgroup").splitlines():
        _, controller, group = line.split(":", 2)
        mounts, limit_name, use_name = _CGROUP_FILES.get(controller, ((), "", ""))
        for mount in mounts:
            top = _CGROUPS / mount
            inner = top / group.lstrip("/")
            for directory in (inner, *inner.parents):
                limit, use = _read(directory / limit_name).strip(), _read(directory / use_name).strip()
                if limit.isdigit() and use.isdigit():
                    # Cached file pages count as used, but are given up when memory is needed.
                    cached = re.search(r"^(?:total_)?inactive_file (\d+)", _read(directory / "memory.stat"), re.M)
                    left.append(int(limit) - int(use) + (int(cached[1]) if cached else 0))
                if directory == top:
                    break
    return left


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""


def user_cache() -> Path:
    """Where this system keeps a user's caches."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local"
        return Path(base) / "kernreg" / "Cache"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "kernreg"
    # The XDG specification says to ignore a relative path.
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else _home() / ".cache") / "kernreg"


def _home() -> Path:
    """The user's own folder; one for temporary files where he has none, as in containers that run as any number."""
    named = os.environ.get("HOME")
    try:
        if named is not None and sys.platform != "win32" and not os.path.isabs(named):  # Python takes "" for the root
            import pwd

            return Path(pwd.getpwuid(os.getuid()).pw_dir)
        return Path.home()
    except (RuntimeError, KeyError):
        return Path(tempfile.gettempdir()) / f"kernreg-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
