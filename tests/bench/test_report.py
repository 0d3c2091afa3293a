"""The report that every benchmark hands out."""

from pathlib import Path

import msgspec
import pytest

from bench import report


def put_beside(peer: float, aim: float | None = None, **more: bool) -> report.Row:
    return report.row("put", ours=8000, peer=peer, peer_name="peer", unit="calls/s", aim=aim, **more)


def test_a_ratio_says_how_many_times_the_peer_we_do():
    assert put_beside(2000).ratio == 4


def test_a_ratio_of_times_is_turned_round_so_that_higher_is_better():
    assert put_beside(2000, more_is_better=False).ratio == 0.25


def test_an_aim_is_met_from_its_very_figure_on():
    assert put_beside(2000, aim=4.0).met is True
    assert put_beside(2001, aim=4.0).met is False


def test_without_an_aim_nothing_is_met_or_missed():
    assert put_beside(2000).met is None


def test_the_table_shows_a_missed_aim_in_bold():
    table = report.table([put_beside(2000, aim=4.0), put_beside(4000, aim=4.0), put_beside(10)])
    met, missed, without = table.splitlines()[2:]
    assert met == "| put | 8,000 | peer | 2,000 | calls/s | 4.00 | 4 | yes |"
    assert missed.endswith("| 2.00 | 4 | **no** |")
    assert without.endswith("| 10.0 | calls/s | 800.00 |  |  |")


@pytest.mark.parametrize(("number", "text"), [(12345.6, "12,346"), (99.94, "99.9"), (1.234, "1.23"), (0, "0.00")])
def test_a_figure_shows_only_digits_that_mean_something(number: float, text: str):
    assert report.figure(number) == text


def test_a_run_replaces_what_stands_between_the_marks(tmp_path: Path):
    document = tmp_path / "README.md"
    document.write_text("before\n<!-- it -->\nold\n<!-- /it -->\nafter\n")
    report.write_between(document, "it", "new\n")
    report.write_between(document, "it", "newer\n")
    assert document.read_text() == "before\n<!-- it -->\nnewer\n<!-- /it -->\nafter\n"


@pytest.mark.parametrize(
    "text", ["no marks", "<!-- it -->", "<!-- /it --> <!-- it -->", "<!-- it --> <!-- it --> <!-- /it -->"]
)
def test_a_document_without_both_marks_is_left_alone(tmp_path: Path, text: str):
    document = tmp_path / "README.md"
    document.write_text(text)
    with pytest.raises(ValueError, match="each once"):
        report.write_between(document, "it", "new")
    assert document.read_text() == text


def test_results_are_rows_for_programs_to_read(tmp_path: Path):
    place = tmp_path / "results" / "store.json"
    report.write_results(place, [put_beside(2000, aim=4.0), put_beside(2000)], [("cores", "2")])
    first, second = msgspec.json.decode(place.read_bytes())["rows"]
    assert first == {
        "case": "put",
        "ours": 8000,
        "peer": 2000,
        "peer_name": "peer",
        "unit": "calls/s",
        "ratio": 4.0,
        "aim": 4.0,
        "met": True,
    }
    assert (second["aim"], second["met"]) == (None, None)


def test_the_file_system_of_a_path_is_that_of_its_nearest_mount():
    assert report.file_system(Path("/proc/self")) == "proc"


def test_the_disk_is_asked_how_long_a_sync_takes(tmp_path: Path):
    assert report.fdatasync_seconds(tmp_path, times=3) > 0
    assert list(tmp_path.iterdir()) == []
