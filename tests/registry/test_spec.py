from __future__ import annotations

import contextlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernreg.errors import SpecError
from kernreg.registry import Spec, format_spec, parse_spec


@pytest.mark.parametrize(
    ("text", "name", "args", "kwargs"),
    [
        ("rbf", "rbf", (), {}),
        ("  rbf  ", "rbf", (), {}),
        ("rbf()", "rbf", (), {}),
        ("rbf (1)", "rbf", (1,), {}),
        ("sne(sigma=2.0)", "sne", (), {"sigma": 2.0}),
        ("sne(sigma=-2.5e-3,)", "sne", (), {"sigma": -0.0025}),
        ("a(+1, --1, -inf)", "a", (1, 1, -math.inf), {}),
        ("rational-quadratic(1, c=inf)", "rational-quadratic", (1,), {"c": math.inf}),
        ("v1.2-x_y", "v1.2-x_y", (), {}),
        ("Kernreg_Graph:katz('x')", "Kernreg_Graph:katz", ("x",), {}),
        (
            "a((1, 2), [3, (4,)], {'b': None, 5: [True, False]}, ())",
            "a",
            ((1, 2), [3, (4,)], {"b": None, 5: [True, False]}, ()),
            {},
        ),
        ("ask-ls(kernel='sne(sigma=2)', gamma=1)", "ask-ls", (), {"kernel": "sne(sigma=2)", "gamma": 1}),
        ("a('one(two=\"three(x=\\'y\\')\")')", "a", ("one(two=\"three(x='y')\")",), {}),
        ("a(\n  b=1,\n  c='é',\n)", "a", (), {"b": 1, "c": "é"}),
        ("a(')', '(', ',')", "a", (")", "(", ","), {}),
        ("3d(1)", "3d", (1,), {}),
        ("a(1e999)", "a", (math.inf,), {}),
    ],
)
def test_specs_that_are_read(text, name, args, kwargs):
    assert parse_spec(text) == Spec(name, args, kwargs)


def test_nested_specs_are_strings_that_parse_again():
    outer = parse_spec("chain(solver=\"ask-ls(kernel='sne(sigma=2)')\")")
    inner = parse_spec(outer.kwargs["solver"])
    assert parse_spec(inner.kwargs["kernel"]) == Spec("sne", (), {"sigma": 2})


def test_nan_is_read():
    assert math.isnan(parse_spec("a(nan)").args[0])


@pytest.mark.parametrize(
    ("text", "position", "part"),
    [
        ("", 0, "empty"),
        ("(1)", 0, "name"),
        ("-rbf", 0, "name"),
        ("rbf)", 3, "'('"),
        ("rbf sigma", 4, "'('"),
        ("rbf: x", 3, "'('"),
        ("rbf(", 3, "never closed"),
        ("rbf(sigma=foo)", 10, "needs quotes: 'foo'"),
        ("rbf('é', sigma=foo)", 15, "needs quotes: 'foo'"),
        ("rbf(1,\n  foo)", 9, "needs quotes: 'foo'"),
        ("rbf(1 + 2)", 4, "1 + 2 is not a literal"),
        ("rbf(2 ** 1000)", 4, "not a literal"),
        ("rbf(__import__('os').system('true'))", 4, "not a literal"),
        ("rbf(open('x'))", 4, "not a literal"),
        ("rbf(a.b)", 4, "not a literal"),
        ("rbf([x for x in ()])", 4, "not a literal"),
        ("rbf(lambda: 1)", 4, "not a literal"),
        ("rbf(f'{x}')", 4, "not a literal"),
        ("rbf(x := 1)", 4, "not a literal"),
        ("rbf(...)", 4, "not a literal"),
        ("rbf(b'x')", 4, "not a literal"),
        ("rbf(1j)", 4, "not a literal"),
        ("rbf({1, 2})", 4, "not a literal"),
        ("rbf(not True)", 4, "not a literal"),
        ("rbf(-'x')", 4, "sign"),
        ("rbf(-True)", 4, "sign"),
        ("rbf(*[1])", 4, "not a literal"),
        ("rbf(**{'a': 1})", 6, "**"),
        ("rbf({**{}})", 7, "**"),
        ("rbf({[1]: 2})", 5, "key of a dict"),
        ("rbf(a=1, a=2)", 9, "given twice"),
        ("rbf(a=1, 2)", 10, "positional argument"),
        ("rbf(1)(2)", 3, "goes on after"),
        ("rbf(1).x", 3, "goes on after"),
        ("rbf(1) + 2", 3, "goes on after"),
        ("rbf(1), 2", 3, "goes on after"),
        ("rbf(1); 2", 6, ""),
        ("rbf(1)\nx", None, ""),
        ("rbf(\0)", 3, "null"),
        ("rbf(" + "9" * 5000 + ")", None, ""),
        ("rbf(" + "[" * 5000, None, ""),
        ("rbf(" + "-" * 50000 + "1)", None, ""),
    ],
)
def test_specs_that_are_refused_say_where_and_why(text, position, part):
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    message = str(caught.value)
    assert part in message
    if position is not None:
        assert f"at position {position}," in message
        assert "Arguments are literals" in message


def test_the_caret_points_at_the_place():
    with pytest.raises(SpecError) as caught:
        parse_spec("rbf(sigma=foo)")
    lines = str(caught.value).split("\n")
    assert lines[1:3] == ["    rbf(sigma=foo)", "              ^"]


@pytest.mark.parametrize("value", [None, 3, b"rbf", ["rbf"]])
def test_a_spec_is_a_string(value):
    with pytest.raises(SpecError, match="a spec is a string"):
        parse_spec(value)


def test_nothing_is_evaluated(tmp_path):
    mark = tmp_path / "mark"
    with pytest.raises(SpecError):
        parse_spec(f"rbf(open({str(mark)!r}, 'w'))")
    assert not mark.exists()


def test_numpy_scalars_are_written_as_numbers():
    written = format_spec("a", (np.float64(2.0), np.int32(3)), {"b": np.bool_(True), "c": np.array(0.5)})
    assert written == "a(2.0, 3, b=True, c=0.5)"


@pytest.mark.parametrize("value", [object(), 1j, b"x", {1}, np.zeros(2), [object()], {"a": len}])
def test_what_is_not_a_literal_is_not_written(value):
    with pytest.raises(SpecError, match="cannot be written"):
        format_spec("a", (value,))


@pytest.mark.parametrize("name", ["", "a b", "a(1)", "a:", ":a", 3])
def test_bad_names_are_not_written(name):
    with pytest.raises(SpecError, match="not a name"):
        format_spec(name)


@pytest.mark.parametrize("key", ["lambda", "a b", "1a", 3])
def test_bad_parameter_names_are_not_written(key):
    with pytest.raises(SpecError, match="cannot be the name of a parameter"):
        format_spec("a", (), {key: 1})


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8"))
literals = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(st.characters(codec="utf-8")) | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)
names = st.from_regex(r"([a-z][a-z0-9-]{0,5}:)?[a-z][a-z0-9_.-]{0,8}", fullmatch=True)
keys = st.from_regex(r"p_[a-z]{1,5}", fullmatch=True)


@given(names, st.lists(literals, max_size=3).map(tuple), st.dictionaries(keys, literals, max_size=3))
def test_format_and_parse_are_inverse(name, args, kwargs):
    text = format_spec(name, args, kwargs)
    spec = parse_spec(text)
    assert spec == Spec(name, args, kwargs)
    assert repr(spec) == repr(Spec(name, args, kwargs))  # tells -0.0 from 0.0 and True from 1
    assert str(spec) == text


@given(st.text(max_size=30))
def test_any_text_gives_a_spec_or_a_spec_error(text):
    with contextlib.suppress(SpecError):
        parse_spec(text)


def test_lines_end_as_in_windows_files_and_a_lone_carriage_return_is_refused():
    assert parse_spec("a(b=1,\r\n  c='\\r')") == Spec("a", (), {"b": 1, "c": "\r"})
    with pytest.raises(SpecError, match="at position 3, x is not a literal"):
        parse_spec("a(\r\nx)")
    for text in ("a(\rx)", "a(b.c,\r)", "a('''\r''')"):
        with pytest.raises(SpecError, match="carriage return"):
            parse_spec(text)


@pytest.mark.filterwarnings("default")  # what Python thinks of it depends on its version and on the filters
@pytest.mark.parametrize("escape", ["\\d", "\\777"])
def test_escapes_that_python_warns_of_are_refused(escape, recwarn):
    with pytest.raises(SpecError, match="escape sequence"):
        parse_spec(f"a('{escape}')")
    assert not recwarn.list
    assert parse_spec("a('\\\\d')").args == ("\\d",)


@pytest.mark.parametrize("number", ["0x" + "f" * 4000, "-0b" + "1" * 20_000, "[0o" + "7" * 6000 + "]"])
def test_integers_have_a_width_that_messages_can_show(number):
    with pytest.raises(SpecError, match="more than 4096 bits"):
        parse_spec(f"a(b={number})")
    assert parse_spec(f"a(b={10**1000})").kwargs == {"b": 10**1000}


@pytest.mark.parametrize("text", ["a" * 201, f"a({'b' * 201}=1)"])
def test_names_have_a_length_that_messages_can_show(text):
    with pytest.raises(SpecError, match="200"):
        parse_spec(text)
