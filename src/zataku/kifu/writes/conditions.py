"""Conditions that several writes share: on the claim of a record's slug, and on the caps of a user.

The claim stands in for its record: a check in a transaction costs as much as a write of the item, and a record is
large.
"""

from zataku.kifu.entities import SlugClaim, SystemSettings, UserSettings
from zataku.kifu.limits import UserName
from zataku.table import Condition, Key, Path, path

claimed_by = path(SlugClaim, lambda claim: claim.kifu_id)
text = path(SlugClaim, lambda claim: claim.text)
kifu_count = path(UserSettings, lambda user: user.kifu_count)
tag_count = path(UserSettings, lambda user: user.tag_count)
kifu_max = path(UserSettings, lambda user: user.kifu_max)
tag_max = path(UserSettings, lambda user: user.tag_max)

DEFAULTS = SystemSettings()
# The owner of what the design document makes up.
NEW_USER = UserSettings(username=UserName("username"))


def claim_key(claim: SlugClaim) -> Key[SlugClaim]:
    """Where the claim lies."""
    return SlugClaim.key(username=claim.username, slug=claim.slug)


def claim_unchanged(claim: SlugClaim) -> Condition[SlugClaim]:
    """The record is still there, under the slug that was read."""
    return claimed_by.equals(claim.kifu_id)


def text_unchanged(claim: SlugClaim) -> Condition[SlugClaim]:
    """The record is still there, and its moves have not changed since the claim was read."""
    return claim_unchanged(claim) & text.equals(claim.text)


def below_cap(
    count: Path[UserSettings, int | None], own: Path[UserSettings, int | None], cap: int | None, most: int
) -> Condition[UserSettings]:
    """There is room for one more, and the user's own cap is still the one that was read."""
    unchanged = own.missing() if cap is None else own.equals(cap)
    return (count.missing() | count.below(most)) & unchanged
