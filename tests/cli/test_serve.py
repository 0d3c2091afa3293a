"""The options of `zataku serve` and the settings they set."""

from dataclasses import fields
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from zataku.cli.serve_command import ServeOptions
from zataku.server.settings import Settings, setting_descriptions


def option_help(name: str) -> str:
    metadata = ServeOptions.__dataclass_fields__[name].type.__metadata__  # type: ignore[union-attr]
    return next(parameter.help for parameter in metadata if getattr(parameter, "help", None))


def test_every_option_is_described_like_its_setting():
    for field in fields(ServeOptions):
        first_sentence = option_help(field.name).replace(";", ".").split(". ")[0].rstrip(".")
        assert setting_descriptions()[field.name].startswith(first_sentence), field.name


def test_options_override_the_settings_file(bare: CommandLine, monkeypatch: pytest.MonkeyPatch):
    started: list[Settings] = []
    monkeypatch.setattr("zataku.server.process.serve.serve", lambda settings: started.append(settings) or 0)
    Path("zataku.toml").write_text("port = 1\nlog = 'json'\n")
    assert bare("serve", "--port", "0", "--public-url", "https://x.org", "--no-demo", "--env", "test").code == 0
    assert started == [Settings(port=0, public_url="https://x.org", demo=False, env="test", log="json")]


@pytest.mark.parametrize(
    "arguments", [("--port", "70000"), ("--env", "staging"), ("--log", "xml"), ("--colour", "red")], ids=" ".join
)
def test_invalid_options_exit_with_2(bare: CommandLine, arguments: tuple[str, str]):
    assert bare("serve", *arguments).code == 2
