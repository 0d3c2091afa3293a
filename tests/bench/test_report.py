"""The report of a benchmark: ratios, aims, tables and results."""

from pathlib import Path

import msgspec
import pytest

from bench import report


def put_row(peer: float, aim: float | None = None, **options: bool) -> report.Row:
    return report.row("put", ours=8000, peer=peer, peer_name="peer", unit="calls/s", aim=aim, **options)


def test_the_ratio_divides_our_figure_by_the_peers():
    assert put_row(2000).ratio == 4


def test_the_ratio_of_times_is_inverted_so_that_higher_is_better():
    assert put_row(2000, more_is_better=False).ratio == 0.25


def test_an_aim_is_met_by_a_ratio_equal_to_it():
    assert put_row(2000, aim=4.0).met is True
    assert put_row(2001, aim=4.0).met is False


def test_a_row_without_an_aim_is_neither_met_nor_missed():
    assert put_row(2000).met is None


def test_the_table_shows_a_missed_aim_in_bold():
    table = report.table([put_row(2000, aim=4.0), put_row(4000, aim=4.0), put_row(10)])
    met, missed, without = table.splitlines()[2:]
    assert met == "| put | 8,000 | peer | 2,000 | calls/s | 4.00 | 4 | yes |"
    assert missed.endswith("| 2.00 | 4 | **no** |")
    assert without.endswith("| 10.0 | calls/s | 800.00 |  |  |")


@pytest.mark.parametrize(("number", "text"), [(12345.6, "12,346"), (99.94, "99.9"), (1.234, "1.23"), (0, "0.00")])
def test_a_figure_has_about_three_significant_digits(number: float, text: str):
    assert report.figure(number) == text


def test_a_run_replaces_the_text_between_the_markers(tmp_path: Path):
    document = tmp_path / "README.md"
    document.write_text("before\n<!-- run -->\nold\n<!-- /run -->\nafter\n")
    report.write_between(document, "run", "new\n")
    report.write_between(document, "run", "newer\n")
    assert document.read_text() == "before\n<!-- run -->\nnewer\n<!-- /run -->\nafter\n"


@pytest.mark.parametrize(
    "text", ["no markers", "<!-- run -->", "<!-- /run --> <!-- run -->", "<!-- run --> <!-- run --> <!-- /run -->"]
)
def test_a_document_without_both_markers_is_not_changed(tmp_path: Path, text: str):
    document = tmp_path / "README.md"
    document.write_text(text)
    with pytest.raises(ValueError, match="each once"):
        report.write_between(document, "run", "new")
    assert document.read_text() == text


def test_results_are_written_as_json_rows(tmp_path: Path):
    path = tmp_path / "results" / "store.json"
    report.write_results(path, [put_row(2000, aim=4.0), put_row(2000)], [("cores", "2")])
    first, second = msgspec.json.decode(path.read_bytes())["rows"]
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


def test_the_sync_time_of_the_disk_is_measured_and_leaves_no_file(tmp_path: Path):
    assert report.fdatasync_seconds(tmp_path, times=3) > 0
    assert list(tmp_path.iterdir()) == []
