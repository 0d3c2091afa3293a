"""Writes of a user's settings and of the caps on records and tags, and the condition that a cap leaves room."""

from zataku.kifu.design import kifu_table
from zataku.kifu.entities import SystemSettings, UserSettings
from zataku.kifu.errors import InvalidChange
from zataku.kifu.limits import KifuCap, NamedUser, TagCap, UserName
from zataku.table import Budget, Condition, Path, Plan, path, put, save, update

kifu_count = path(UserSettings, lambda user: user.kifu_count)
tag_count = path(UserSettings, lambda user: user.tag_count)
kifu_max = path(UserSettings, lambda user: user.kifu_max)
tag_max = path(UserSettings, lambda user: user.tag_max)

DEFAULTS = SystemSettings()
# The owner of the examples in the design document.
NEW_USER = UserSettings(username=UserName("username"))


@kifu_table.write(budget=Budget(writes=2))
def create_user_settings(username: NamedUser) -> Plan[UserSettings]:
    """Create the settings of a user with an empty library, once."""
    return Plan(put(UserSettings(username=username, kifu_count=0, tag_count=0), if_absent=True))


@kifu_table.write(budget=Budget(writes=2))
def set_kifu_cap(username: NamedUser, cap: KifuCap | None) -> Plan[UserSettings]:
    """Set a user's own cap on records; with None the system's holds. Existing records stay."""
    return Plan(update(UserSettings.key(username=username), kifu_max.set(cap)))


@kifu_table.write(budget=Budget(writes=2))
def set_tag_cap(username: NamedUser, cap: TagCap | None) -> Plan[UserSettings]:
    """Set a user's own cap on tags; with None the system's holds. Existing tags stay."""
    return Plan(update(UserSettings.key(username=username), tag_max.set(cap)))


@kifu_table.write(budget=Budget(writes=2), example={"settings": SystemSettings(kifu_max=3000), "was": DEFAULTS})
def set_system_caps(settings: SystemSettings, was: SystemSettings | None) -> Plan[SystemSettings]:
    """Set the caps of all users who have none of their own, if the changed ones are as they were read.

    `was` is None when none were set. Additions that have already read the old caps succeed.
    """
    if was is None:
        return Plan(put(settings, if_absent=True))
    if settings == was:
        raise InvalidChange("The system already has these caps. Change one of them.")
    return Plan(save(settings, was=was))


def below_cap(
    count: Path[UserSettings, int | None], own: Path[UserSettings, int | None], own_cap: int | None, cap: int
) -> Condition[UserSettings]:
    """The condition that the count is below the cap, and that the user's own cap is as it was read."""
    unchanged = own.missing() if own_cap is None else own.equals(own_cap)
    return (count.missing() | count.below(cap)) & unchanged
