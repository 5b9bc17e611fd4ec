from __future__ import annotations

import click
import pytest

from kernreg.engine import Engine
from kernreg.registry.checks import problem_with


class Solver:
    def __init__(self, gamma=1.0, *, kernel="rbf", **options): ...
    def fit(self, X, y=None): ...
    def get_params(self, deep=True): ...
    def set_params(self, **params): ...


class Ensembler:
    def fit(self, views, y): ...
    def merge(self, views): ...


class MyEngine(Engine):
    def place(self, samples, check=None): ...
    def map_rows(self, kernel, X, Z, function, combine="concatenate", *, args=()): ...


class WithoutArgs(MyEngine):
    def map_rows(self, kernel, X, Z, function, combine="concatenate"): ...


class WithoutCheck(MyEngine):
    def place(self, samples): ...


class OneMatrix(MyEngine):
    def matrix(self, kernel, X): ...


class WithoutPlace(Engine):
    def map_rows(self, kernel, X, Z, function, combine="concatenate", *, args=()): ...


class Family:
    __kernreg_kernel__ = True

    def __call__(self): ...


class Varargs(Solver):
    def __init__(self, *things): ...


class NoY(Solver):
    def fit(self, X): ...


class TooMany(Ensembler):
    def merge(self, views, y): ...


class Static(Ensembler):
    @staticmethod
    def merge(views): ...


class NotTrue(Family):
    __kernreg_kernel__ = "yes"


@pytest.mark.parametrize(
    ("kind", "obj"),
    [
        ("kernel", Family()),
        ("solver", Solver),
        ("ensembler", Ensembler),
        ("ensembler", Static),
        ("engine", MyEngine),
        ("command", click.Command("name")),
        ("command", click.Group("name")),
        ("another kind", 3),
    ],
)
def test_right_shapes(kind, obj):
    assert problem_with(kind, obj) == ""


@pytest.mark.parametrize(
    ("kind", "obj", "part"),
    [
        ("kernel", 3, "type 'int'"),
        ("kernel", lambda x: x, "@kernreg.kernel"),
        ("kernel", NotTrue(), "decorator"),
        ("solver", Solver(), "type 'Solver'"),
        ("solver", Ensembler, "has no get_params and set_params"),
        ("solver", Varargs, "takes *args"),
        ("solver", NoY, "cannot be called as fit(X, y)"),
        ("ensembler", Solver, "has no merge"),
        ("ensembler", TooMany, "cannot be called as merge(views)"),
        ("ensembler", None, "type 'NoneType'"),
        ("engine", Solver, "derived from kernreg.engine.Engine"),
        ("engine", MyEngine(), "type 'MyEngine'"),
        (
            "engine",
            WithoutArgs,
            "the class 'WithoutArgs' cannot be called as map_rows(kernel, X, Z, function, combine, args=…)",
        ),
        ("engine", WithoutCheck, "the class 'WithoutCheck' cannot be called as place(samples, check)"),
        ("engine", OneMatrix, "cannot be called as matrix(kernel, X, Z, out)"),
        ("engine", WithoutPlace, "the class 'WithoutPlace' does not define place"),
        ("command", lambda: None, "@click.command()"),
        ("command", click.Command, "a command is a click.Command, this is the class"),
        ("command", None, "type 'NoneType'"),
    ],
)
def test_wrong_shapes_say_what_is_missing(kind, obj, part):
    assert part in problem_with(kind, obj)
