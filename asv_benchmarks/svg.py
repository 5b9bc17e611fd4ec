"""Line plots as SVG text: what the pages draw with, since they may load nothing."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b37400", "#3a9bd1", "#666666")
Lines = Mapping[str, Sequence[tuple[float, float]]]

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 460, 250, 58, 30, 12, 14


def _axis(values: list[float], logarithmic: bool, start: float, end: float) -> Callable[[float], float]:
    if not logarithmic:
        low, high = 0.0, 1.1 * max(values)
        return lambda value: start + (end - start) * (value - low) / (high - low or 1.0)
    low, high = math.log(min(values)), math.log(max(values))
    low, high = low - 0.06 * (high - low or 1.0), high + 0.06 * (high - low or 1.0)
    return lambda value: start + (end - start) * (math.log(value) - low) / (high - low)


def _ticks(values: list[float], logarithmic: bool) -> list[float]:
    if not logarithmic:
        top = 1.1 * max(values)
        return [top * step / 4 for step in range(5)]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    steps = (1,) if high - low > 3 else (1, 2, 5)
    every = [step * 10.0**power for power in range(low, high + 1) for step in steps]
    return [tick for tick in every if min(values) / 1.05 <= tick <= 1.05 * max(values)] or [min(values), max(values)]


def number(value: float) -> str:
    """Return a number as a reader would write it."""
    return f"{value:,.0f}".replace(",", "\u2009") if value >= 1000 else f"{value:.3g}"


def plot(lines: Lines, title: str, across: str, up: str, *, log_x: bool = True, log_y: bool = True) -> str:
    """Return a figure: the picture, and below it its title and one legend entry per line."""
    xs = sorted({x for line in lines.values() for x, _ in line})
    ys = [y for line in lines.values() for _, y in line]
    x_at = _axis(xs, log_x, _LEFT, _WIDTH - _RIGHT)
    y_at = _axis(ys, log_y, _HEIGHT - _BOTTOM, _TOP)
    label = html.escape(f"{title}: {up} against {across}")
    parts = [f"<svg viewBox='0 0 {_WIDTH} {_HEIGHT}' role='img' aria-label='{label}'>"]
    for tick in _ticks(ys, log_y):
        y = y_at(tick)
        parts.append(f"<line class='grid' x1='{_LEFT}' x2='{_WIDTH - _RIGHT}' y1='{y:.1f}' y2='{y:.1f}'/>")
        parts.append(f"<text x='{_LEFT - 6}' y='{y + 4:.1f}' text-anchor='end'>{number(tick)}</text>")
    shown = xs if len(xs) <= 8 else [xs[0], xs[-1]]
    last = -math.inf
    for x in shown:
        if x_at(x) - last >= 34:  # labels that would overlap are left out
            last = x_at(x)
            parts.append(f"<text x='{last:.1f}' y='{_HEIGHT - _BOTTOM + 15}' text-anchor='middle'>{number(x)}</text>")
    parts.append(
        f"<text class='axis' x='{_WIDTH - _RIGHT}' y='{_HEIGHT - 2}' text-anchor='end'>{html.escape(across)}</text>"
    )
    legend = []
    for (name, line), colour in zip(lines.items(), COLOURS * 9, strict=False):
        points = [(x_at(x), y_at(y)) for x, y in sorted(line)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='2'/>")
        parts += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' fill='{colour}'/>" for x, y in points]
        legend.append(f"<span style='color:{colour}'>●</span> {html.escape(name)}")
    parts.append("</svg>")
    caption = f"<strong>{html.escape(title)}</strong>, {html.escape(up)} against {html.escape(across)}"
    picture, names = "".join(parts), "<br>".join(legend)
    return f"<figure><figcaption>{caption}</figcaption>{picture}<p class='legend'>{names}</p></figure>"
