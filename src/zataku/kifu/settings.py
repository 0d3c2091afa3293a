"""Writes about caps, and the room that they leave."""

from zataku.kifu.design import kifu_table
from zataku.kifu.errors import UnfitChange
from zataku.kifu.items import SystemSettings, UserSettings
from zataku.kifu.limits import KifuCap, NamedUser, TagCap, UserName
from zataku.table import Budget, Condition, Path, Plan, path, put, save, update

kifu_count = path(UserSettings, lambda user: user.kifu_count)
tag_count = path(UserSettings, lambda user: user.tag_count)
kifu_max = path(UserSettings, lambda user: user.kifu_max)
tag_max = path(UserSettings, lambda user: user.tag_max)

DEFAULTS = SystemSettings()
# The owner of what the design document makes up.
NEWCOMER = UserSettings(username=UserName("username"))


def room_below(
    count: Path[UserSettings, int | None], own: Path[UserSettings, int | None], cap: int | None, most: int
) -> Condition[UserSettings]:
    """There is room for one more, and the user's own cap is still the one that was read."""
    unchanged = own.missing() if cap is None else own.equals(cap)
    return (count.missing() | count.below(most)) & unchanged


@kifu_table.write(budget=Budget(writes=2))
def welcome_user(username: NamedUser) -> Plan[UserSettings]:
    """A user gets a library, once."""
    return Plan(put(UserSettings(username=username, kifu_count=0, tag_count=0), if_absent=True))


@kifu_table.write(budget=Budget(writes=2))
def set_kifu_cap(username: NamedUser, cap: KifuCap | None) -> Plan[UserSettings]:
    """The host gives a user a cap of records of their own, or with None the system's. What is there already stays."""
    return Plan(update(UserSettings.key(username=username), kifu_max.set(cap)))


@kifu_table.write(budget=Budget(writes=2))
def set_tag_cap(username: NamedUser, cap: TagCap | None) -> Plan[UserSettings]:
    """The host gives a user a cap of tags of their own, or with None the system's. What is there already stays."""
    return Plan(update(UserSettings.key(username=username), tag_max.set(cap)))


@kifu_table.write(budget=Budget(writes=2), example={"settings": SystemSettings(kifu_max=3000), "was": DEFAULTS})
def set_system_caps(settings: SystemSettings, was: SystemSettings | None) -> Plan[SystemSettings]:
    """The host changes the caps of all users who have none of their own, if what changes is as it was read.

    With None there were none yet. Additions that have read the old caps pass.
    """
    if was is None:
        return Plan(put(settings, if_absent=True))
    if settings == was:
        raise UnfitChange("The system has these caps already.")
    return Plan(save(settings, was=was))
