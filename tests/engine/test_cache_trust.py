"""What the compile cache trusts: whole files in folders of its user, of the key asked for. Nothing else is run."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from kernreg.config import config_context
from kernreg.engine.compiler import cache, entry_files, private_folders
from kernreg.engine.compiler.entry_files import EntryFiles, copy_own
from kernreg.engine.compiler.private_folders import UnsafeFolder, make_private, require_private

RUN = """
    import json, os
    os.umask({umask})
    import numpy as np
    import kernreg as kr
    from kernreg.engine.compiler import cache
    X = np.linspace(0.0, 3.0, 12).reshape(6, 2).astype({dtype!r})
    K = kr.make_kernel("rbf(sigma=2.0)")(X)
    print(json.dumps({{"K": K.tolist(), "problem": cache.describe()["cache problem"], **cache.statistics()}}))
"""
X = np.linspace(0.0, 3.0, 12).reshape(6, 2)
EXPECTED = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 4)
posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of this kind are those of POSIX")


class Marker:
    """Unpickled, it leaves a file: proof that something was run."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return Path.touch, (Path(self.path),)


@pytest.fixture
def run(fresh_python, tmp_path):
    def run(umask=0o022, dtype="float64"):
        found = fresh_python(RUN.format(umask=umask, dtype=dtype), KERNREG_CACHE_DIR=tmp_path / "cache")
        np.testing.assert_allclose(found["K"], EXPECTED, rtol=1e-14 if dtype == "float64" else 1e-6)
        return found

    return run


# Files ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    notes = []
    made = EntryFiles(tmp_path, notes.append)
    return made, notes


def test_no_flipped_bit_and_no_truncation_is_ever_unpickled(files, tmp_path, monkeypatch):
    made, notes = files
    made.save("key", {"numbers": list(range(50))})
    (path,) = tmp_path.glob("*.code")
    whole = path.read_bytes()
    assert made.load("key") == {"numbers": list(range(50))}
    monkeypatch.setattr(entry_files.pickle, "loads", lambda payload: pytest.fail("unpickled"))
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        assert made.load("key") is None
        assert not path.exists()  # discarded
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert made.load("key") is None
    path.write_bytes(whole + b"0")
    assert made.load("key") is None
    assert all("discarded" in note for note in notes)


def test_files_that_have_changed_places_are_discarded(files, tmp_path):
    made, _ = files
    made.save(("float64",), 64)
    (first,) = tmp_path.glob("*.code")
    made.save(("float32",), 32)
    (second,) = set(tmp_path.glob("*.code")) - {first}
    content = first.read_bytes(), second.read_bytes()
    first.write_bytes(content[1]), second.write_bytes(content[0])
    assert made.load(("float64",)) is None
    assert made.load(("float32",)) is None


def test_files_of_the_same_function_before_an_edit_are_not_read(tmp_path):
    """Numba's key of a function is the same when a helper of it is edited: swapped folders gave the code of before."""
    EntryFiles(tmp_path, print, "before").save("key", 1)
    (path,) = tmp_path.glob("*.code")
    after = EntryFiles(tmp_path, print, "after")
    assert after.load("key") is None
    path.rename(after._path("key")[0])
    assert after.load("key") is None


@posix
def test_files_can_be_read_by_this_user_alone_whatever_the_umask(files, tmp_path):
    made, _ = files
    for umask in (0o000, 0o777):
        before = os.umask(umask)
        try:
            made.save(umask, umask)
        finally:
            os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


@posix
def test_what_may_not_be_read_is_not_copied_either(tmp_path):
    """A copy would be this user's own."""
    source, target = tmp_path / "a" / "f", tmp_path / "b" / "f"
    source.mkdir(parents=True, mode=0o700)
    source.parent.chmod(0o700)
    made = EntryFiles(source, print)
    made.save("good", 1)
    made.save("planted", Marker(tmp_path / "run"))
    made._path("planted")[0].chmod(0o666)
    made.save("link", Marker(tmp_path / "run"))
    made._path("link")[0].rename(tmp_path / "elsewhere")
    made._path("link")[0].symlink_to(tmp_path / "elsewhere")
    copy_own(source, target, below=tmp_path / "a", target_below=tmp_path / "b")
    copied = EntryFiles(target, print)
    assert [copied.load(key) for key in ("good", "planted", "link")] == [1, None, None]
    assert [path.name for path in target.iterdir()] == [made._path("good")[0].name]
    source.chmod(0o777)
    with pytest.raises(UnsafeFolder):
        copy_own(source, tmp_path / "b" / "g", below=tmp_path / "a", target_below=tmp_path / "b")
    assert not (tmp_path / "b" / "g").exists()


def test_a_full_disk_leaves_nothing_behind_and_what_was_there(files, tmp_path, monkeypatch):
    made, _ = files
    made.save("key", "old")

    def full(*args):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(entry_files.os, "replace", full)
        with pytest.raises(OSError, match="No space"):
            made.save("key", "new")
    assert made.load("key") == "old"
    assert len(list(tmp_path.iterdir())) == 1


@posix
def test_a_file_that_others_can_write_to_or_a_link_is_not_unpickled(files, tmp_path):
    made, notes = files
    made.save("key", Marker(tmp_path / "run"))
    (path,) = tmp_path.glob("*.code")
    content = path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o666)
    assert made.load("key") is None
    path.with_suffix(".elsewhere").write_bytes(content)
    path.symlink_to(path.with_suffix(".elsewhere"))
    assert made.load("key") is None
    os.mkfifo(path)
    assert made.load("key") is None
    assert not (tmp_path / "run").exists()
    if os.geteuid() == 0:
        path.write_bytes(content)
        os.chown(path, 12345, 12345)
        assert made.load("key") is None
        assert "another user" in notes[-1]
    made.save("key", Marker(tmp_path / "run"))
    made.load("key")
    assert (tmp_path / "run").exists()  # else the test above proves nothing


def put_folder(path):
    path.mkdir()


def put_pipe(path):
    """One that somebody has open for writing, without having written."""
    os.mkfifo(path)
    return os.open(path, os.O_RDWR | os.O_NONBLOCK)


def put_device(path):
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))  # zeros without end
    except OSError:
        pytest.skip("only root makes devices")


def put_giant(path):
    with open(path, "wb") as file:
        file.truncate(entry_files._LARGEST + 1)  # no byte of it is on disk


@posix
@pytest.mark.parametrize("put", [put_folder, put_pipe, put_device, put_giant])
def test_what_is_no_file_of_machine_code_is_neither_read_nor_copied_and_mended(files, tmp_path, put, monkeypatch):
    made, notes = files
    path, _ = made._path("key")
    held = put(path)
    handles = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
    path.chmod(0o600)
    with monkeypatch.context() as patch:
        patch.setattr(entry_files.os, "read", lambda *args: pytest.fail("read"))
        copy_own(tmp_path, tmp_path / "copy", below=tmp_path, target_below=tmp_path)
        assert list((tmp_path / "copy").iterdir()) == []
        assert made.load("key") is None
    if handles:
        assert len(os.listdir("/proc/self/fd")) == handles
    assert "discarded" in notes[-1]
    assert not path.exists()
    made.save("key", 1)
    assert made.load("key") == 1
    if held is not None:
        os.close(held)


def test_code_that_is_too_large_is_not_kept(files, tmp_path, monkeypatch):
    made, _ = files
    made.save("key", 1)
    monkeypatch.setattr(entry_files, "_LARGEST", 200)
    with pytest.raises(OSError, match="too large to be kept"):
        made.save("key", bytes(300))
    assert made.load("key") == 1


@posix
def test_a_folder_that_changes_hands_after_it_was_checked_is_not_read(files, tmp_path):
    """It may stand in one where others rename what they like, and be a link to anything by now."""
    made, notes = files
    made.save("key", Marker(tmp_path / "run"))
    tmp_path.chmod(0o777)
    assert made.load("key") is None
    assert f"{tmp_path} can be written to by other users" in notes[-1]
    tmp_path.chmod(0o700)
    assert not (tmp_path / "run").exists()


def test_a_cache_on_a_disk_that_can_only_be_read_is_read(run, tmp_path, fresh_python):
    first = run()
    code = textwrap.dedent(RUN.format(umask=0o022, dtype="float64")).replace(
        "import numpy as np",
        """
from kernreg.engine.compiler import entry_files, private_folders
def refused(*args, **named): raise OSError(30, "Read-only file system")
private_folders.os.access = lambda *args: False
private_folders.os.mkdir = entry_files.os.replace = refused
import numpy as np""",
        1,
    )
    found = fresh_python(code, KERNREG_CACHE_DIR=tmp_path / "cache")
    assert (found["K"], found["hits"], found["misses"]) == (first["K"], first["misses"], 0)
    assert "not writable" in found["problem"]


def test_the_folder_of_a_process_is_made_anew_where_it_was_cleaned_away():
    folder = private_folders.of_this_process()
    assert private_folders.of_this_process() == folder
    folder.rmdir()
    again = private_folders.of_this_process()
    assert again != folder
    again.rmdir()
    again.symlink_to(folder.parent)  # somebody takes the name
    try:
        assert private_folders.of_this_process() not in (again, folder)
    finally:
        again.unlink()


# Folders -------------------------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("umask", [0o000, 0o002, 0o777])
def test_folders_are_private_whatever_the_umask(umask, tmp_path):
    before = os.umask(umask)
    try:
        folder = make_private(tmp_path / "cache" / "compiled" / "v" / "f", below=tmp_path / "cache")
    finally:
        os.umask(before)
    for place in (folder, *folder.parents[:3]):
        assert stat.S_IMODE(place.stat().st_mode) == 0o700


@posix
def test_folders_of_others_and_folders_others_can_write_to_are_unsafe(tmp_path):
    folder = make_private(tmp_path / "compiled" / "f", below=tmp_path)
    tmp_path.chmod(0o777)  # above what is checked: it may be shared
    require_private(folder, below=tmp_path)
    for place in (folder, folder.parent):
        for mode in (0o770, 0o702):
            place.chmod(mode)
            with pytest.raises(UnsafeFolder, match="can be written to by other users"):
                require_private(folder, below=tmp_path)
        place.chmod(0o700)
    if os.geteuid() == 0:
        os.chown(folder.parent, 12345, 12345)
        with pytest.raises(UnsafeFolder, match="belongs to another user"):
            make_private(folder, below=tmp_path)
        os.chown(folder.parent, 0, 0)
        (tmp_path / "link").symlink_to(folder.parent)
        os.lchown(tmp_path / "link", 12345, 12345)
        with pytest.raises(UnsafeFolder, match="belongs to another user"):
            require_private(tmp_path / "link" / "f", below=tmp_path)


@posix
def test_a_link_that_somebody_puts_where_a_folder_is_being_made_changes_no_permissions(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    (tmp_path / "compiled").symlink_to(tmp_path / "open")
    private_folders._make(tmp_path / "compiled")  # there was nothing a moment ago
    assert stat.S_IMODE((tmp_path / "open").stat().st_mode) == 0o755


@posix
def test_a_link_to_nothing_of_somebody_else_is_unsafe(tmp_path, monkeypatch):
    (tmp_path / "compiled").symlink_to(tmp_path / "nothing")
    monkeypatch.setattr(private_folders.os, "geteuid", lambda: os.lstat(tmp_path).st_uid + 1)
    with pytest.raises(UnsafeFolder, match="belongs to another user"):
        make_private(tmp_path / "compiled" / "f", below=tmp_path)


@posix
def test_the_folder_of_one_function_that_others_can_write_to_is_named(tmp_path):
    with config_context(cache_dir=tmp_path):
        folder = make_private(cache.directory() / "rbf-epilogue-1", below=tmp_path)
        assert cache.describe()["cache problem"] == cache._reason_without_disk
        folder.chmod(0o777)
        assert f"{folder} can be written to by other users" in cache.describe()["cache problem"]


@posix
def test_a_cache_that_cannot_be_looked_at_is_described(tmp_path):
    (tmp_path / "compiled").symlink_to("compiled")  # a loop; permissions do not stop root
    with config_context(cache_dir=tmp_path):
        found = cache.describe()
        assert (found["cached functions"], "symbolic links" in found["cache problem"]) == (0, True)
        assert cache.clear() == 0


def test_a_cache_whose_name_is_too_long_is_described(tmp_path):
    with config_context(cache_dir=tmp_path / ("long" * 100)):
        assert cache.of_function(max, "max", "0") is None
        assert (cache.describe()["cached functions"], cache.clear()) == (0, 0)
        assert "too long" in cache.describe()["cache problem"]


def test_files_that_go_while_they_are_counted_are_not_counted(tmp_path, monkeypatch):
    with config_context(cache_dir=tmp_path):
        folder = make_private(cache.directory() / "rbf-epilogue-1", below=tmp_path)
        (folder / "a.code").write_bytes(b"123")
        listed = os.walk
        monkeypatch.setattr(cache.os, "walk", lambda top: [(r, d, [*names, "gone"]) for r, d, names in listed(top)])
        assert cache.entries() == [("rbf-epilogue-1", 3)]


def test_the_folder_of_a_process_goes_with_it_and_not_with_its_children():
    code = """
        import os, sys
        from kernreg.engine.compiler.private_folders import of_this_process
        folder = of_this_process()
        if hasattr(os, "fork"):
            child = os.fork()
            if child == 0:
                sys.exit()
            os.waitpid(child, 0)
        assert folder.is_dir()
        print(folder)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert not Path(done.stdout.strip()).exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_the_folder_of_a_process_forked_by_multiprocessing_goes_with_it():
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_tell_folder, args=(sending,))
    process.start()
    folder = receiving.recv()
    process.join()
    assert "kernreg-cache-" in str(folder)
    assert not folder.exists()


def _tell_folder(sending):
    sending.send(private_folders.of_this_process())


# Processes -----------------------------------------------------------------------------------------------------


@posix
def test_an_unsafe_cache_is_not_read_a_private_one_is_used_and_doctor_says_so(run, tmp_path):
    first = run(umask=0)
    assert (first["problem"], first["misses"] > 0) == (None, True)
    assert run()["misses"] == 0
    for place in (tmp_path / "cache").rglob("*"):
        if place.is_dir():
            place.chmod(0o777)
    for file in (tmp_path / "cache").rglob("*.code"):  # planted by somebody who may write here, with a right checksum
        content = file.read_bytes()
        start = content.index(b"\n") + 33
        key = content[start + 8 : start + 8 + int.from_bytes(content[start : start + 8], "big")]
        file.write_bytes(entry_files._sealed(key, pickle.dumps(Marker(tmp_path / "run"))))
    unsafe = run()
    assert unsafe["misses"] == first["misses"]
    assert "can be written to by other users" in unsafe["problem"]
    assert not (tmp_path / "run").exists()
    doctor = subprocess.run(
        [sys.executable, "-m", "kernreg.cli", "doctor"],
        env={**os.environ, "KERNREG_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
    )
    assert "written to by other users" in " ".join(doctor.stdout.split())


def test_one_flipped_bit_in_machine_code_changes_no_result(run, tmp_path):
    first = run()
    rng = np.random.default_rng(0)
    for file in (tmp_path / "cache").rglob("*.code"):
        content = bytearray(file.read_bytes())
        content[int(rng.integers(len(content) // 4, len(content)))] ^= 4
        file.write_bytes(content)
    again = run()
    assert again["K"] == first["K"]
    assert (again["hits"], again["misses"]) == (0, first["misses"])
    assert run()["misses"] == 0  # repaired


def test_processes_of_both_precisions_at_once_leave_a_cache_that_serves_both(run, tmp_path):
    environment = {**os.environ, "KERNREG_CACHE_DIR": str(tmp_path / "cache")}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(RUN.format(umask=0o022, dtype=dtype))],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for dtype in ("float64", "float32", "float64", "float32")
    ]
    assert [json.loads(process.communicate()[0])["problem"] for process in started] == [None] * 4
    assert [process.returncode for process in started] == [0] * 4
    assert run()["misses"] == 0
    assert run(dtype="float32")["misses"] == 0


def test_windows_has_no_such_permissions(monkeypatch, tmp_path):
    monkeypatch.delattr(private_folders.os, "geteuid", raising=False)
    (tmp_path / "open").mkdir(mode=0o777)
    require_private(tmp_path / "open", below=tmp_path)
