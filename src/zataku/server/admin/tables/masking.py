"""What not even an admin is shown: hashes of passwords, cookies and keys."""

from zataku.table import Item

SECRETS = frozenset({"password", "tokenHash", "keyHash"})
DOTS = "••••••••"
_SHOWN = 8


def masked(item: Item) -> tuple[Item, list[str]]:
    """The item with dots for its secrets, and their names. Of one within a key, the first letters are left."""
    names = sorted(SECRETS.intersection(item))
    texts = [value for value in (item[name] for name in names) if isinstance(value, str) and value]
    shown = {name: DOTS if name in SECRETS else _without(value, texts) for name, value in item.items()}
    return shown, names


def _without(value: object, texts: list[str]) -> object:
    if isinstance(value, str):
        for text in texts:
            value = value.replace(text, f"{text[:_SHOWN]}…")
    return value
