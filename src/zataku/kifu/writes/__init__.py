"""Every write of the library, each one conditional write or one transaction.

A write takes items that the caller has read strongly, and is carried out only if its conditions still hold. A write
that depends on a record without changing it checks the claim of the record's slug, which exists as long as the record.
"""

# The design document lists writes in the order of their declaration.
from zataku.kifu.writes.settings import create_user_settings, set_kifu_cap, set_system_caps, set_tag_cap

# isort: split
from zataku.kifu.writes.records import (
    add_record,
    allow_library,
    allow_record,
    change_moves,
    change_record,
    disallow_library,
    disallow_record,
    move_record,
    remove_record,
    share_record,
    touch_record,
    unshare_record,
)

# isort: split
from zataku.kifu.writes.tags import add_tag, remove_tag, rename_tag, tag_record, touch_tag, untag_record

# isort: split
from zataku.kifu.writes.positions import delete_positions, keep_positions

# isort: split
from zataku.kifu.writes.analyses import finish_analysis, keep_result, request_analysis

__all__ = [
    "add_record",
    "add_tag",
    "allow_library",
    "allow_record",
    "change_moves",
    "change_record",
    "create_user_settings",
    "delete_positions",
    "disallow_library",
    "disallow_record",
    "finish_analysis",
    "keep_positions",
    "keep_result",
    "move_record",
    "remove_record",
    "remove_tag",
    "rename_tag",
    "request_analysis",
    "set_kifu_cap",
    "set_system_caps",
    "set_tag_cap",
    "share_record",
    "tag_record",
    "touch_record",
    "touch_tag",
    "unshare_record",
    "untag_record",
]
