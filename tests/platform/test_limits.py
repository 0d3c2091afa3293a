"""Limits of every value, by examples on both sides."""

import re
from itertools import product
from typing import Any
from unicodedata import category, decomposition, normalize

import msgspec
import pytest
from msgspec.structs import replace

from tests.platform.conftest import NOW
from tests.platform.items import GUEST, HANA, PASSWORD, a_job, a_session
from zataku.platform import limits
from zataku.platform.design import ApiKey, NameClaim
from zataku.platform.job_writes import retry_delay
from zataku.platform.names import check_name
from zataku.text import fold

UUID = "456e7890-e89b-42d3-a456-426614174001"

ACCEPTED: list[tuple[Any, Any]] = [
    (limits.AccountUuid, UUID),
    (limits.AccountName, "はな"),
    (limits.AccountName, "𠮷" * 20),
    (limits.PasswordHash, PASSWORD),
    (limits.PasswordHash, "$argon2id$v=19$m=9437184,t=99,p=16$" + "a" * 64 + "$" + "B" * 86),
    (limits.Generation, 1),
    (limits.Sha256, "0123456789abcdef" * 4),
    (limits.UserAgent, ""),
    (limits.UserAgent, "~" * 200),
    (limits.Label, "取" * 40),
    (limits.Scope, "ranking:write"),
    (limits.Scopes, [f"{name}:{right}" for name in ("drawing", "othello", "live") for right in ("read", "write")]),
    (limits.System, "platform"),
    (limits.JobKind, "close_turn"),
    (limits.Subject, "3f2a#7"),
    (limits.Subject, "x" * 120),
    (limits.Payload, "あ" * 1000),
    (limits.Attempts, 0),
    (limits.Attempts, 5000),
    (limits.ErrorText, "e" * 500),
    (limits.Owner, "web-1.example:4021"),
    (limits.LeaseName, "room/drawing/7F3K9Q"),
    (limits.Epoch, 1),
    (limits.FoldedName, "ǰ"),
    (limits.RunNumber, 999_999_999_999_999),
    (limits.Shard, 3),
]
REFUSED: list[tuple[Any, Any]] = [
    (limits.AccountUuid, UUID.upper()),
    (limits.AccountUuid, UUID + "\n"),
    (limits.AccountUuid, UUID.replace("-", "")),
    (limits.AccountName, "は"),
    (limits.AccountName, "x" * 21),
    (limits.PasswordHash, "secret"),
    (limits.PasswordHash, PASSWORD.replace("argon2id", "argon2i")),
    (limits.PasswordHash, PASSWORD + "\n"),
    (limits.PasswordHash, "$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW"),
    (limits.Generation, 0),
    (limits.Sha256, "0123456789ABCDEF" * 4),
    (limits.Sha256, "0" * 63),
    (limits.Sha256, "0" * 64 + "\n"),
    (limits.Sha256, "０" * 64),
    (limits.UserAgent, "~" * 201),
    (limits.UserAgent, "a\nb"),
    (limits.UserAgent, "ブラウザ"),
    (limits.Label, ""),
    (limits.Label, "x" * 41),
    (limits.Scope, "ranking:delete"),
    (limits.Scope, "live:admin"),
    (limits.System, "Chess"),
    (limits.JobKind, "Close"),
    (limits.JobKind, "close#turn"),
    (limits.JobKind, "a" * 31),
    (limits.Subject, ""),
    (limits.Subject, "two words"),
    (limits.Subject, "x" * 121),
    (limits.Payload, "x" * 1001),
    (limits.Attempts, -1),
    (limits.ErrorText, "e" * 501),
    (limits.Owner, "web 1"),
    (limits.Owner, "x" * 61),
    (limits.LeaseName, "room#1"),
    (limits.LeaseName, ""),
    (limits.Epoch, 0),
    (limits.FoldedName, ""),
    (limits.FoldedName, "x" * 61),
    (limits.RunNumber, 0),
    (limits.Shard, 4),
]


@pytest.mark.parametrize(("kind", "value"), ACCEPTED)
def test_a_value_within_its_limits_is_accepted(kind: Any, value: Any):
    assert msgspec.convert(value, kind) is not None


@pytest.mark.parametrize(("kind", "value"), REFUSED)
def test_a_value_beyond_its_limits_is_refused(kind: Any, value: Any):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(value, kind)


@pytest.mark.parametrize(
    "name",
    [
        "はなこ",
        "김하늘",
        "Mabel",
        "Émile",
        "otto_the_owl",
        "ミナト・アオイ",
        "Jun-ho",
        "서울 여우",
        "42",
        "𠮷野家",
        "שלום",
    ],
)
def test_names_in_every_script_are_accepted(name: str):
    check_name(normalize("NFKC", name))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (" hana", "begins and ends"),
        ("hana ", "begins and ends"),
        ("hana\u3000", "plain characters"),
        ("ha\u00a0na", "plain characters"),
        ("ha  na", "Only one"),
        ("ha.-na", "Only one"),
        ("-hana", "begins and ends"),
        ("hana\n", "U\\+000A"),
        ("ha\x00na", "U\\+0000"),
        ("ha\u200bna", "U\\+200B"),
        ("ha\u200dna", "U\\+200D"),
        ("ha\u202ena", "U\\+202E"),
        ("ha\u2066na", "U\\+2066"),
        ("\ufeffhana", "U\\+FEFF"),
        ("ha\u1160na", "U\\+1160"),
        ("\u3164\u3164", "plain characters"),
        ("ha\u115fna", "U\\+115F"),
        ("hana\ufe0f", "U\\+FE0F"),
        ("hana\U000e0100", "U\\+E0100"),
        ("ha\u034fna", "U\\+034F"),
        ("ha\u2028na", "U\\+2028"),
        ("hana🌸", "U\\+1F338"),
        ("ha\u2800na", "U\\+2800"),
        ("ha#na", "U\\+0023"),
        ("<b>", "U\\+003C"),
        ("ha\ud800na", "U\\+D800"),
        ("ｈａｎａ", "plain characters"),
        ("ﾊﾅｺ", "plain characters"),
        ("①番", "plain characters"),
        ("e\u0301mile", "plain characters"),
        ("\u0301ab", "mark belongs"),
        ("z" + "\u0335\u0336\u0337", "at most two"),
        ("a \u0301b", "Only one|plain"),
    ],
)
def test_names_with_invisible_or_misleading_characters_are_refused(name: str, message: str):
    with pytest.raises(ValueError, match=message):
        check_name(name)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Hana", "hana"),
        ("ＨＡＮＡ", "hana"),
        ("ﾊﾅｺ", "ハナコ"),
        ("Straße", "STRASSE"),
        ("ΣΑΣ", "σας"),
        ("E\u0301", "é"),
    ],
)
def test_names_that_differ_only_in_width_case_or_composition_fold_to_one(first: str, second: str):
    assert fold(first) == fold(second)
    assert fold(fold(first)) == fold(first)


def test_names_of_different_letters_fold_differently():
    assert len({fold(name) for name in ("はな", "ハナ", "hana", "하나", "花")}) == 5


def test_the_longest_folded_name_can_be_claimed():
    longest = "ΐ" * 20
    check_name(longest)
    claim = NameClaim(folded_name=fold(longest), account_id=HANA.account_id, claimed_at=NOW)
    assert msgspec.convert(msgspec.to_builtins(claim), NameClaim) == claim
    assert len(fold(longest)) <= 60


def test_a_name_that_folds_to_one_character_can_be_claimed():
    points = [chr(code) for code in range(0x20000) if not 0xD800 <= code < 0xE000]
    parts = [decomposition(point).split() for point in points]
    # Only a mark that ends a composed character can combine with a letter, and only with one that folding changes.
    marks = {chr(int(pair[1], 16)) for pair in parts if len(pair) == 2 and pair[0][0] != "<"}
    marks = {mark for mark in marks if category(mark)[0] == "M"}
    letters = [point for point in points if category(point)[0] == "L" and fold(point) != point]
    names = [name for name in map("".join, product(letters, marks)) if normalize("NFKC", name) == name]
    single = [name for name in names if len(fold(name)) == 1]
    assert {"J\u030c", "H\u0331", "T\u0308"} <= set(single)
    for name in single:
        check_name(name)
        claim = NameClaim(folded_name=fold(name), account_id=HANA.account_id, claimed_at=NOW)
        assert msgspec.convert(msgspec.to_builtins(claim), NameClaim) == claim
    assert max(len(fold(name)) for name in names) <= 2 * 3


def test_folding_twice_changes_nothing_for_any_character():
    letters = [chr(code) for code in range(0x2FFFF) if not 0xD800 <= code < 0xE000]
    assert [letter for letter in letters if fold(fold(letter)) != fold(letter)] == []
    allowed = [letter for letter in letters if normalize("NFKC", letter) == letter]
    assert max(len(fold(letter)) for letter in allowed) <= 3


def test_a_claim_of_a_name_that_is_not_folded_is_refused():
    with pytest.raises(ValueError, match="`fold`"):
        NameClaim(folded_name="Hana", account_id=HANA.account_id, claimed_at=NOW)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "hana"},
        {"password": PASSWORD},
        {"password_changed_at": 1},
        {"expires_at": None},
    ],
)
def test_a_guest_has_neither_name_nor_password_and_expires(changes: dict[str, Any]):
    with pytest.raises(ValueError, match="guest"):
        replace(GUEST, **changes)


@pytest.mark.parametrize("changes", [{"name": None}, {"password": None}, {"password_changed_at": None}])
def test_a_user_has_a_name_and_a_password(changes: dict[str, Any]):
    with pytest.raises(ValueError, match="A user has a name"):
        replace(HANA, **changes)


def test_a_user_does_not_expire():
    with pytest.raises(ValueError, match="does not expire"):
        replace(HANA, expires_at=1)


def test_a_stored_account_with_a_bad_name_is_not_read():
    stored = msgspec.to_builtins(HANA) | {"name": "ha\u202ena"}
    with pytest.raises(msgspec.ValidationError, match=re.escape("U+202E")):
        msgspec.convert(stored, type(HANA))


@pytest.mark.parametrize("label", [" x", "x ", "a\nb", "a\u202eb", "\u3000x"])
def test_a_label_with_invisible_characters_or_outer_spaces_is_refused(label: str):
    with pytest.raises(ValueError, match="one line"):
        ApiKey(account_id=HANA.account_id, key_hash="0" * 64, label=label, created_at=NOW)


@pytest.mark.parametrize(
    "fields",
    [{"due_at": None}, {"state": "dead"}, {"state": "dead", "due_at": None}, {"state": "running"}],
)
def test_a_job_without_the_fields_of_its_state_is_refused(fields: dict[str, Any]):
    with pytest.raises(ValueError, match=r"A job has a due time|A running job has an owner"):
        a_job(**fields)


def test_the_retry_delay_grows_up_to_an_hour():
    seconds = [retry_delay(attempts) // 1000 for attempts in range(1, limits.MAX_JOB_ATTEMPTS)]
    assert seconds == [10, 20, 40, 80, 160, 320, 640, 1280, 2560, *[3600] * 30]


def test_similar_letters_of_different_scripts_make_different_names():
    latin, cyrillic = "hana", "h\u0430n\u0430"
    check_name(cyrillic)
    assert fold(latin) != fold(cyrillic)


def test_a_session_expires_after_thirty_days():
    assert a_session(HANA, 1).expires_at == NOW // 1000 + 30 * 24 * 60 * 60
