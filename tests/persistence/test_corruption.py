"""Whatever happens to a model file, loading refuses it with one kind of error, runs nothing and takes little memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from persistence.forge import BOMB, Forger, accidents, foreign_zips, headers
from persistence.forgeries import forgeries

import kernreg as kr
from kernreg.errors import DamagedModelFile, ModelFileError, NewerModelFile
from kernreg.persistence import describe

PROGRAM = Path(__file__).parent / "load_all.py"
#: The model itself is 20 kB; what 64 MB of JSON take is the most that any file can ask for.
MEMORY = 400 << 20


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> Path:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(45, 4))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    path = tmp_path_factory.mktemp("good") / "model.kern"
    kr.save(kr.make_solver("ask-ls", kernel="rbf(sigma=2.0)").fit(X, y), path)
    return path


def load_all(folder: Path, good: Path) -> dict:
    """Load every file of the folder in a process with little memory and an eye on it."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder), str(good), str(MEMORY)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_good_file_is_good(good):
    assert kr.load(good).predict(np.zeros((1, 4))).shape == (1,)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is measured as Linux does")
def test_damaged_foreign_and_forged_files_are_refused_and_nothing_is_run(good, tmp_path):
    data = good.read_bytes()
    folder = tmp_path / "files"
    folder.mkdir()
    names: list[str] = []

    def path(name: str) -> Path:
        names.append(name)
        return folder / f"{len(names) - 1:04}.kern"

    for name, changed in (*accidents(data, np.random.default_rng(1)), *headers(data)):
        if changed != data:
            path(name).write_bytes(changed)
    accidental = len(names)
    for name, made in foreign_zips(good, tmp_path):
        made.rename(path(name))
    foreign = len(names)
    assert (folder / f"{names.index('bomb'):04}.kern").stat().st_size < 5 << 20 < MEMORY < BOMB
    forger = Forger(good)
    for name, change in forgeries().items():
        forger.write(path(name), change)
    assert accidental >= 200
    assert len(names) - foreign >= 200

    found = load_all(folder, good)
    assert len(found["report"]) == 2 * len(names)
    accepted = {names[int(file[:4])]: answer for file, answer in found["report"].items() if not answer[1]}
    assert accepted == {}
    assert {answer[0] for file, answer in found["report"].items() if int(file[:4]) < foreign} == {"DamagedModelFile"}
    assert found["events"] == []
    assert found["grown"] < MEMORY
    assert not list(tmp_path.rglob("*canary*"))


def test_a_forger_who_changes_nothing_is_believed(good, tmp_path):
    """So the refusals above are for what was forged."""
    Forger(good).write(tmp_path / "same.kern", lambda forger: None)
    np.testing.assert_array_equal(kr.load(tmp_path / "same.kern").dual_coef_, kr.load(good).dual_coef_)


def test_every_single_byte_of_a_file_counts(tmp_path):
    path = tmp_path / "kernel.kern"
    kr.save(kr.make_kernel("precomputed", K=np.eye(3)), path)
    data = path.read_bytes()
    accepted = []
    for position in range(len(data)):
        path.write_bytes(data[:position] + bytes([data[position] ^ (1 << position % 8)]) + data[position + 1 :])
        try:
            kr.load(path)
        except ModelFileError:
            continue
        accepted.append(position)
    assert accepted == []


def test_every_length_that_a_file_is_cut_to_is_refused(tmp_path):
    path = tmp_path / "kernel.kern"
    kr.save(kr.make_kernel("rbf"), path)
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(DamagedModelFile):
            kr.load(path)


def test_a_changed_bit_in_an_array_is_found_in_mapped_memory_too(good, tmp_path):
    data = bytearray(good.read_bytes())
    body = bytes(kr.load(good).X_fit_.tobytes())
    position = bytes(data).index(body) + len(body) // 2
    data[position] ^= 1
    (tmp_path / "flipped.kern").write_bytes(data)
    for mmap in (True, False):
        with pytest.raises(DamagedModelFile, match=r"arrays/\d+\.bin has the wrong checksum"):
            kr.load(tmp_path / "flipped.kern", mmap=mmap)
    # Whoever does not want it verified gets what is there.
    assert kr.load(tmp_path / "flipped.kern", verify=False).X_fit_.tobytes() != body


def test_without_verification_all_but_the_arrays_is_checked(good, tmp_path):
    data = good.read_bytes()
    refused = 0
    for position in range(data.index(b'{"arrays"'), len(data), 97):
        (tmp_path / "m.kern").write_bytes(data[:position] + bytes([data[position] ^ 4]) + data[position + 1 :])
        with pytest.raises(DamagedModelFile):
            kr.load(tmp_path / "m.kern", verify=False)
        refused += 1
    assert refused > 30


def test_errors_say_what_is_wrong_and_what_to_do(good, tmp_path):
    path = tmp_path / "model.kern"
    path.write_bytes(good.read_bytes()[:-100])
    with pytest.raises(DamagedModelFile, match=r"model\.kern' is not an intact .*cut short.*write it again"):
        kr.load(path)
    forger = Forger(good)
    forger.write(path, lambda f: f.manifest.update(schema=7, written_with={"kernreg": "9.9"}))
    with pytest.raises(NewerModelFile, match=r"kernreg 9\.9 in form 7, .* reads up to form 1\..*pip install --upgrade"):
        kr.load(path)
    forger.write(path, lambda f: f.require("scikit-learn", "os:system"))
    with pytest.raises(DamagedModelFile, match=r"names 'os:system' .*tampered with\. Nothing of it was run"):
        kr.load(path)
    with pytest.raises(FileNotFoundError):
        kr.load(tmp_path / "nothing.kern")
    with pytest.raises(IsADirectoryError):
        kr.load(tmp_path)


def test_a_description_does_nothing_to_a_terminal(good, tmp_path):
    path = tmp_path / "model.kern"
    Forger(good).write(path, lambda f: f.manifest["model"].update({"spec": {"a\x1b[2J": ["\x07", "σ"]}}))
    assert describe(path).model["spec"] == {"a\\x1b[2J": ["\\x07", "σ"]}
