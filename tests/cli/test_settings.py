"""Settings and their sources: flags win over variables, these over the file, and the file over defaults."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from zataku.server.settings import BadSetting, Settings, load_settings, mask_secret, setting_descriptions


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_flags_win_over_variables_and_these_over_the_file():
    Path("zataku.toml").write_text('host = "0.0.0.0"\nport = 1\ndata = "kept"\nproxies = ["10.0.0.0/8"]\n')
    loaded = load_settings({"port": 3}, {"ZATAKU_PORT": "2", "ZATAKU_DATA": "elsewhere", "ZATAKU_DEMO": "false"})
    assert (loaded.settings.host, loaded.settings.port, loaded.settings.data) == ("0.0.0.0", 3, "elsewhere")
    assert (loaded.settings.demo, loaded.settings.proxies, loaded.settings.env) == (False, ("10.0.0.0/8",), "prod")
    assert {name: loaded.sources[name] for name in ("host", "port", "data", "demo", "env")} == {
        "host": "zataku.toml, host",
        "port": "--port",
        "data": "ZATAKU_DATA",
        "demo": "ZATAKU_DEMO",
        "env": "default",
    }


def test_a_settings_file_that_is_a_pipe_is_not_waited_for():
    os.mkfifo("zataku.toml")
    with pytest.raises(BadSetting, match=r"^zataku\.toml is not a file\.$"):
        load_settings({}, {})


def test_another_settings_file_can_be_named_and_must_exist(tmp_path: Path):
    Path("zataku.toml").write_text("port = 1")
    Path("other.toml").write_text("port = 2")
    assert load_settings({}, {}, "other.toml").settings.port == 2
    assert load_settings({}, {"ZATAKU_CONFIG": "other.toml"}).settings.port == 2
    with pytest.raises(BadSetting, match=r"no file missing\.toml"):
        load_settings({}, {}, "missing.toml")


def test_the_store_is_in_the_data_folder_unless_it_is_set():
    assert load_settings({"data": "kept"}, {}).settings.store_url == "kept/zataku.db"
    assert load_settings({}, {"ZATAKU_STORE": "dynamodb:"}).settings.store_url == "dynamodb:"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prot = 8000", r"^zataku\.toml: there is no setting prot\. Did you mean port\?$"),
        ("colour = 'red'", r"^zataku\.toml: there is no setting colour\. `zataku settings` lists"),
        ("port = 'eighty'", r"^zataku\.toml, port: Expected `int`, got `str`\. Port to listen on"),
        ("port = 70000", r"^zataku\.toml, port: Expected `int` <= 65535"),
        ("env = 'staging'", r"^zataku\.toml, env: Invalid enum value 'staging'"),
        ("public_url = 'table.example.org'", r"^zataku\.toml, public_url: .* such as https://table\.example\.org"),
        ("public_url = 'https://x.org/path'", r"nothing after it"),
        ("public_url = 'https://卓.example'", r"xn--"),
        ("public_url = 'https://a b.org'", r"such as https://table"),
        ("public_url = 'https://a.org\\evil'", r"such as https://table"),
        ("public_url = 'https://a.org%00'", r"such as https://table"),
        ("public_url = 'http://x\"y'", r"such as https://table"),
        ("prices = 'cheap'", r"^zataku\.toml, prices: .*us-east-1 2024-11-01 0\.125 0\.625 0\.25"),
        ("proxies = ['10.0.0.0/33']", r"neither an address nor a network"),
        ("bus = 'rabbit://x'", r"neither memory nor"),
        ("bus = 'redis://[::'", r"^zataku\.toml, bus: .* neither memory nor"),
        (r'data = "a\u0000b"', r"^zataku\.toml, data: .* no path or address can have"),
        ("body_limit = 1", r"Expected `int` >= 1024"),
        ("port = !", r"^zataku\.toml cannot be read: .*line 1, column 8"),
        pytest.param("port = " + "[" * 20_000, r"^zataku\.toml cannot be read: .*recursion", id="nested-without-end"),
    ],
)
def test_an_invalid_setting_is_refused_with_its_source_and_advice(text: str, message: str):
    Path("zataku.toml").write_text(text)
    with pytest.raises(BadSetting, match=message):
        load_settings({}, {})


@pytest.mark.parametrize(
    "url", ["https://xn--vuqv5u.example", "http://192.168.1.5:8000", "http://[2001:db8::5]:8000/", "https://Table.org"]
)
def test_the_public_url_has_a_host_name_or_an_address(url: str):
    assert Settings(public_url=url).public_url == url


def test_an_invalid_variable_is_named_in_the_error():
    with pytest.raises(BadSetting, match=r"^ZATAKU_PORT: Expected `int`"):
        load_settings({}, {"ZATAKU_PORT": "eighty"})


def test_every_setting_has_a_description():
    assert setting_descriptions().keys() == set(Settings.__struct_fields__)
    assert all(description.endswith(".") for description in setting_descriptions().values())


def test_all_settings_are_shown_with_value_source_default_and_description(
    bare: CommandLine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ZATAKU_BUS", "redis://:hunter2@cache:6379/0")
    monkeypatch.setenv("ZATAKU_METRICS_TOKEN", "swordfish")
    shown = bare("settings")
    assert shown.code == 0
    rows = {row["setting"]: row for row in json.loads(bare("settings", "--json").out)}
    assert rows.keys() == setting_descriptions().keys()
    assert rows["bus"]["value"] == "redis://***@cache:6379/0"
    assert rows["bus"]["source"] == "ZATAKU_BUS"
    assert rows["bus"]["default"] == "memory"
    for name in rows:
        assert name in shown.out
    for secret in ("hunter2", "swordfish"):
        assert secret not in shown.out
        assert secret not in json.dumps(rows)


def test_an_invalid_setting_is_one_line_on_standard_error(bare: CommandLine):
    Path("zataku.toml").write_text("prot = 1")
    for command in ("settings", "serve"):
        result = bare(command)
        assert (result.code, result.out) == (1, "")
        assert result.err.splitlines() == [
            "zataku: zataku.toml: there is no setting prot. Did you mean port? (bad_setting)"
        ]


def test_only_secrets_are_masked():
    assert mask_secret("bus", "memory") == "memory"
    assert mask_secret("public_url", "https://table.example.org") == "https://table.example.org"
    assert mask_secret("metrics_token", "") == ""
