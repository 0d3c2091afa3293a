"""The one table of the library and its six indexes."""

from zataku.table import ALL, NEW_AND_OLD, Table, Waiver, include

kifu_table = Table(
    "ShogiProject",
    pk="pk",
    sk="sk",
    ttl="expired",
    stream=NEW_AND_OLD,
    transactions=True,
    waivers=[
        Waiver(
            rule="item-too-large",
            subject="Record",
            reason="The text is limited to 300 KB in bytes when a record is made; its type counts 4 bytes a character.",
            limit="348,526 bytes for the largest record of 409,600 that an item takes",
        ),
    ],
)
swap_index = kifu_table.index("SwapIndex", pk="sk", sk="pk", projection=ALL)
common_gsi = kifu_table.index("CommonGSI", pk="cgsi_pk", sk="sk", projection=ALL)
common_lsi = kifu_table.local_index("CommonLSI", sk="clsi_sk", projection=include("cgsi_pk", "clsi_sk"))
created_index = kifu_table.local_index("CreatedIndex", sk="created", projection=include("cgsi_pk", "clsi_sk", "share"))
latest_access_index = kifu_table.local_index(
    "LatestAccessIndex", sk="latest_access", projection=include("cgsi_pk", "clsi_sk", "share")
)
latest_update_index = kifu_table.local_index(
    "LatestUpdateIndex", sk="latest_update", projection=include("cgsi_pk", "clsi_sk", "share")
)
