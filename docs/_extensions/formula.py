"""Formulas as docstrings write them, "exp(-|x - y|² / sigma²), for real features.", as words and LaTeX.

Every token is translated by itself: functions, Greek letters, superscripts, norms. Fractions stay on the line, as they
are written. Words of the sentence around a formula stay words.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import groupby

FUNCTIONS = {
    **{name: rf"\{name} " for name in ("exp", "log", "cos", "sinh", "cosh", "tanh", "max", "min")},
    **{name: rf"\mathrm{{{name}}}" for name in ("KL", "JS", "mean")},
    "mean_r": r"\mathrm{mean}_r\,",
    "sqrt": r"\surd ",
    "range_k": r"\mathrm{range}_k",
    "n_bins": r"\mathrm{bins}",
}
GREEK_NAMES = (
    *("sigma", "rho", "alpha", "beta", "gamma", "tau", "nu", "theta", "phi"),
    *("kappa", "delta", "lambda", "mu", "pi", "omega", "chi", "eta"),
)
GREEK = {name: rf"\{name} " for name in GREEK_NAMES} | dict(
    zip("σραβγτνθφκδλμπωχη", (rf"\{name} " for name in GREEK_NAMES), strict=True)
)
SYMBOLS = {
    "Σ": r"\sum ",
    "Π": r"\prod ",
    "√": r"\surd ",
    "⟨": r"\langle ",
    "⟩": r"\rangle ",
    "·": r"\cdot ",
    "⊙": r"\odot ",
    "‖": r"\,\Vert\,",
    "≥": r"\ge ",
    "≤": r"\le ",
    "½": r"\tfrac12 ",
    "²": "^{2}",
    "³": "^{3}",
    "₁": "_{1}",
    "⁻¹": "^{-1}",
    "ᵀ": "^{T}",
    "λ_min": r"\lambda_{\min}",
    "**": "^",
    "k0": "k_0",
}
MEANING = {**FUNCTIONS, **GREEK, **SYMBOLS}
TOKEN = re.compile(r"``[^`]*``|λ_min|⁻¹|\*\*|\^\([^)]*\)|\d+(?:\.\d+)?|[a-zA-Z](?:[\w-]*[a-zA-Z0-9])?|\s+|.")
WORD = re.compile(r"``.*|(?!\w_\w$)[a-zA-Z][\w-]+$")


def parts(formula: str, parameters: Collection[str] = ()) -> list[tuple[str, str]]:
    r"""Return what a formula consists of: ("math", LaTeX) and ("text", words) in turn.

    Parameters
    ----------
    formula : str
        The first line of a kernel's docstring.
    parameters : collection of str
        Names in it that are no words.

    Examples
    --------
    >>> parts("max(rho - |x - y|₁, 0), for real features.")
    [('math', '\\max (\\rho  - \\lVert x - y\\rVert _{1}, 0)'), ('text', ', for real features')]
    """
    tokens = TOKEN.findall(formula.strip().rstrip("."))
    kinds = _kinds(tokens, parameters)
    found, bars = [], 0
    for kind, pairs in groupby(zip(kinds, tokens, strict=True), key=lambda pair: pair[0]):
        text = ""
        for _, token in pairs:
            if kind == "text":
                text += token.strip("`")
                continue
            if token == "|":
                bars += 1
            text += _latex(token, bars)
        found.append((kind, text))
    return [(kind, text.strip() if kind == "math" else text) for kind, text in found]


def _kinds(tokens: list[str], parameters: Collection[str]) -> list[str]:
    told = [token for token in tokens if not token.isspace()]
    words = [bool(WORD.match(token)) and token not in MEANING and token not in parameters for token in told]
    for place, token in enumerate(told):  # a parameter that is spoken of, and "a" before a word
        before, after = words[max(place - 1, 0)], words[place + 1 : place + 2] == [True]
        words[place] |= before and token in parameters and len(token) > 1 and token not in MEANING
        words[place] |= after and token == "a"
    for place, token in enumerate(told):  # marks beside a word
        before, after = place > 0 and words[place - 1], words[place + 1 : place + 2] == [True]
        words[place] |= (token in ",:(" and after) or (token in ",:)" and before)
    for place in _inside_braces(told):
        words[place] = False
    is_word = iter(words)
    kinds = [" " if token.isspace() else "text" if next(is_word) else "math" for token in tokens]
    for place, kind in enumerate(kinds):
        if kind == " ":
            kinds[place] = "text" if "text" in kinds[place - 1 : place + 2] else "math"
    return kinds


def _inside_braces(tokens: list[str]) -> list[int]:
    depth, found = 0, []
    for place, token in enumerate(tokens):
        depth += (token == "{") - (token == "}")
        if depth:
            found.append(place)
    return found


def _latex(token: str, bars: int) -> str:
    if token == "|":
        return r"\lVert " if bars % 2 else r"\rVert "
    if token.startswith("^("):
        return f"^{{{''.join(_latex(each, 0) for each in TOKEN.findall(token[2:-1]))}}}"
    if token == "in":  # in a subscript: a word elsewhere
        return r"\in "
    if token in MEANING:
        return MEANING[token]
    if re.fullmatch(r"[a-zA-Z][\w-]+", token) and not re.fullmatch(r"[a-zA-Z]_[a-zA-Z0-9]", token):
        return rf"\mathit{{{token}}}".replace("_", r"\_")
    return " " if token.isspace() else token


def as_rst(formula: str, parameters: Collection[str] = ()) -> str:
    r"""Return the formula as a line of reStructuredText.

    >>> print(as_rst("max(x, 0), for real features."))
    :math:`\max (x, 0)`, for real features
    """
    line = ""
    for kind, text in parts(formula, parameters):
        if kind == "math" and text:
            line += rf"\ :math:`{text}`\ " if line else rf":math:`{text}`\ "
        else:
            line += text
    return (
        line.replace("\\  ", " ").replace(" \\ ", " ").replace("`\\ ,", "`,").replace("`\\ :", "`:").removesuffix("\\ ")
    )
