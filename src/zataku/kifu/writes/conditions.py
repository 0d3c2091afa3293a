"""Conditions that several writes share: on the claim of a record's slug, and on the caps of a user.

The claim stands in for its record: a condition check in a transaction costs as much as a write of the item, and a
record is large.
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
# The owner of the examples in the design document.
NEW_USER = UserSettings(username=UserName("username"))


def claim_key(claim: SlugClaim) -> Key[SlugClaim]:
    """The key of a claim."""
    return SlugClaim.key(username=claim.username, slug=claim.slug)


def claim_unchanged(claim: SlugClaim) -> Condition[SlugClaim]:
    """The condition that the record still exists with this slug."""
    return claimed_by.equals(claim.kifu_id)


def text_unchanged(claim: SlugClaim) -> Condition[SlugClaim]:
    """The condition that the record still exists with this slug and these moves."""
    return claim_unchanged(claim) & text.equals(claim.text)


def below_cap(
    count: Path[UserSettings, int | None], own: Path[UserSettings, int | None], own_cap: int | None, cap: int
) -> Condition[UserSettings]:
    """The condition that the count is below the cap, and that the user's own cap is as it was read."""
    unchanged = own.missing() if own_cap is None else own.equals(own_cap)
    return (count.missing() | count.below(cap)) & unchanged
