"""The colours of tokens.css: contrast in both themes, and chart lines for colour-blind readers."""

import itertools
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TOKENS = Path(__file__).parents[2] / "web/src/styles/tokens.css"
PIGMENTS = ("shu", "matsu", "kin", "ai", "ebi")
SERIES = ("s1", "s2", "s3", "s4")
PAPERS = ("ground", "paper", "raised")
ONLIT = "#1C2320"
RINGS = ("#1C2320", "#FAFAF4")
TEXT, SHAPE = 4.5, 3.0
Palette = dict[str, str]
Pair = tuple[str, str, str, float]
"""A name, the foreground, the background, and the contrast that they need."""

# Machado, Oliveira and Fernandes 2009, severity 1.
COLOUR_VISION = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def palette(column: int) -> Palette:
    tokens = re.findall(r"--(\w+): light-dark\((#[0-9A-F]+), (#[0-9A-F]+)\);", TOKENS.read_text(encoding="utf-8"))
    return {name: colours[column] for name, *colours in tokens}


PALETTES = {"day": palette(0), "night": palette(1)}


def channels(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in range(1, len(colour), 2)]


def linear(colour: str) -> list[float]:
    parts = [channel / 255 for channel in channels(colour)[:3]]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def contrast(foreground: str, background: str) -> float:
    lights = [
        sum(w * part for w, part in zip((0.2126, 0.7152, 0.0722), linear(c), strict=True))
        for c in (foreground, background)
    ]
    dark, light = sorted(lights)
    return (light + 0.05) / (dark + 0.05)


def mixed(over: str, under: str, share: float) -> str:
    pairs = zip(channels(over)[:3], channels(under)[:3], strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02X}" for a, b in pairs)


def blended(over: str, under: str) -> str:
    """A colour with alpha over another."""
    return mixed(over, under, channels(over)[3] / 255)


def on_paper(colour: Palette) -> Iterator[Pair]:
    for paper in PAPERS:
        for text in ("ink", "ink2", "ink3", "danger", *PIGMENTS):
            yield f"{text} on {paper}", colour[text], colour[paper], TEXT
        yield f"an edge on {paper}", colour["edge"], colour[paper], SHAPE
        yield f"the focus on {paper}", colour["ink"], colour[paper], SHAPE
    for line in SERIES:
        yield f"{line} on paper", colour[line], colour["paper"], SHAPE
    yield "a banner", colour["paper"], colour["ink"], TEXT


def with_pigments(colour: Palette) -> Iterator[Pair]:
    for pigment in (*PIGMENTS, "danger", "ink"):
        yield f"a button in {pigment}", colour["onacc"], colour[pigment], TEXT
        hovered = mixed(colour["ink"], colour[pigment], 0.1)
        yield f"a button in {pigment}, hovered", colour["onacc"], hovered, TEXT
    for pigment in PIGMENTS:
        wash = mixed(colour[pigment], colour["paper"], 0.12)
        for text in (pigment, "ink", "ink2"):
            yield f"{text} on the wash of {pigment}", colour[text], wash, TEXT
    for part in ("paper", "raised"):
        pale = mixed(colour["ink"], colour["paper"], 0.06)
        yield f"a disabled button on {part}", colour["ink3"], pale, TEXT


def on_surfaces(colour: Palette) -> Iterator[Pair]:
    for wood in (colour["wood"], blended(colour["hi"], colour["wood"]), blended(colour["grain"], colour["wood"])):
        yield "text on wood", colour["onwood"], wood, TEXT
    for surface in ("canvas", "koma", "kaya"):
        yield f"ink on {surface}", ONLIT, colour[surface], TEXT
    yield "a promoted piece", colour["nari"], colour["koma"], TEXT
    yield "a candidate's number", colour["shiro"], mixed("#000000", colour["felt"], 0.28), TEXT
    yield "a black stone", colour["kuro"], colour["felt"], SHAPE
    yield "a white stone", colour["shiro"], colour["felt"], SHAPE
    for surface in ("wood", "felt", "kaya", "koma"):
        ring = max(RINGS, key=lambda ring: contrast(ring, colour[surface]))
        yield f"the better ring of the focus on {surface}", ring, colour[surface], SHAPE


@pytest.mark.parametrize("time", PALETTES)
@pytest.mark.parametrize("pairs", [on_paper, with_pigments, on_surfaces])
def test_every_foreground_has_enough_contrast_with_its_background(time: str, pairs):
    weak = {name: round(contrast(a, b), 2) for name, a, b, minimum in pairs(PALETTES[time]) if contrast(a, b) < minimum}
    assert weak == {}


def lab(light: list[float]) -> tuple[float, float, float]:
    to_xyz = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.95047, 1.0, 1.08883)
    xyz = [sum(w * part for w, part in zip(row, light, strict=True)) for row in to_xyz]
    ratios = [max(0.0, part) / full for part, full in zip(xyz, white, strict=True)]
    x, y, z = (ratio ** (1 / 3) if ratio > 0.008856 else 7.787 * ratio + 16 / 116 for ratio in ratios)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def perceived(colour: str, vision: str) -> tuple[float, float, float]:
    light = linear(colour)
    mixed_cones = [sum(w * part for w, part in zip(row, light, strict=True)) for row in COLOUR_VISION[vision]]
    return lab([min(1.0, max(0.0, part)) for part in mixed_cones])


@pytest.mark.parametrize("time", PALETTES)
@pytest.mark.parametrize("vision", COLOUR_VISION)
def test_the_lines_of_a_chart_differ_for_every_kind_of_colour_vision(time: str, vision: str):
    colour = PALETTES[time]
    for first, second in itertools.combinations(SERIES, 2):
        assert math.dist(perceived(colour[first], vision), perceived(colour[second], vision)) >= 17, (first, second)


def test_both_palettes_have_every_colour():
    assert len(PALETTES["day"]) == len(PALETTES["night"]) == 34
