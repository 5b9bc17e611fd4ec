from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kernreg.cli.installation.badge import CheckResult, json_text, read_result, svg
from kernreg.cli.installation.plugin_index import markdown_page, read_index

ROOT = Path(__file__).parents[3]

RESULT = CheckResult(
    "kernreg-heat",
    "kernreg-heat",
    "1.2",
    "0.1.0",
    "1.0",
    26,
    27,
    ("kernel heat", "kernel cold"),
    ("kernel cold: shape",),
)
LIST = """
title = "Plugins & more"

[[plugin]]
distribution = "kernreg-heat"
summary = "Heat <flow>."
home = "https://example.org/heat"
result = "heat.json"

[[plugin]]
distribution = "kernreg-other"
summary = "Another one."
"""


@pytest.fixture
def listed(tmp_path):
    (tmp_path / "plugins.toml").write_text(LIST)
    (tmp_path / "heat.json").write_text(json_text(RESULT))
    return tmp_path / "plugins.toml"


def test_a_result_is_read_as_it_was_written(listed):
    assert read_result(listed.parent / "heat.json") == RESULT
    assert json.loads(json_text(RESULT))["message"] == "26/27, API 1.0"


def test_the_page_is_one_file_and_shows_everything(listed, run):
    page = listed.parent / "index.html"
    result = run("plugin-index", str(listed), "-o", str(page))
    assert result.exit_code == 0, result.output
    assert result.stdout == f"wrote {page}: 2 plugins, 1 of them checked\n"
    text = page.read_text()
    assert svg(RESULT) in text
    for part in ("Plugins &amp; more", "Heat &lt;flow&gt;.", "<code>heat</code>, <code>cold</code>", "not checked yet"):
        assert part in text
    assert "broken: kernel cold: shape" in text
    assert "Version 1.2, checked with kernreg 0.1.0, plugin API 1.0." in text
    assert not [address for address in links(text) if address != "https://example.org/heat"]
    assert run("plugin-index", str(listed), "-o", str(page)).exit_code == 0  # its own page is replaced


def links(text: str) -> list[str]:
    found: list[str] = []

    class Links(HTMLParser):
        def handle_starttag(self, tag, attributes):
            found.extend(value or "" for name, value in attributes if name in ("href", "src"))

    Links().feed(text)
    return found


def test_a_page_of_somebody_else_stays(listed, run):
    page = listed.parent / "index.md"
    page.write_text("mine")
    result = run("plugin-index", str(listed), "-o", str(page))
    assert result.exit_code == 2
    assert "kernreg did not write it" in result.stderr
    assert page.read_text() == "mine"
    assert run("plugin-index", str(listed), "-o", str(page), "--force").exit_code == 0
    assert "![26 of 27 laws hold, plugin API 1.0](heat.svg)" in page.read_text()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("title = ", "is not a TOML file"),
        ('title = "none"', "it lists no plugin"),
        ('plugins = 1\n[[plugin]]\ndistribution="a"\nsummary="b"', "it has plugins"),
        ('[[plugin]]\ndistribution="a"', "it needs distribution and summary"),
        ('[[plugin]]\ndistribution="a"\nsummary="b"\nhome="javascript:x"', "an address starts with https://"),
        ('[[plugin]]\ndistribution="a"\nsummary="b"\nresult="x.json"', "kernreg check a --badge"),
        ('[[plugin]]\ndistribution="a"\nsummary="b"\nresult="plugins.toml"', "is not the result of a check"),
        ('[[plugin]]\ndistribution="a"\nsummary="b"\n' * 2, "a is listed twice"),
    ],
)
def test_a_list_that_is_wrong_says_how(listed, run, text, told):
    listed.write_text(text)
    result = run("plugin-index", str(listed), "-o", str(listed.parent / "index.html"))
    assert result.exit_code == 2
    assert told in result.stderr
    assert not (listed.parent / "index.html").exists()


def test_a_page_ends_in_html_or_md(listed, run):
    assert "ends in .html" in run("plugin-index", str(listed), "-o", str(listed.parent / "index.pdf")).stderr


def test_the_index_of_this_repository_is_made_of_its_list_and_lists_every_plugin():
    folder = ROOT / "docs/extend"
    title, about, plugins = read_index(folder / "plugins.toml")
    assert {each.distribution for each in plugins} == {path.name for path in (ROOT / "plugins").glob("kernreg-*")}
    assert (folder / "plugin_index.md").read_text() == markdown_page(title, about, plugins)
    for each in plugins:
        assert (folder / each.badge).read_text() == svg(each.result)
        assert each.result.broken == ()
