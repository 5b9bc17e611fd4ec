from __future__ import annotations

import json

from kernreg.cli.installation.info import ParameterInfo, class_parameters, describe

PLUGIN = '''
    from kernreg import kernel
    from kernreg.kernels import choice, positive
    from sklearn.base import BaseEstimator

    @kernel(of="blocks", symmetric=False, inputs="nonnegative", parameters={"mode": choice("a", "b")},
            example=lambda rng, n: (odd(3.0), rng.random((n, 2))))
    def odd(X, Z, power, mode="a"):
        """Σ x_d^power z_d.

        A longer story [bold]told[/] here.
        """
        return (X**power) @ Z.T

    class Solver(BaseEstimator):
        """Solves nothing.

        And says so.
        """
        def __init__(self, kernel="rbf", gamma: float = 1.0):
            self.kernel, self.gamma = kernel, gamma
        def fit(self, X, y):
            return self
'''


def test_info_tells_the_options_of_a_command(run):
    info = json.loads(run("info", "command", "gram", "--json").stdout)
    assert info["summary"].startswith("Write the kernel matrix")
    assert {"name": "DATA", "type": "path", "default": "required"} in info["parameters"]
    assert "commands  info, clear, warm" in run("info", "command", "cache").stdout


def test_info_without_a_kind_says_which_to_write(run):
    result = run("info", "rbf")
    assert result.exit_code == 2
    assert "the kind comes before the name: kernreg info kernel rbf" in " ".join(result.stderr.split())
    assert "'nothing' is not one of" in run("info", "nothing").stderr


def test_info_tells_formula_parameters_properties_and_origin(run):
    text = run("info", "kernel", "rbf").stdout
    for piece in [
        "rbf (kernel)",
        "exp(",
        "sqeuclidean",
        "symmetric",
        "positive semi-definite",
        "sigma",
        "1.0",
    ]:
        assert piece in text
    assert "kernreg.kernels.builtin:rbf" in text


def test_describe_a_kernel_of_a_plugin(install):
    install("odd-plugin", PLUGIN, kernels={"odd": "odd"})
    info = describe("kernel", "odd")
    assert info.summary == "Σ x_d^power z_d."
    assert info.description == "A longer story [bold]told[/] here."
    assert info.properties["symmetry"] == "asymmetric"
    assert info.properties["definiteness"] == "not declared"
    assert "non-negative" in info.properties["samples"]
    power, mode = info.parameters
    assert (power.name, power.default) == ("power", "required")
    assert (mode.name, mode.type, mode.default) == ("mode", "one of 'a', 'b'", "'a'")
    assert (info.distribution, info.version, info.status) == ("odd-plugin", "1.0", "loaded")
    assert describe("kernel", "odd-plugin:odd") == info


def test_text_of_a_plugin_is_not_taken_for_markup(run, install):
    install("odd-plugin", PLUGIN, kernels={"odd": "odd"})
    assert "A longer story [bold]told[/] here." in run("info", "kernel", "odd").stdout


def test_describe_a_solver_of_a_plugin(run, install):
    install("odd-plugin", PLUGIN, solvers={"nothing": "Solver"})
    record = json.loads(run("info", "solver", "nothing", "--json").stdout)
    assert record["summary"] == "Solves nothing."
    assert record["parameters"] == [
        {"name": "kernel", "type": "any", "default": "'rbf'"},
        {"name": "gamma", "type": "float", "default": "1.0"},
    ]
    assert run("info", "solver", "nothing").stdout.startswith("nothing (solver)\nSolves nothing.\n")


def test_parameters_without_default_are_required():
    class Engine:
        def __init__(self, address: str, workers: int | None = None): ...

    assert class_parameters(Engine) == (
        ParameterInfo("address", "str", "required"),
        ParameterInfo("workers", "int | None", "None"),
    )
