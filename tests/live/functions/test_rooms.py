"""Lists of rooms, and codes: each leads to one open room, or to the one that had it last and has ended."""

from collections.abc import Iterable
from random import Random

from tests.live.entities import MIDORI, OTHER_ROOM_ID, ROOM_ID, room, store_unreadable
from tests.support.stores import START
from zataku.clock import instant_ms
from zataku.live.design import room_now
from zataku.live.functions.rooms import MAX_CODE_ATTEMPTS, CreateRoomFunction, GetUserRoomsFunction
from zataku.table import Store

CODE = "482159"


class CodesInOrder(Random):
    """Random numbers that are given: the codes that a room tries."""

    def __init__(self, codes: Iterable[int]) -> None:
        super().__init__(0)
        self._codes = iter(codes)

    def randrange(self, *_bounds: object) -> int:  # type: ignore[override]
        return next(self._codes)


async def test_an_open_room_comes_before_an_ended_one_and_the_later_ended_before_the_earlier(embedded: Store) -> None:
    by_code = GetUserRoomsFunction(embedded).by_code
    await embedded.put(room(ROOM_ID, status="CLOSED", code=CODE))
    assert [it.room_id for it in await by_code(CODE)] == [ROOM_ID]
    await embedded.put(room(OTHER_ROOM_ID, code=CODE, created_at=instant_ms(START + 9)))
    assert [it.room_id for it in await by_code(CODE)] == [OTHER_ROOM_ID]
    await embedded.put(room(OTHER_ROOM_ID, status="CLOSED", code=CODE, created_at=instant_ms(START + 9)))
    assert [it.room_id for it in await by_code(CODE)] == [OTHER_ROOM_ID]


async def test_a_new_room_prefers_a_code_that_leads_nowhere(embedded: Store) -> None:
    await embedded.put(room(ROOM_ID, status="CLOSED", code=CODE))
    created = await CreateRoomFunction(embedded)(MIDORI, "Talk", START, CodesInOrder([int(CODE), 777777]))
    assert created.code == "777777"


async def test_a_code_is_given_anew_when_no_other_is_found_and_leads_to_the_ended_room_no_longer(
    embedded: Store,
) -> None:
    await embedded.put(room(ROOM_ID, status="CLOSED", code=CODE))
    codes = CodesInOrder([int(CODE)] * (MAX_CODE_ATTEMPTS + 1))
    created = await CreateRoomFunction(embedded)(MIDORI, "Talk", START, codes)
    assert created.code == CODE
    ended = await embedded.get(room_now(ROOM_ID))
    assert ended is not None
    assert ended.code is None
    assert [it.room_id for it in await GetUserRoomsFunction(embedded).by_code(CODE)] == [created.room_id]


async def test_the_code_of_an_open_room_is_not_given_again(embedded: Store) -> None:
    await embedded.put(room(ROOM_ID, code=CODE))
    codes = CodesInOrder([int(CODE)] * (MAX_CODE_ATTEMPTS + 1))
    created = await CreateRoomFunction(embedded)(MIDORI, "Talk", START, codes)
    assert created.code is None
    assert [it.room_id for it in await GetUserRoomsFunction(embedded).by_code(CODE)] == [ROOM_ID]


async def test_a_room_that_cannot_be_read_hides_no_other_of_its_host_or_with_its_code(embedded: Store) -> None:
    await store_unreadable(embedded, room(ROOM_ID, code=CODE))
    await embedded.put(room(OTHER_ROOM_ID, code=CODE))
    rooms = GetUserRoomsFunction(embedded)
    assert [it.room_id for it in (await rooms(MIDORI, None)).items] == [OTHER_ROOM_ID]
    assert [it.room_id for it in await rooms.by_code(CODE)] == [OTHER_ROOM_ID]
