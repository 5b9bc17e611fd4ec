from __future__ import annotations

import asyncio
import dataclasses
import os
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

from kernreg import config, config_context, get_config, set_config
from kernreg.errors import ConfigError

VARIABLES = ("KERNREG_MEMORY", "KERNREG_THREADS", "KERNREG_ENGINE", "KERNREG_CACHE_DIR")


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """The settings of a new process with nothing in its environment."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(config, "_process", None)


def test_defaults():
    assert get_config() == config.Config(memory=0.5, threads=None, engine="local", progress=None, cache_dir=None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        get_config().memory = 1


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2GB", 2_000_000_000),
        ("2gb", 2_000_000_000),
        ("1.5 GB", 1_500_000_000),
        ("2GiB", 2 * 2**30),
        ("2 gi", 2 * 2**30),
        ("512M", 512_000_000),
        ("64KiB", 65536),
        ("1TB", 10**12),
        ("1e9", 10**9),
        ("1000", 1000),
        ("10B", 10),
        ("0.5", 0.5),
        ("1.0", 1.0),
        ("50%", 0.5),
        ("100 %", 1.0),
        (1, 1),
        (10**9, 10**9),
        (np.int64(4096), 4096),
        (0.25, 0.25),
        (1.0, 1.0),
        (np.float64(0.25), 0.25),
        (None, 0.5),
    ],
)
def test_memory_is_kept_normalised(given, kept):
    set_config(memory=given)
    assert get_config().memory == kept
    assert type(get_config().memory) is type(kept)


BAD = {
    "memory": [
        *["", "lots", "-1GB", "2XB", "50i", "1IB", "GB", "150%", "0%", "0GB", "1.5", "1e999", "2GB!"],
        *[0, -5, 0.0, 1.5, -0.5, float("nan"), float("inf"), True, []],
    ],
    "threads": [0, -1, 1.5, "two", True, "4"],
    "engine": ["", " ", None, 3],
    "progress": [1, "yes", 0],
    "cache_dir": ["", 3, True],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_bad_values_say_what_is_accepted_and_change_nothing(name, value):
    with pytest.raises(ConfigError, match=rf"^{name}=.* is not accepted; give "):
        set_config(**{"engine": "other", name: value})
    with pytest.raises(ConfigError), config_context(**{name: value}):
        pass
    assert get_config() == config.Config()


def test_unknown_settings_are_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"no setting 'memry'.*memory, threads, engine.*mean 'memory'"):
        set_config(memry="2GB")
    with pytest.raises(ConfigError, match="no setting 'x'"), config_context(x=1):
        pass


def test_context_changes_inside_only_and_nests():
    set_config(threads=4)
    with config_context(threads=2, memory="1GB") as inside:
        assert inside == get_config()
        assert (inside.threads, inside.memory) == (2, 10**9)
        with config_context(memory=None, threads=None):
            assert (get_config().threads, get_config().memory) == (None, 0.5)
        assert get_config() == inside
    assert (get_config().threads, get_config().memory) == (4, 0.5)


def test_context_ends_after_an_exception():
    with pytest.raises(ZeroDivisionError), config_context(threads=2):
        raise ZeroDivisionError
    assert get_config().threads is None


def test_setting_inside_a_context_shows_where_the_context_does_not_override():
    with config_context(threads=2):
        set_config(threads=3, engine="dask")
        assert (get_config().threads, get_config().engine) == (2, "dask")
    assert get_config().threads == 3


def test_context_is_of_one_thread_and_setting_is_of_all():
    seen = []
    set_config(engine="shared")
    with config_context(threads=2):
        thread = threading.Thread(target=lambda: seen.append(get_config()))
        thread.start()
        thread.join()
    assert (seen[0].threads, seen[0].engine) == (None, "shared")


def test_contexts_of_asynchronous_tasks_do_not_mix():
    async def task(threads):
        with config_context(threads=threads):
            await asyncio.sleep(0.001)
            return get_config().threads

    async def both():
        return await asyncio.gather(*(task(threads) for threads in range(1, 5)))

    assert asyncio.run(both()) == [1, 2, 3, 4]


def test_environment_gives_the_defaults(monkeypatch, tmp_path):
    monkeypatch.setenv("KERNREG_MEMORY", "3GB")
    monkeypatch.setenv("KERNREG_THREADS", " 3 ")
    monkeypatch.setenv("KERNREG_ENGINE", "dask")
    monkeypatch.setenv("KERNREG_CACHE_DIR", str(tmp_path))
    expected = config.Config(memory=3 * 10**9, threads=3, engine="dask", cache_dir=str(tmp_path))
    assert get_config() == expected
    assert get_config().cache_directory() == tmp_path


@pytest.mark.parametrize(("variable", "value"), [("KERNREG_MEMORY", "lots"), ("KERNREG_THREADS", "-1")])
def test_bad_environment_names_the_variable(monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError, match=f"{variable}.*{value}.*not accepted"):
        get_config()


def test_empty_environment_variable_counts_as_unset(monkeypatch):
    monkeypatch.setenv("KERNREG_MEMORY", "")
    assert get_config().memory == 0.5


def test_cache_directory(monkeypatch, tmp_path):
    set_config(cache_dir="~/somewhere")
    assert get_config().cache_directory() == Path.home() / "somewhere"
    set_config(cache_dir=tmp_path)
    assert get_config().cache_dir == str(tmp_path)
    set_config(cache_dir=None)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert get_config().cache_directory() == tmp_path / "kernreg"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert get_config().cache_directory() == Path.home() / ".cache" / "kernreg"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert get_config().cache_directory() == Path.home() / "Library" / "Caches" / "kernreg"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="HOME is of POSIX")
@pytest.mark.parametrize("home", ["", "relative"])
def test_a_home_that_is_no_absolute_path_is_not_used(home, monkeypatch):
    """The cache would be at the root of the disk, or move with the working directory."""
    import pwd

    monkeypatch.setattr(pwd, "getpwuid", lambda number: pwd.struct_passwd(["", "", number, 0, "", "/own home", ""]))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("KERNREG_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", home)
    monkeypatch.setattr(sys, "platform", "linux")
    with config_context(cache_dir=None):
        assert get_config().cache_directory() == Path("/own home/.cache/kernreg")


def test_a_user_without_a_home_has_a_cache_in_the_folder_of_temporary_files(monkeypatch, tmp_path):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr(config.Path, "home", homeless)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert tmp_path in config.Config().cache_directory().parents


def test_thread_count():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert get_config().thread_count() == cores
    with config_context(threads=np.int64(3)):
        assert get_config().thread_count() == 3


def test_progress_follows_the_terminal(monkeypatch):
    assert config.Config(progress=True).show_progress()
    assert not config.Config(progress=False).show_progress()
    monkeypatch.setattr(sys, "stderr", None)
    assert not get_config().show_progress()


# Memory, on an imitation of /proc and /sys/fs/cgroup.


@pytest.fixture
def machine(tmp_path, monkeypatch):
    monkeypatch.setattr(config.machine, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(config.machine, "_CGROUPS", tmp_path / "cgroup")

    def write(name, text):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    write("proc/meminfo", "MemTotal:  16000 kB\nMemAvailable:   8000 kB\n")
    return write


def test_budget_is_a_share_of_available_memory(machine):
    assert config.available_memory() == 8000 * 1024
    assert config.memory_budget() == 4000 * 1024
    with config_context(memory=0.25):
        assert config.memory_budget() == 2000 * 1024
    with config_context(memory="1MB"):
        assert config.memory_budget() == 1_000_000


def test_budget_respects_a_cgroup_of_version_2(machine):
    machine("proc/self/cgroup", "0::/outer/inner\n")
    machine("cgroup/outer/inner/memory.max", "max\n")
    machine("cgroup/outer/inner/memory.current", "500\n")
    machine("cgroup/outer/memory.max", "1000000\n")
    machine("cgroup/outer/memory.current", "300000\n")
    machine("cgroup/outer/memory.stat", "anon 5\ninactive_file 100000\n")
    assert config.available_memory() == 1_000_000 - 300_000 + 100_000


def test_budget_respects_a_cgroup_of_version_1_mounted_at_its_own_root(machine):
    machine("proc/self/cgroup", "5:cpu,memory2:/x\n4:memory:/docker/abc\n0::/\n")
    machine("cgroup/memory/memory.limit_in_bytes", "2000000\n")
    machine("cgroup/memory/memory.usage_in_bytes", "500000\n")
    assert config.available_memory() == 1_500_000


def test_budget_is_positive_when_nothing_is_left(machine):
    machine("proc/self/cgroup", "0::/\n")
    machine("cgroup/memory.max", "1000\n")
    machine("cgroup/memory.current", "5000\n")
    assert config.available_memory() == 0
    assert config.memory_budget() == 1


def test_memory_without_proc(machine, tmp_path, monkeypatch):
    monkeypatch.setattr(config.machine, "_PROC", tmp_path / "nowhere")
    assert config.available_memory() > 0
    monkeypatch.delattr(os, "sysconf")
    assert config.available_memory() == 4 * 2**30


def test_memory_of_this_machine_is_plausible():
    assert 2**20 < config.available_memory() < 2**50


@pytest.mark.parametrize("text", ["²", "9" * 5000, "-1", "½"])
def test_a_variable_whose_number_cannot_be_read_is_told(monkeypatch, text):
    monkeypatch.setattr(config, "_process", None)
    monkeypatch.setenv("KERNREG_THREADS", text)
    with pytest.raises(ConfigError, match="KERNREG_THREADS"):
        get_config()
