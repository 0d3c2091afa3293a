"""A line chart on logarithmic axes, as SVG with its own background for light and dark pages."""

import math
from collections.abc import Iterable, Sequence
from html import escape

import msgspec

WIDTH, HEIGHT = 860, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 200, 60, 58
# Pixels between two labels at the ends of lines.
_LABEL_SPACING = 17
_PAPER, _INK, _FAINT, _GRID = "#fbfaf6", "#26221c", "#6b6459", "#e2ddd2"


class Point(msgspec.Struct, frozen=True):
    """A measured value. One that is only a lower bound is drawn hollow."""

    x: float
    y: float
    at_least: bool = False


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A series of values."""

    name: str
    colour: str
    points: Sequence[Point]
    dashed: bool = False


class _Axis:
    """One logarithmic axis between two pixel coordinates."""

    def __init__(self, values: Iterable[float], begin: float, end: float) -> None:
        bounds = list(values)
        self._low, self._high = math.log10(min(bounds)), math.log10(max(bounds))
        self._begin, self._end = begin, end

    def at(self, value: float) -> float:
        """The pixel coordinate of a value; the middle when all values are equal."""
        width = self._high - self._low
        share = (math.log10(value) - self._low) / width if width else 0.5
        return round(self._begin + share * (self._end - self._begin), 1)


def chart(title: str, lines: Sequence[Line], *, x: str, y: str, note: str = "") -> str:
    """The lines, each with a label at its end. The x axis has ticks at the values, the y axis at powers of ten."""
    points = [point for line in lines for point in line.points]
    ticks = _powers([point.y for point in points])
    x_axis = _Axis([point.x for point in points], _LEFT + 24, WIDTH - _RIGHT - 24)
    y_axis = _Axis(ticks, HEIGHT - _BOTTOM, _TOP)
    elements = [
        _text(_LEFT - 60, 30, title, size=17, weight="bold"),
        *(_rule(y_axis.at(tick), f"{tick:,g}") for tick in ticks),
        *(
            _text(x_axis.at(value), HEIGHT - 34, f"{value:,g}", "middle")
            for value in sorted({point.x for point in points})
        ),
        _text((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 12, x, "middle", colour=_FAINT),
        _text(_LEFT - 60, 48, y, colour=_FAINT),
        _text(WIDTH - 14, HEIGHT - 12, note, "end", colour=_FAINT),
        *(_line(line, x_axis, y_axis) for line in lines),
        *_labels(lines, y_axis),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" font-family="system-ui, sans-serif" font-size="13">\n<title>{escape(title)}</title>\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="{_PAPER}"/>\n' + "\n".join(elements) + "\n</svg>\n"
    )


def _powers(values: Sequence[float]) -> list[float]:
    """Powers of ten around the values, at least two."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return [10.0**power for power in range(low, max(high, low + 1) + 1)]


def _rule(height: float, text: str) -> str:
    end = WIDTH - _RIGHT
    rule = f'<line x1="{_LEFT}" x2="{end}" y1="{height}" y2="{height}" stroke="{_GRID}"/>'
    return rule + _text(_LEFT - 10, height + 4, text, "end")


def _line(line: Line, x_axis: _Axis, y_axis: _Axis) -> str:
    dots = [(x_axis.at(point.x), y_axis.at(point.y), point.at_least) for point in line.points]
    path = " ".join(f"{x},{y}" for x, y, _ in dots)
    dashes = ' stroke-dasharray="6 5"' if line.dashed else ""
    stroke = f'stroke="{line.colour}" stroke-width="2.5"'
    circles = (
        f'<circle cx="{x}" cy="{y}" r="4.5" fill="{_PAPER if hollow else line.colour}" {stroke}/>'
        for x, y, hollow in dots
    )
    return f'<polyline points="{path}" fill="none" {stroke}{dashes}/>' + "".join(circles)


def _labels(lines: Sequence[Line], y_axis: _Axis) -> Iterable[str]:
    """Names at the ends of the lines, moved apart where they would overlap."""
    lowest = -math.inf
    for line in sorted(lines, key=lambda line: y_axis.at(line.points[-1].y)):
        lowest = max(y_axis.at(line.points[-1].y) + 4, lowest + _LABEL_SPACING)
        yield _text(WIDTH - _RIGHT + 8, lowest, line.name, colour=line.colour, weight="bold")


def _text(
    x: float, y: float, text: str, anchor: str = "start", *, colour: str = _INK, size: int = 13, weight: str = "normal"
) -> str:
    position = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}"'
    return f'<text {position} fill="{colour}" font-size="{size}" font-weight="{weight}">{escape(text)}</text>'
