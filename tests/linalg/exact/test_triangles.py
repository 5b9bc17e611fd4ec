"""The inverse of a triangle, with and without SciPy's table of functions."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from kernreg.linalg.exact import triangles


@pytest.fixture(params=["table", "wrapper"])
def invert_upper(request, monkeypatch):
    if request.param == "wrapper":
        monkeypatch.setattr(triangles, "_dtrtri", lambda: None)
    return triangles.invert_upper


@pytest.mark.parametrize("m", [1, 2, 65, 300])
def test_inverse_of_a_triangle(invert_upper, m):
    rng = np.random.default_rng(m)
    whole = np.asfortranarray(rng.uniform(size=(m, m)) + m * np.eye(m))
    expected = np.linalg.inv(np.triu(whole))
    found = invert_upper(whole.copy(order="F"))
    assert np.allclose(np.triu(found), expected, rtol=1e-12, atol=1e-15)
    assert np.array_equal(np.tril(found, -1), np.tril(whole, -1))


def test_another_order_or_type_is_taken_too(invert_upper):
    U = np.triu(np.random.default_rng(0).uniform(size=(20, 20)) + 5 * np.eye(20))
    assert np.allclose(np.triu(invert_upper(np.ascontiguousarray(U))), np.linalg.inv(U))
    assert np.allclose(np.triu(invert_upper(U.astype(np.float32))), np.linalg.inv(U), atol=1e-5)


def test_a_singular_triangle_is_an_error():
    U = np.asfortranarray(np.triu(np.ones((3, 3))))
    U[1, 1] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match="entry 2 of the diagonal is zero"):
        triangles.invert_upper(U)


@pytest.mark.skipif(triangles._dtrtri() is None, reason="SciPy's table has another form here")
def test_other_threads_run_meanwhile():
    U = np.asfortranarray(np.triu(np.random.default_rng(0).uniform(size=(2000, 2000))) + 2000 * np.eye(2000))
    stamps, done = [], threading.Event()

    def watch():
        while not done.is_set():
            stamps.append(time.monotonic())
            time.sleep(1e-4)

    thread = threading.Thread(target=watch)
    thread.start()
    while not stamps:
        time.sleep(1e-3)
    start = time.monotonic()
    triangles.invert_upper(U)
    end = time.monotonic()
    done.set()
    thread.join()
    assert any(start < stamp < end for stamp in stamps)
