"""What `make docs` checks of the built site, on a site of a few lines."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "docs/_extensions/check_site.py"
GOOD = '<html><body id="top"><a href="b.html#here">b</a><a href="https://elsewhere.example">e</a>{}</body></html>'


@pytest.fixture
def check(tmp_path):
    spec = importlib.util.spec_from_file_location("check_site", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "b.html").write_text('<p id="here"><a href="index.html#top">back</a><a href="./">home</a></p>')

    def problems(body, css=""):
        (tmp_path / "index.html").write_text(GOOD.format(body))
        (tmp_path / "style.css").write_text(css)
        return list(module.problems(tmp_path))

    return problems


def test_a_sound_site_has_no_problems(check):
    assert check('<script src="b.html"></script><img src="data:image/png;base64,AA">') == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<a href="c.html">', "index.html: c.html leads nowhere"),
        ('<a href="../../etc/passwd">', "index.html: ../../etc/passwd leads nowhere"),
        ('<a href="b.html#there">', "index.html: b.html#there names a place that is not there"),
        ('<a href="#nowhere">', "index.html: #nowhere names a place that is not there"),
        ('<img src="missing.png">', "index.html: missing.png leads nowhere"),
        ('<script src="https://cdn.example/x.js"></script>', "index.html: loads https://cdn.example/x.js"),
        ('<script src="//cdn.example/x.js"></script>', "index.html: loads //cdn.example/x.js"),
        ('<link rel="stylesheet" href="https://cdn.example/x.css">', "index.html: loads https://cdn.example/x.css"),
    ],
)
def test_a_problem_is_found(check, body, problem):
    assert check(body) == [problem]


def test_styles_load_nothing_from_elsewhere(check):
    assert check("", "@font-face { src: url('https://fonts.example/a.woff2') }") != []
    assert check("", "@font-face { src: url('fonts/a.woff2') }") == []
