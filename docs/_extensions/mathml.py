"""Formulas as MathML, made while the site is built: nothing to load, and browsers show it by themselves."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def setup(app: Any) -> dict[str, bool]:
    """Make `mathml` a value of html_math_renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def visit_inline(translator: Any, node: nodes.math) -> None:
    """Write a formula of a sentence."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.math_block) -> None:
    """Write a formula that stands by itself; a long one can be scrolled."""
    text = node.astext()
    if r"\\" in text and r"\begin" not in text:  # Sphinx allows several lines without saying so
        text = rf"\begin{{aligned}}{text}\end{{aligned}}"
    translator.body.append(f'<div class="math-block">{convert(text, display="block")}</div>')
    raise nodes.SkipNode
