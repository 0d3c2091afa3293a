"""Writes of a user's settings and of the caps on records and tags."""

from zataku.kifu.design import kifu_table
from zataku.kifu.entities import SystemSettings, UserSettings
from zataku.kifu.errors import InvalidChange
from zataku.kifu.limits import KifuCap, NamedUser, TagCap
from zataku.kifu.writes.conditions import DEFAULTS, kifu_max, tag_max
from zataku.table import Budget, Plan, put, save, update


@kifu_table.write(budget=Budget(writes=2))
def create_user_settings(username: NamedUser) -> Plan[UserSettings]:
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
        raise InvalidChange("The system has these caps already.")
    return Plan(save(settings, was=was))
