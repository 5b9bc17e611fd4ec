"""A file is replaced whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from kernreg.common import atomic
from kernreg.common.atomic import replacing

needs_links = pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="needs symbolic links")


@pytest.fixture(params=["nameless", "named", "link refused"])
def way(request, monkeypatch):
    """The ways a temporary file is made, whichever this system has by itself."""
    if request.param == "nameless" and not hasattr(os, "O_TMPFILE"):
        pytest.skip("this system has no nameless files")
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    if request.param == "link refused":

        def refuse(*arguments, **options):
            raise PermissionError(errno.EPERM, "no")

        monkeypatch.setattr(os, "link", refuse)
    return request.param


def test_the_new_content_is_there_after_the_block_and_not_before(tmp_path, way):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, way, error):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def write() -> None:
        with replacing(path) as file:
            file.write(b"new")
            raise error

    with pytest.raises(error):
        write()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_at_any_step_leaves_the_old_file_and_nothing_else(tmp_path, way, step, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail(*arguments, **options):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="no space"), replacing(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs limits of one process")
def test_an_error_of_a_full_disk_names_the_file(tmp_path, way):
    import resource
    import signal

    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(OSError, match="too large") as told, replacing(tmp_path / "a") as file:
            file.write(bytes(100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert told.value.filename == str(tmp_path / "a")
    assert os.listdir(tmp_path) == []


def test_a_name_that_ends_like_a_folder_is_no_file(tmp_path):
    with pytest.raises(IsADirectoryError, match="give a file name"), replacing(f"{tmp_path}/a/"):
        pass
    assert os.listdir(tmp_path) == []


def test_content_reaches_the_disk_before_the_name_and_the_name_before_the_end(tmp_path, monkeypatch):
    steps = []
    fsync, replace = os.fsync, os.replace

    def record_fsync(descriptor):
        steps.append("fsync folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "fsync file")
        fsync(descriptor)

    def record_replace(*arguments):
        steps.append("replace")
        replace(*arguments)

    monkeypatch.setattr(atomic.os, "fsync", record_fsync)
    monkeypatch.setattr(atomic.os, "replace", record_replace)
    with replacing(tmp_path / "a") as file:
        file.write(b"new")
    assert steps == ["fsync file", "replace", "fsync folder"]


@needs_links
def test_a_link_stays_one_and_what_it_points_to_is_replaced(tmp_path, way):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "real", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.skipif(os.name == "nt", reason="needs permissions of Unix")
def test_permissions_are_those_of_the_old_file_or_of_any_new_one(tmp_path, way):
    path = tmp_path / "a"
    before = os.umask(0o027)
    try:
        with replacing(path):
            pass
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        with replacing(path):
            pass
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(before)


def test_a_folder_is_not_replaced_and_one_that_is_missing_is_named(tmp_path):
    with pytest.raises(IsADirectoryError), replacing(tmp_path):
        pass
    missing = tmp_path / "nowhere" / "a"
    with pytest.raises(FileNotFoundError, match=r"the folder to write to does not exist.*nowhere"), replacing(missing):
        pass


def test_long_and_odd_names(tmp_path, way):
    for name in ("x" * 255, "ä b\nc", "-rf", ".hidden"):
        with replacing(tmp_path / name) as file:
            file.write(name.encode())
        assert (tmp_path / name).read_bytes() == name.encode()


def test_only_files_are_replaced_and_no_numerical_package_is_needed():
    code = "import sys; from kernreg.persistence import replacing; assert not {'numpy', 'sklearn'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.skipif(os.name == "nt", reason="needs fork")
def test_a_process_killed_while_saving_leaves_the_old_file_or_the_whole_new_one(tmp_path):
    program = Path(__file__).parent / "kill_while_saving.py"
    done = subprocess.run(
        [sys.executable, str(program), str(tmp_path), "50"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    killed, changed, unchanged = map(int, done.stdout.split())
    assert killed == 50
    assert changed > 0
    assert unchanged > 0


def destroyed(path):
    with replacing(path) as file:
        file.write(b"new")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_only_ordinary_files_are_replaced(tmp_path, way):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for name in ("pipe", "link"):
        with pytest.raises(OSError, match="is a pipe, and only ordinary files are written to"):
            destroyed(tmp_path / name)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    if os.geteuid() == 0:
        try:
            os.mknod(tmp_path / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        except PermissionError:  # a container may forbid it
            return
        with pytest.raises(OSError, match="is a device"):
            destroyed(tmp_path / "null")
        assert stat.S_ISCHR((tmp_path / "null").stat().st_mode)
    assert len(list(tmp_path.iterdir())) == (3 if os.geteuid() == 0 else 2)


def test_a_file_that_becomes_a_pipe_meanwhile_is_not_replaced(tmp_path, way):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def exchanged():
        with replacing(path) as file:
            file.write(b"new")
            path.unlink()
            os.mkfifo(path)

    with pytest.raises(OSError, match="is a pipe"):
        exchanged()
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_stays(tmp_path, way):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    os.chown(path, 12345, 23456)
    destroyed(path)
    status = path.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (12345, 23456, 0o640)
    assert path.read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "fchown"), reason="this system has no owners")
def test_a_file_whose_owner_cannot_be_kept_is_left_alone(tmp_path, way, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    real = os.fstat

    class Another:
        def __init__(self, status):
            self.status, self.st_uid, self.st_gid = status, status.st_uid + 1, status.st_gid + 1

        def __getattr__(self, name):
            return getattr(self.status, name)

    def refuse(*arguments):
        raise PermissionError(errno.EPERM, "no")

    monkeypatch.setattr(atomic.os, "fstat", lambda descriptor: Another(real(descriptor)))
    monkeypatch.setattr(atomic.os, "fchown", refuse)
    with pytest.raises(PermissionError, match="belongs to another user"):
        destroyed(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
