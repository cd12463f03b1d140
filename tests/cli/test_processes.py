"""The command line as a process: Ctrl-C, kill, pipes, a plain terminal."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.shell import SHORT, Call, finish, sets, start

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
EPOCHS = 30
LONG = ["train", "ckgcn", *SHORT, *sets(f"epochs={EPOCHS}", "stop=fixed(1000)", "lambda_2=0.1")]


def wait_for(path: Path, process: subprocess.Popen[str], since: int = 0) -> None:
    """Wait until a file is there and newer than ``since``."""
    while not path.exists() or path.stat().st_mtime_ns <= since:
        assert process.poll() is None, "the run ended before it could be disturbed"
        time.sleep(0.01)


def test_ctrl_c_then_a_kill_and_both_times_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CKGNN_SPARSE", "reference")  # nothing to compile
    unbroken = start(*LONG, "--out", "unbroken", "--json", cwd=tmp_path)
    out = tmp_path / "my run"
    process = start(*LONG, "--out", "my run", "--checkpoint-seconds", "1000", cwd=tmp_path)
    wait_for(out / "config.json", process)
    process.send_signal(signal.SIGINT)
    said = finish(process)
    assert said.code == 130
    assert not said.out
    assert "stopping after this epoch" in said.err
    assert "stopped and saved in my run; go on with:" in said.err
    assert "Traceback" not in said.err
    assert (out / "checkpoint.safetensors").exists()
    assert not (out / "metrics.json").exists()
    command = shlex.split(said.err.strip().splitlines()[-1])
    assert (command[0], command[-1]) == ("ckgnn", "--resume")

    saved = (out / "checkpoint.safetensors").stat().st_mtime_ns
    process = start(*command[1:], "--checkpoint-seconds", "0", cwd=tmp_path)
    wait_for(out / "checkpoint.safetensors", process, since=saved)
    process.kill()
    assert finish(process).code == -signal.SIGKILL
    assert not (out / "metrics.json").exists()

    again = finish(start(*command[1:], "--json", cwd=tmp_path))
    assert (again.code, again.err) == (0, "")
    assert again.json["epochs"] == EPOCHS
    assert again.json["weights_sha256"] == finish(unbroken).json["weights_sha256"]
    assert {p.name for p in out.iterdir()} == {"config.json", "history.json", "metrics.json", "weights.safetensors"}


def test_ctrl_c_twice_ends_at_once(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def impatient(*_args: object, **_kwargs: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("still here")

    monkeypatch.setattr(sys.modules["ckgnn.train.run"], "fit", impatient)
    before = signal.getsignal(signal.SIGINT)
    said = call("train", "ckgcn", *SHORT, "--out", "run")
    assert said.code == 130
    assert not said.out
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("words", [["data", "list"], ["data", "list", "--json"], ["--help"]], ids=" ".join)
def test_a_reader_that_goes_away(words: list[str], tmp_path: Path) -> None:
    process = start(*words, cwd=tmp_path)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.wait(timeout=60)


def test_head(tmp_path: Path) -> None:
    line = f"{shlex.quote(sys.executable)} -m ckgnn theory | head -1"
    done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "propositions on debian-topics\n"
    assert done.stderr == ""


def test_a_terminal_that_knows_ascii_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    code = "from ckgnn.cli import _prepare; from ckgnn.cli.output import say; _prepare(); say('81.5 ± 0.3')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "81.5 ? 0.3\n"), done.stderr
