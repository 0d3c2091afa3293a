"""Limits of names, ids and texts, with examples on both sides of each limit."""

import zlib
from base64 import b64encode
from random import Random

import msgspec
import pytest

from tests.kifu.records import a_record, a_tag
from zataku.kifu import limits
from zataku.kifu.entities import Analysis, PositionList, SlugClaim, TagNameClaim
from zataku.kifu.ids import new_analysis_id, new_kifu_id, new_share_code, new_tag_id
from zataku.kifu.writes.analyses import (
    COMPRESSED_PREFIX,
    MAX_RESULT_BYTES,
    compress_result,
    decompress_result,
)
from zataku.table import BadKey, WrongType, add_seconds, format_instant, parse_instant
from zataku.table.schema.entity import binding_of

FORMS = {
    "username": (limits.NamedUser, ["h-akira", "h-akira2", "a", "9", "a_b", "a" * 32]),
    "kifu id": (limits.KifuKey, ["fdsaj9d9s0", "A" * 32]),
    "tag id": (limits.TagKey, ["jko2kdl", "Z" * 32]),
    "share code": (limits.SharedCode, ["lkihofkwif4tF", "a" * 43]),
    "analysis id": (limits.AnalysisKey, ["fdjsklfadf", "01JGE1XYZ00000000000000000"]),
    "position": (limits.PositionKey, ["0123456789abcdef"]),
    "result": (limits.Result, ["win", "lose", "draw", "sennichite", "jishogi", "none"]),
    "side": (limits.Side, ["first", "second"]),
    "status": (limits.AnalysisStatus, ["waiting", "succeeded", "error"]),
    "kifu cap": (limits.KifuCap, [0, 3000, 25_000]),
    "tag cap": (limits.TagCap, [0, 50, 100]),
    "created": (limits.Created, ["2025-12-31T11:11:31Z"]),
    "memo": (limits.Memo, ["", "序盤研究用の棋譜", "𠮷" * 10_000]),
    "part": (limits.Part, [0, 999]),
    "text": (limits.TextNumber, [0, 999_999]),
    "positions": (limits.PackedPositions, [bytes(8), bytes(784)]),
    "request": (limits.Request, ["", "x" * 2000]),
}
REFUSED = {
    "username": ["", "H-akira", "-a", "a-", "_a", "a" * 33, "a b", "鈴木", "a\n", "a#b", "ａ", "a/b"],
    "kifu id": ["", "fdsaj9d9s", "A" * 33, "fdsaj9d9s0\n", "fdsaj9d9s#", "fdsaj9d9s０", "fdsaj-9d9s0"],
    "tag id": ["", "jko2kd", "Z" * 33, "jko2kdl\n", "jko2kd#l"],
    "share code": ["", "lkihofkwif4t", "a" * 44, "lkihofkwif4tF\n", "lkihofkwif4t#F"],
    "analysis id": [
        "",
        "fdjsklfad",
        "fdjsklfadf\n",
        "01JGE1XYZ0000000000000000U",
        "81JGE1XYZ00000000000000000",
        "FDJSKLFADF",
    ],
    "position": ["", "0123456789abcde", "0123456789ABCDEF", "0123456789abcdef0", "0123456789abcdef\n"],
    "result": ["", "WIN", "stalemate", None],
    "side": ["", "third", "先手"],
    "status": ["", "done", "running"],
    "kifu cap": [-1, 25_001, 1.5, "50"],
    "tag cap": [-1, 101],
    "created": ["2025-12-31", "2025-12-31T11:11:31+09:00", "2025-13-01T00:00:00Z", "2025-12-31T11:11:31Z\n", "٢٠٢٥"],
    "memo": ["x" * 10_001],
    "part": [-1, 1000],
    "text": [-1, 1_000_000],
    "positions": [b"", bytes(785)],
    "request": ["x" * 2001],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, (_, values) in FORMS.items() for value in values])
def test_a_valid_value_is_accepted(name: str, value: object):
    assert msgspec.convert(value, FORMS[name][0], builtin_types=(bytes,)) == value


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in REFUSED.items() for value in values])
def test_an_invalid_value_is_refused(name: str, value: object):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(value, FORMS[name][0], builtin_types=(bytes,))


SLUGS = [
    "社団戦/2025/鈴木",
    "a",
    "a b/c d",
    "x#y",
    "쇼기모임/2026",
    "👩\u200d👩\u200d👧",
    "..a/.b",
    "a" * 255,
    "竜" * 255,
    "𠮷" * 254 + "竜",
]
BAD_SLUGS = [
    "/a",
    "a/",
    "a//b",
    "/",
    " a",
    "a ",
    "a/ b",
    "a /b",
    "a/./b",
    "..",
    "a\nb",
    "a\x00",
    "a\u2028b",
    "a\x7f",
    "a\u202eb",
    "か\u3099",  # two characters that look like が
    "\u3000a",
    "a\ud800",
    "\u200b",
    "a/\u200b",
    "a/\ufe0f/b",
    "a\u200bb",
    "𠮷" * 255,  # 1,020 bytes, one too many with the prefix of the key
]


@pytest.mark.parametrize("slug", SLUGS)
def test_a_slug_is_a_path(slug: str):
    record = a_record(slug=slug)
    assert binding_of(type(record)).encode(record)["clsi_sk"] == f"slug#{slug}"
    claim = SlugClaim(username=record.username, slug=slug, kifu_id=record.kifu_id)
    assert len(str(binding_of(SlugClaim).encode(claim)["sk"]).encode()) <= 1024


@pytest.mark.parametrize("slug", BAD_SLUGS)
def test_a_slug_that_is_not_a_path_is_refused(slug: str):
    with pytest.raises(ValueError, match="slug|surrogates"):
        a_record(slug=slug)
    with pytest.raises(ValueError, match="slug|surrogates"):
        SlugClaim(username=a_record().username, slug=slug, kifu_id=a_record().kifu_id)


@pytest.mark.parametrize("slug", ["", "a" * 256])
def test_the_length_of_a_slug_is_checked_when_it_is_stored(slug: str):
    replace = msgspec.structs.replace
    with pytest.raises((ValueError, WrongType, BadKey)):
        binding_of(SlugClaim).encode(
            replace(SlugClaim(username=a_record().username, slug="a", kifu_id=a_record().kifu_id), slug=slug)
        )


def test_the_longest_slug_fills_its_key_to_the_last_byte():
    assert len(("slug#" + "𠮷" * 254 + "竜").encode()) == 1024


@pytest.mark.parametrize("name", ["四間飛車", "복기 필요", "a#b", "a/b", "𠮷" * 127])
def test_a_tag_name_is_up_to_127_characters_of_any_script(name: str):
    item = binding_of(TagNameClaim).encode(TagNameClaim(username=a_tag().username, name=name, tag_id=a_tag().tag_id))
    assert len(str(item["sk"]).encode()) <= 1024
    assert binding_of(type(a_tag())).encode(a_tag(name=name))["clsi_sk"] == f"tname#{name}"


@pytest.mark.parametrize(
    "name", ["", " a", "a\t", "a\nb", "か\u3099", "a\u202e", "\ud800", "\u200b", "矢\u200b倉", "矢\u3164倉"]
)
def test_a_tag_name_that_looks_like_another_is_refused(name: str):
    with pytest.raises(ValueError, match="tag name"):
        a_tag(name=name)


def test_the_length_of_a_tag_name_is_checked_when_it_is_stored():
    with pytest.raises((WrongType, BadKey)):
        binding_of(type(a_tag())).encode(a_tag(name="a" * 128))


@pytest.mark.parametrize("text", ["a" * 307_200, "歩" * 102_400, "𠮷" * 76_800])
def test_a_record_has_up_to_300_kilobytes(text: str):
    assert a_record(kifu=text).kifu == text


@pytest.mark.parametrize("text", ["a" * 307_201, "歩" * 102_400 + "a", "𠮷" * 76_801])
def test_a_byte_more_is_refused_whatever_the_characters(text: str):
    with pytest.raises(ValueError, match="at most 307,200"):
        a_record(kifu=text)


def test_a_record_without_moves_is_refused():
    with pytest.raises(WrongType):
        binding_of(type(a_record())).encode(a_record(kifu=""))


@pytest.mark.parametrize("fields", [{"share": True}, {"share_code": "lkihofkwif4tF"}])
def test_a_record_is_shared_exactly_when_it_has_a_code(fields: dict[str, object]):
    with pytest.raises(ValueError, match="share code"):
        a_record(**fields)


def test_a_result_is_limited_in_bytes():
    with pytest.raises(ValueError, match="65,536"):
        Analysis(
            analysis_id="fdjsklfadf",
            username="h",
            created="2025-12-31T11:11:31Z",
            status="error",
            response="歩" * 21_846,
        )


def test_positions_have_eight_bytes_each():
    position_list = PositionList(
        username="h", kifu_id="fdsaj9d9s0", text=0, part=0, positions=bytes(8) + bytes([255] * 8)
    )
    assert position_list.hashes == ["0" * 16, "f" * 16]
    with pytest.raises(ValueError, match="8 bytes"):
        PositionList(username="h", kifu_id="fdsaj9d9s0", text=0, part=0, positions=bytes(9))


def test_new_ids_are_valid_and_differ():
    random = Random(1)
    forms = [(new_kifu_id, limits.KifuKey), (new_tag_id, limits.TagKey), (new_share_code, limits.SharedCode)]
    for make, form in forms:
        ids = {make(random) for _ in range(100)}
        assert len(ids) == 100
        for new_id in ids:
            msgspec.convert(new_id, form)


def test_analysis_ids_sort_by_time():
    random = Random(1)
    moments = [0, 1, 31, 32, 1_767_225_600_000, 1_767_225_600_001, 4_102_444_800_000, (1 << 48) - 1]
    ids = [new_analysis_id(random, moment) for moment in moments]
    assert ids == sorted(ids)
    for analysis_id in ids:
        msgspec.convert(analysis_id, limits.AnalysisKey)
    for bad in (-1, 1 << 48):
        with pytest.raises(ValueError, match="milliseconds"):
            new_analysis_id(random, bad)


def test_instants_survive_a_round_trip():
    assert parse_instant("2025-12-31T11:11:31Z") == 1_767_179_491
    assert format_instant(1_767_179_491.9) == "2025-12-31T11:11:31Z"
    assert add_seconds("2025-12-31T23:30:00Z", 3600) == "2026-01-01T00:30:00Z"


@pytest.mark.parametrize("result", ["", "{}", '{"moves": ["７六歩"]}', "x" * 100_000, "zlib:not really"])
def test_a_compressed_result_survives_a_round_trip(result: str):
    assert decompress_result(compress_result(result)) == result


def test_a_result_that_is_too_large_after_compression_is_refused():
    noise = Random(1).randbytes(60_000).hex()
    with pytest.raises(ValueError, match="65,536"):
        compress_result(noise)


def test_a_result_above_the_uncompressed_limit_is_refused_both_ways():
    assert len(decompress_result(compress_result("x" * MAX_RESULT_BYTES))) == MAX_RESULT_BYTES
    with pytest.raises(ValueError, match="4,194,304"):
        compress_result("x" * (MAX_RESULT_BYTES + 1))
    swollen = COMPRESSED_PREFIX + b64encode(zlib.compress(b"x" * (MAX_RESULT_BYTES + 1))).decode()
    with pytest.raises(ValueError, match="larger"):
        decompress_result(swollen)
