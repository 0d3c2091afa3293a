"""Zataku, the low table people sit around: five community systems and the single-table layer under them."""

__version__: str


def __getattr__(name: str) -> str:
    # Reading the version of an installed package is slow, and most importers do not need it.
    if name != "__version__":
        raise AttributeError(name)
    from importlib.metadata import version

    return version("zataku")
