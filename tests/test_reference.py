"""The reference: every public name and every plugin has a page and an example, without building the site."""

from __future__ import annotations

import doctest
import importlib
import sys
from pathlib import Path

import pytest

EXTENSIONS = Path(__file__).parents[1] / "docs/_extensions"


@pytest.fixture(scope="module", autouse=True)
def extensions():
    """The site's own modules, which need neither Sphinx nor an installation."""
    sys.path.insert(0, str(EXTENSIONS))
    yield
    sys.path.remove(str(EXTENSIONS))


@pytest.fixture(scope="module")
def public(extensions):
    found = importlib.import_module("public")
    for plugin in found.PLUGINS:
        pytest.importorskip(plugin, reason="the reference has the plugins of this repository, too")
    return found


def names(public):
    return [name for module in public.modules() for name in public.names(module)]


def test_every_public_name_says_what_it_is(public):
    silent = [name for name in names(public) if not public.docstring(name.value) and not public.comment(name)]
    assert silent == []


def test_every_public_name_has_an_example(public):
    """Doctests of modules run by themselves, in this suite; constants are their own example."""
    things = [name for name in names(public) if public.docstring(name.value)]
    assert [f"{name.module}.{name.name}" for name in things if ">>>" not in public.docstring(name.value)] == []
    assert len(things) > 250


@pytest.mark.parametrize("kind", ["kernel", "solver", "ensembler", "engine"])
def test_everything_registered_has_an_example(public, kind):
    ours = [pair for pair in public.registered(kind) if pair[0].distribution.startswith("kernreg")]
    assert [entry.name for entry, value in ours if ">>>" not in public.docstring(value)] == []
    assert ours


def test_a_colon_in_the_docstring_of_a_property_makes_no_type_of_it(extensions):
    """napoleon takes what stands before the colon of an attribute for its type."""
    napoleon = pytest.importorskip("sphinx.ext.napoleon")
    config = napoleon.Config(napoleon_use_ivar=True)
    lines = importlib.import_module("docstrings").without_type(["What is compared: the score, with ties settled."])
    text = str(napoleon.NumpyDocstring(lines, config, what="property", name="quality"))
    assert "What is compared: the score, with ties settled." in text
    assert ":type:" not in text


def test_the_examples_of_kernels_run(public):
    """Families are objects, not functions, and so pytest does not find their docstrings."""
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for entry, family in public.registered("kernel"):
        names = {**vars(sys.modules[family.module])}
        runner.run(doctest.DocTestParser().get_doctest(family.doc, names, entry.name, family.module, 0))
    assert runner.failures == 0
    assert runner.tries > 100


def test_every_public_name_is_on_a_page(public, tmp_path):
    pages = importlib.import_module("api_pages")
    pages.write(tmp_path)
    kernels = {id(family): entry.name for entry, family in public.registered("kernel")}
    for module in public.modules():
        text = (tmp_path / f"reference/api/{module}.rst").read_text(encoding="utf-8")
        for name in public.names(module):
            kernel = kernels.get(id(name.value))
            page = f"/reference/kernels/{kernel}" if kernel else f"/{name.page}"
            assert f"<{page}>" in text
            if not kernel:
                own = (tmp_path / f"{name.page}.rst").read_text(encoding="utf-8")
                assert f":: {name.module}.{name.name}\n" in own
    paths = [str(path).lower() for path in tmp_path.rglob("*.rst")]
    assert len(paths) == len(set(paths))  # no two differ in case alone, which some disks do not tell apart


def test_pages_of_names_that_are_gone_are_removed(public, tmp_path):
    gone = tmp_path / "reference/api/kernreg/gone.rst"
    gone.parent.mkdir(parents=True)
    gone.write_text("gone")
    importlib.import_module("api_pages").write(tmp_path)
    assert not gone.exists()


def test_formulas_of_docstrings_become_latex():
    formula = importlib.import_module("formula")
    assert formula.parts("exp(-|x - y|² / sigma²).") == [
        ("math", r"\exp (-\lVert x - y\rVert ^{2} / \sigma ^{2})"),
    ]
    assert formula.as_rst("Σ_d min(x_d, y_d), for non-negative features.") == (
        r":math:`\sum _d \min (x_d, y_d)`, for non-negative features"
    )


def test_docstrings_become_restructured_text():
    docstrings = importlib.import_module("docstrings")
    lines = ["|x|² and `loo` and loo_path_, ``a | b_``", "", "    >>> a | b_", "    c_"]
    assert docstrings.as_rst(lines[:3]) == [r"\|x\|² and ``loo`` and loo_path\_, ``a | b_``", "", "    >>> a | b_"]
