"""What a host types to start the server means what the settings mean."""

from dataclasses import fields
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from zataku.cli.serve_command import ServeOptions
from zataku.server.settings import Settings, setting_descriptions


def said_of(name: str) -> str:
    marks = ServeOptions.__dataclass_fields__[name].type.__metadata__  # type: ignore[union-attr]
    return next(mark.help for mark in marks if getattr(mark, "help", None))


def test_every_option_is_a_setting_and_says_the_same():
    for field in fields(ServeOptions):
        first = said_of(field.name).replace(";", ".").split(". ")[0].rstrip(".")
        assert setting_descriptions()[field.name].startswith(first), field.name


def test_what_is_typed_is_what_is_set(bare: CommandLine, monkeypatch: pytest.MonkeyPatch):
    started: list[Settings] = []
    monkeypatch.setattr("zataku.server.process.serve.serve", lambda settings: started.append(settings) or 0)
    Path("zataku.toml").write_text("port = 1\nlog = 'json'\n")
    assert bare("serve", "--port", "0", "--public-url", "https://x.org", "--no-demo", "--env", "test").code == 0
    assert started == [Settings(port=0, public_url="https://x.org", demo=False, env="test", log="json")]


@pytest.mark.parametrize(
    "words", [("--port", "70000"), ("--env", "staging"), ("--log", "xml"), ("--colour", "red")], ids=" ".join
)
def test_words_that_make_no_sense_end_with_two(bare: CommandLine, words: tuple[str, str]):
    assert bare("serve", *words).code == 2
