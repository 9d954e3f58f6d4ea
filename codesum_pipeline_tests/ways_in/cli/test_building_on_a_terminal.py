"""A first build, watched: on terminals of several widths, without colour, in a pipe and in a CI job."""

import re
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.lease import current_holder
from codesum_pipeline.ways_in.cli.progress_bar import show_start
from codesum_pipeline_tests.support.commands import COMMAND, environment, fork_codesum
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.ways_in.cli.terminal import Shown, fork_on_a_terminal, watch

SIGN = """\
def sign(value, key):
    '''Sign a value.'''
    if not key:
        raise ValueError(key)
    return value + key
"""
FILES = {
    "signing.py": SIGN,
    "docs/guide.md": "# Signing\n\nHow values are signed.\n",
}
COLOUR = re.compile(rb"\x1b\[[0-9;]*3[0-9]m")
CONTROL = re.compile(rb"\x1b")
CURSOR_HIDDEN, CURSOR_SHOWN = b"\x1b[?25l", b"\x1b[?25h"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return GitRepo.create(tmp_path / "signing", FILES).path


def first_build(repository: Path, tmp_path: Path, **env: str) -> Shown:
    return fork_on_a_terminal("--home", "home", "index", repository, cwd=tmp_path, width=80, env=env)


@pytest.mark.parametrize("width", [40, *(pytest.param(width, marks=pytest.mark.slow) for width in (80, 140))])
def test_a_first_build_ends_and_leaves_a_clean_screen(repository: Path, tmp_path: Path, width: int) -> None:
    shown = watch(["--home", "home", "index", repository], cwd=tmp_path, width=width)

    assert shown.exit_code == 0
    lines = shown.lines()
    assert lines[0].startswith("signing: registered, /")
    assert any("published" in line for line in lines)
    assert not any(left in line for line in lines for left in ("starting", "━", "0:00:0"))
    assert b"writing function texts" in shown.raw
    assert shown.raw.rindex(CURSOR_SHOWN) > shown.raw.rindex(CURSOR_HIDDEN)
    assert not shown.screen().cursor.hidden
    assert COLOUR.search(shown.raw)
    no_bar_breaks_its_line(shown)


def no_bar_breaks_its_line(shown: Shown) -> None:
    drawn = [line for line in re.split(r"\r\n|\r|\x1b\[2K", shown.raw.decode()) if re.search(r"\d+/\d+", line)]
    assert drawn
    assert all(len(re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", line)) <= shown.width for line in drawn)


@pytest.mark.slow
def test_no_color_gets_no_colours(repository: Path, tmp_path: Path) -> None:
    shown = first_build(repository, tmp_path, NO_COLOR="1")

    assert shown.exit_code == 0
    assert not COLOUR.search(shown.raw)


@pytest.mark.parametrize(
    "env",
    [
        pytest.param({"TERM": "dumb"}, id="TERM=dumb"),
        pytest.param({"CI": "true"}, id="CI=true", marks=pytest.mark.slow),
    ],
)
def test_where_no_cursor_can_be_moved_progress_is_lines(repository: Path, tmp_path: Path, env: dict[str, str]) -> None:
    shown = first_build(repository, tmp_path, **env)

    assert shown.exit_code == 0
    assert CURSOR_HIDDEN not in shown.raw and b"\x1b[2K" not in shown.raw
    assert b"\nwriting function texts: 1 of 1\r\n" in shown.raw
    if env.get("TERM") == "dumb":
        assert not CONTROL.search(shown.raw)


def test_a_pipe_gets_lines_on_stderr_and_the_table_on_stdout(repository: Path, tmp_path: Path) -> None:
    done = fork_codesum("--home", "home", "index", repository, cwd=tmp_path)

    assert done.returncode == 0
    assert done.stderr.startswith("signing: registered, /")
    assert "writing function texts: 1 of 1" in done.stderr.splitlines()
    assert "\x1b" not in done.stdout + done.stderr
    assert "published" in done.stdout and "writing" not in done.stdout


@pytest.mark.slow
def test_the_recorder_script_sees_a_build_end(repository: Path, tmp_path: Path) -> None:
    program = shutil.which("script")
    assert program, "script, of util-linux, is part of every Linux and macOS"
    line = " ".join([*COMMAND, "--home", "home", "index", str(repository)])
    done = subprocess.run(
        [program, "-qec", line, "/dev/null"],
        cwd=tmp_path,
        env=environment({"TERM": "xterm-256color"}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=200,
    )

    assert done.returncode == 0, done.stdout[-500:]
    assert b"published" in done.stdout


@pytest.mark.slow
def test_something_is_shown_before_anything_heavy_is_imported(repository: Path, tmp_path: Path) -> None:
    loud = [COMMAND[0], "-X", "importtime", *COMMAND[1:]]
    shown = watch(
        ["--home", "home", "index", repository],
        cwd=tmp_path,
        width=80,
        command=loud,
        until=lambda shown: bool(re.search(rb"\| +dagster\r?\n", shown.raw)),
    )

    before, _, after = shown.raw.partition(b"starting")
    for heavy in (b"pyarrow", b"numpy", b"duckdb", b"tree_sitter"):
        assert not re.search(rb"\| +%b\r?\n" % heavy, before), heavy
        assert re.search(rb"\| +%b\r?\n" % heavy, after), heavy
    assert not re.search(rb"\| +dagster\r?\n", shown.raw), "another process imports it"


@pytest.mark.slow
def test_an_interrupt_ends_a_build_in_one_line_and_gives_its_lease_back(repository: Path, tmp_path: Path) -> None:
    # Enough that the build is not over before the key is pressed, on a machine with much else to do.
    more = repository / "more"
    more.mkdir()
    for number in range(300):
        (more / f"signing_{number}.py").write_text(SIGN.replace("sign", f"sign_{number}"))
    GitRepo(repository).commit({})
    shown = watch(
        ["--home", "home", "index", repository],
        cwd=tmp_path,
        width=80,
        until=lambda shown: b"parsing" in shown.raw,
    )

    assert shown.exit_code == 130
    assert b"Traceback" not in shown.raw
    assert shown.raw.rindex(CURSOR_SHOWN) > shown.raw.rindex(CURSOR_HIDDEN)
    assert current_holder(HomeLayout(tmp_path / "home").state("signing")) is None
    shutil.rmtree(more)
    GitRepo(repository).commit({})
    again = first_build(repository, tmp_path)
    assert again.exit_code == 0 and b"published" in again.raw


def test_an_interrupt_while_it_starts_ends_it(repository: Path, tmp_path: Path) -> None:
    shown = watch(
        ["--home", "home", "index", repository], cwd=tmp_path, width=80, until=lambda shown: b"starting" in shown.raw
    )

    assert shown.exit_code == 130
    assert b"Traceback" not in shown.raw


def test_an_interrupt_that_an_import_swallows_is_not_lost() -> None:
    with pytest.raises(KeyboardInterrupt), show_start(), suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)

    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
