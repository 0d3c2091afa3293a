"""Zataku, the low table people sit around: five community systems and the single-table layer under them."""

from importlib.metadata import version

__version__ = version("zataku")
