"""Every kind of value that may stand in a model comes back as it was, type and all."""

from __future__ import annotations

import math
from collections import OrderedDict

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from kernreg.persistence.arrays import ArrayTable, as_bytes, open_windows, read_windows
from kernreg.persistence.container import read_json, write_json
from kernreg.persistence.decode import Decoder
from kernreg.persistence.encode import Encoder


def there_and_back(value):
    """Through JSON text and raw bytes, without a file."""
    encoder = Encoder()
    found = read_json(write_json(encoder.encode(value)))
    windows, memories = encoder.arrays.windows()
    return Decoder(through_bytes(windows, memories), []).decode(found)


def through_bytes(windows, memories):
    sizes = [as_bytes(memory).nbytes for memory in memories]
    described = read_windows([read_json(write_json(window.as_json())) for window in windows], sizes)
    shared = {}

    def give(member, apart):
        copy = memoryview(bytearray(as_bytes(memories[member]).tobytes()))
        return copy if apart else shared.setdefault(member, copy)

    return open_windows(described, give)


def same(a, b) -> bool:
    """Equal in value and type, NaN included, inside of containers too."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if a.dtype == object:
            return a.shape == b.shape and all(map(same, a.flat, b.flat))
        native = a.dtype.newbyteorder("=")
        alike = b.dtype.newbyteorder("=") == native and a.shape == b.shape
        return alike and a.astype(native).tobytes() == b.astype(native).tobytes()
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    if isinstance(a, float | np.floating):
        return (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, dict):
        return len(a) == len(b) and all(
            same(k, j) and same(v, w) for (k, v), (j, w) in zip(a.items(), b.items(), strict=True)
        )
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


VALUES = {
    "none": None,
    "flags": [True, False],
    "integers": [0, -1, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 10**40, -(10**40)],
    "floats": [0.0, -0.0, 0.1, 1e-320, 1.7e308, math.nan, math.inf, -math.inf, math.pi],
    "text": ["", "σ, γ and 🙂", 'quotes " and \\', "\x00\n", "\ud800"],
    "bytes": [b"", bytes(range(256))],
    "complex": [1 + 2j, complex(math.nan, -math.inf)],
    "slices": [slice(None), slice(1, 5, 2), slice("a", "b"), range(3, 100, 7)],
    "nested": ([1, (2, [3, ()])], {"a": {"b": (None,)}}, [[]]),
    "keys": {1: "int", 1.5: "float", None: "none", ("a", 2): "tuple", b"x": "bytes", np.int64(7): "numpy"},
    "mixed keys": {"a": 1, 2: "b"},
    "sets": [set(), {1, "a", (2, 3)}, frozenset({1.5, None})],
    "ordered": OrderedDict(b=1, a=2),
    "bunch": Bunch(left=1, right=[2]),
    "scalars": [
        *(np.float64(0.1), np.float32(0.1), np.float16(0.1), np.float64("nan"), np.float32("-inf"), np.bool_(True)),
        *(np.int8(-5), np.uint64(2**64 - 1), np.int64(-(2**63)), np.str_(""), np.str_("text"), np.bytes_(b"b\x00c")),
        *(np.complex64(1 - 2j), np.datetime64("2024-02-29T12:00"), np.timedelta64(5, "s"), np.float32(1e-45)),
    ],
    "types": [float, int, str, object, np.float32, np.int64, np.dtype("f4"), np.dtype("U7"), np.dtype(object)],
    "functions": [np.tanh, np.log1p, np.add, balanced_accuracy_score],
    "objects": np.array(["a", None, 1.5, b"c", ("t", 1), np.float32(3)], dtype=object),
    "table of objects": np.array([["a", "b"], ["c", None]], dtype=object),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_come_back(name):
    assert same(there_and_back(VALUES[name]), VALUES[name])


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.text(), st.booleans()), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(json_like)
def test_nested_values_come_back(value):
    assert same(there_and_back(value), value)


@given(
    hnp.arrays(
        dtype=st.one_of(
            hnp.floating_dtypes(sizes=(16, 32, 64), endianness="?"),
            hnp.integer_dtypes(endianness="?"),
            hnp.unsigned_integer_dtypes(),
            hnp.complex_number_dtypes(sizes=(64, 128)),
            hnp.boolean_dtypes(),
            hnp.unicode_string_dtypes(min_len=1, max_len=5),
            hnp.byte_string_dtypes(min_len=1, max_len=5),
            hnp.datetime64_dtypes(),
            hnp.timedelta64_dtypes(),
        ),
        shape=hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
    )
)
def test_arrays_of_every_dtype_come_back(array):
    assert same(there_and_back(array), array)


@given(st.data())
def test_the_layout_of_an_array_comes_back(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5))
    base = np.arange(math.prod(shape), dtype=float).reshape(shape)
    index = data.draw(hnp.basic_indices(shape, allow_ellipsis=False))
    view = base[index]
    if not isinstance(view, np.ndarray):
        return
    view = view.transpose(data.draw(st.permutations(range(view.ndim))))
    again = there_and_back(view)
    assert same(again, view)
    assert again.flags.c_contiguous == view.flags.c_contiguous
    assert again.flags.f_contiguous == view.flags.f_contiguous
    # Sums and products depend on the order of memory and on where there are gaps.
    if view.size > 1:
        moved = [n for n, length in enumerate(view.shape) if length > 1]
        assert np.argsort([abs(view.strides[n]) for n in moved], kind="stable").tolist() == (
            np.argsort([abs(again.strides[n]) for n in moved], kind="stable").tolist()
        )
        assert [np.sign(view.strides[n]) for n in moved] == [np.sign(again.strides[n]) for n in moved]
    with_base = there_and_back([base, view])
    assert same(with_base[1], view)
    if view.size:
        assert np.shares_memory(*with_base)
        assert with_base[1].strides == view.strides


@pytest.mark.parametrize("part", [np.s_[:1], np.s_[:3], np.s_[:0], np.s_[2:], np.s_[:3, :1], np.s_[0]], ids=str)
def test_the_first_rows_of_an_array_come_back_beside_it(part):
    base = np.arange(12.0).reshape(4, 3)
    again = there_and_back([base, base[part]])
    assert same(again[1], base[part])
    assert np.shares_memory(*again) == bool(base[part].size)


def test_products_with_a_strided_vector_are_the_same_to_the_last_bit():
    rng = np.random.default_rng(0)
    wide, A = rng.normal(size=(301, 7)), rng.normal(size=(50, 301))
    for vector in (wide[:, 3], wide[::-1, 0], np.asfortranarray(wide)[:, 2], wide.T[1]):
        again = there_and_back(vector)
        assert (A @ again).tobytes() == (A @ vector).tobytes()
        assert float(again @ again) == float(vector @ vector)


def test_what_lies_between_the_items_of_a_view_is_not_written():
    secret = np.full((50, 2), 12345.678)
    secret[:, 0] = 1.0
    table = ArrayTable()
    table.add(secret[:, 0])
    _, (memory,) = table.windows()
    assert set(memory.tolist()) == {0.0, 1.0}


def test_a_small_part_of_a_large_array_is_all_that_is_written():
    large = np.zeros((10_000, 100))
    table = ArrayTable()
    table.add(large[5, :10])
    _, (memory,) = table.windows()
    assert memory.nbytes == 80


def test_shared_memory_is_written_once_and_shared_again():
    a = np.arange(24.0).reshape(4, 6)
    value = [a, a, a.T, a[1:3], a[:, ::2], a.reshape(-1)[::-1]]
    encoder = Encoder()
    encoder.encode(value)
    assert len(encoder.arrays.windows()[1]) == 1
    again = there_and_back(value)
    assert again[0] is again[1]
    again[0][...] = 7.0
    assert all((part == 7.0).all() for part in again)


def test_equal_arrays_are_written_once_and_stay_apart():
    a = np.random.default_rng(0).normal(size=(300, 10))
    value = [a, a.copy(), a.copy(order="F")]
    encoder = Encoder()
    encoder.encode(value)
    _, memories = encoder.arrays.windows()
    assert len(memories) == 2  # the other order is other bytes
    again = there_and_back(value)
    assert not np.shares_memory(again[0], again[1])
    assert same(again, value)


def test_one_item_that_stands_for_many_is_written_out():
    value = np.broadcast_to(np.arange(3.0), (5, 3))
    assert same(there_and_back(value), np.array(value))
    base = np.arange(3.0)
    assert same(there_and_back([base, np.broadcast_to(base, (5, 3))])[1], np.array(value))


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "dia"])
def test_sparse_matrices_come_back(form, kind):
    dense = np.where(np.random.default_rng(0).random((6, 8)) < 0.4, np.arange(48.0).reshape(6, 8), 0.0)
    value = getattr(sp, f"{form}_{kind}")(dense.astype(np.float32))
    again = there_and_back(value)
    assert type(again) is type(value)
    assert again.dtype == value.dtype
    np.testing.assert_array_equal(again.toarray(), value.toarray())


def test_the_index_type_of_a_sparse_matrix_comes_back():
    value = sp.csr_array(np.eye(4))
    value.indices, value.indptr = value.indices.astype(np.int64), value.indptr.astype(np.int64)
    again = there_and_back(value)
    assert (again.indices.dtype, again.indptr.dtype) == (np.int64, np.int64)


@pytest.mark.parametrize("algorithm", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_generators_go_on_where_they_were(algorithm):
    source = getattr(np.random, algorithm)
    for value in (np.random.Generator(source(5)), np.random.RandomState(source(5))):
        value.normal(size=3)
        value.integers(9, dtype=np.uint32) if hasattr(value, "integers") else value.randint(9)
        again = there_and_back(value)
        assert type(again) is type(value)
        np.testing.assert_array_equal(again.normal(size=50), value.normal(size=50))
    generator = np.random.Generator(source(5))
    assert there_and_back(generator).spawn(2)[1].random() == generator.spawn(2)[1].random()
    assert there_and_back(source(3)).random_raw() == source(3).random_raw()


def test_values_that_something_refers_to_twice_are_one_object():
    shared = [1, 2]
    again = there_and_back({"a": shared, "b": (shared, shared)})
    assert again["a"] is again["b"][0] is again["b"][1]


def test_methods_of_estimators_come_back():
    from kernreg.registry.naming.allowed_classes import find

    scaler = StandardScaler().fit(np.arange(6.0).reshape(3, 2))
    encoder = Encoder()
    found = read_json(write_json(encoder.encode(scaler.transform)))
    named = [(asked, find(asked, "here")) for asked in encoder.requirements]
    transform = Decoder(through_bytes(*encoder.arrays.windows()), named).decode(found)
    assert transform([[1.0, 2.0]]).tolist() == scaler.transform([[1.0, 2.0]]).tolist()
