"""The comparison of stores: its rows and aims, and the same work for every store."""

from bench.store.cases import CASES
from bench.store.comparison import rows
from bench.store.pinboard import BATCH, Note, Notes
from bench.store.raw_apsw import StoredNote, pack_note
from zataku.table.backend.values import unpack
from zataku.table.schema.entity import binding_of


def test_a_row_holds_the_median_of_the_rounds():
    figures = {("put", 16, "zataku"): [10.0, 900.0, 400.0], ("put", 16, "dynoxide"): [100.0, 1.0, 200.0]}
    (row,) = rows(figures, "zataku", ["dynoxide"])
    assert (row.ours, row.peer, row.ratio) == (400, 100, 4)


def test_aims_are_set_for_16_callers_only():
    figures = {
        (case, callers, name): [1.0]
        for case in ("put", "get")
        for callers in (1, 16)
        for name in ("zataku", "raw apsw", "dynoxide")
    }
    aims = {(row.case, row.peer_name): row.aim for row in rows(figures, "zataku", ["raw apsw", "dynoxide"])}
    assert aims == {
        ("put, 1 caller", "raw apsw"): None,
        ("put, 1 caller", "dynoxide"): None,
        ("put, 16 callers", "raw apsw"): 0.4,
        ("put, 16 callers", "dynoxide"): 4.0,
        ("get, 1 caller", "raw apsw"): None,
        ("get, 1 caller", "dynoxide"): None,
        ("get, 16 callers", "raw apsw"): 0.4,
        ("get, 16 callers", "dynoxide"): 5.0,
    }


def test_no_two_notes_have_the_same_text():
    notes = Notes()
    texts = [notes.fresh().body for _ in range(100)] + [notes.body() for _ in range(100)]
    assert len(set(texts)) == 200


def test_every_run_writes_the_same_notes():
    first, second = Notes(), Notes()
    for case in CASES:
        assert case.make(first) == case.make(second)


def test_a_batch_get_has_no_key_twice():
    keys = next(case for case in CASES if case.name == "batch get").make(Notes())
    assert len(set(keys)) == BATCH


def test_a_note_has_about_a_kilobyte_and_the_same_attributes_in_every_store():
    note = Notes().fresh()
    ours = binding_of(Note).encode(note)
    raw = pack_note(note)
    assert unpack(raw.item) == ours
    assert set(StoredNote.__struct_fields__) == set(ours)
    assert 900 < len(raw.item) < 1200
