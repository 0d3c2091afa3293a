"""The claim of a slug as the small stand-in of its record: what other writes ask of it."""

from zataku.kifu.items import SlugClaim
from zataku.table import Condition, Key, path

claimed_by = path(SlugClaim, lambda claim: claim.kifu_id)
text = path(SlugClaim, lambda claim: claim.text)


def claim_key(claim: SlugClaim) -> Key[SlugClaim]:
    """Where the claim lies."""
    return SlugClaim.key(username=claim.username, slug=claim.slug)


def still_stands(claim: SlugClaim) -> Condition[SlugClaim]:
    """The record is still there, under the slug that was read."""
    return claimed_by.equals(claim.kifu_id)


def same_text(claim: SlugClaim) -> Condition[SlugClaim]:
    """The record is still there, and its moves have not changed since the claim was read."""
    return still_stands(claim) & text.equals(claim.text)
