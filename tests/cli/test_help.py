"""Help: every command has some, with an example, and it comes at once."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from ckgnn.cli import app
from ckgnn.version import __version__
from tests.cli.shell import Call

ROOT: Any = typer.main.get_command(app)


def commands(command: Any = ROOT, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


def described(path: tuple[str, ...]) -> str:
    command = ROOT
    for name in path:
        command = command.commands[name]
    return str(command.help)


ALL = list(commands())
LEAVES = [path for path in ALL if path not in {(), ("data",), ("plot",), ("study",)}]
IDS = [" ".join(("ckgnn", *path)) for path in ALL]


def test_every_command_of_the_specification_is_there() -> None:
    wanted = "data list,data get,data inspect,train,evaluate,predict,headroom,plot kernel,plot curves,theory"
    assert {tuple(words.split()) for words in wanted.split(",")} <= set(LEAVES)


@pytest.mark.parametrize("path", ALL, ids=IDS)
def test_help_has_an_example(path: tuple[str, ...], call: Call) -> None:
    said = call(*path, "--help")
    assert said.code == 0
    assert "Example" in said.out
    assert not said.err


@pytest.mark.parametrize("path", ALL, ids=IDS)
def test_the_example_names_options_that_exist(path: tuple[str, ...], call: Call) -> None:
    line = described(path).partition("Example: `ckgnn ")[2].partition("`")[0]
    words = shlex.split(line)
    assert tuple(words[: len(path)]) == path
    help_of = call(*([*path] or words[:1]), *([] if path in LEAVES or not path else words[len(path) :][:1]), "--help")
    for word in words:
        if word.startswith("--"):
            assert word in help_of.out


@pytest.mark.parametrize("path", LEAVES, ids=[" ".join(("ckgnn", *p)) for p in LEAVES])
def test_every_command_speaks_json(path: tuple[str, ...], call: Call) -> None:
    assert "--json" in call(*path, "--help").out


def test_no_command_shows_help(call: Call) -> None:
    for words in ([], ["data"], ["plot"], ["study"]):
        said = call(*words)
        assert said.code == 2
        assert "Example" in said.out + said.err


def test_version(call: Call) -> None:
    assert call("--version").out == f"ckgnn {__version__}\n"


@pytest.mark.parametrize("words", [["--help"], ["train", "--help"], ["--version"]], ids=" ".join)
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    code = (
        f"import sys; sys.argv = ['ckgnn', *{words!r}]\n"
        "from ckgnn.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'numpy', 'scipy', 'sklearn', 'matplotlib', 'numba'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
