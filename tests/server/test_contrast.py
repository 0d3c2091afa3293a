"""Text can be read by day and by night: the colours of start.css hold WCAG AA."""

import re
from pathlib import Path

import pytest

import zataku.server

CSS = (Path(zataku.server.__file__).parent / "static" / "start.css").read_text(encoding="utf-8")
DAY, NIGHT = CSS.split("@media (prefers-color-scheme: dark)")[:2]

TEXT = [("ink", "ground"), ("ink2", "ground"), ("ink3", "ground"), ("ink", "paper"), ("ink2", "paper")]
TEXT += [("ink3", "paper"), ("onwood", "wood"), ("onacc", "shu"), ("onacc", "ai"), ("shu", "paper")]
SHAPES = [(pigment, "paper") for pigment in ("shu", "matsu", "kin", "ai", "ebi")]
DARK_INK = "#1C2320"


def colours(part: str) -> dict[str, str]:
    return dict(re.findall(r"--(\w+): (#[0-9A-F]{6});", part.split("}")[0]))


def luminance(colour: str) -> float:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("part", [DAY, NIGHT], ids=["day", "night"])
def test_text_stands_out_from_what_it_is_written_on(part: str):
    token = colours(part)
    for text, surface in TEXT:
        assert contrast(token[text], token[surface]) >= 4.5, (text, surface)
    for shape, surface in SHAPES:
        assert contrast(token[shape], token[surface]) >= 3, (shape, surface)


@pytest.mark.parametrize("part", [DAY, NIGHT], ids=["day", "night"])
def test_what_is_written_on_things_stays_readable_at_night(part: str):
    token = colours(part)
    for thing in ("koma", "canvas"):
        assert contrast(DARK_INK, token[thing]) >= 7, thing
