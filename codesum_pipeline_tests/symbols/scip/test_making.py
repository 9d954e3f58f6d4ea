"""When a command is run, what is taken of what it writes, and what is said of it."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.cancellation import wanted_until
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.git.mirror import Mirror
from codesum_pipeline.symbols.scip.making import make_index
from codesum_pipeline_tests.support.homes import open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.symbols.scip.making import SANDBOXES, Shop

FILES = {"a.py": "def f():\n    return 1\n", "inner/b.py": "B = 1\n"}
WAIT_S = 20


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop.create(tmp_path, FILES, sandbox="none")


@pytest.fixture(scope="module")
def one_shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """For commands that fail, each of which is another."""
    return Shop.create(tmp_path_factory.mktemp("one"), FILES)


@pytest.fixture(autouse=True)
def rooms(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where commands have their rooms; nothing of them is left after a test."""
    folder = tmp_path_factory.mktemp("rooms")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def wait_until_gone(marker: str) -> None:
    """Until no process has the marker in its command line."""
    until = time.monotonic() + WAIT_S
    while left := _running(marker):
        assert time.monotonic() < until, left
        time.sleep(0.02)


def wait_until_running(marker: str) -> None:
    until = time.monotonic() + WAIT_S
    while not _running(marker):
        assert time.monotonic() < until
        time.sleep(0.02)


def _running(marker: str) -> list[psutil.Process]:
    """Only of programs of this name: a shell or bubblewrap may hold it as an argument."""
    words = marker.split()
    return [one for one in psutil.process_iter(["cmdline"]) if one.info["cmdline"] == words]


def test_without_a_command_there_is_nothing_to_say(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "shop", FILES)
    ws = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path)))

    assert make_index(ws, Mirror(ws.layout.mirror("shop")), "HEAD") is None


@pytest.mark.parametrize("sandbox", SANDBOXES)
@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("cp a.py index.scip", FILES["a.py"]),
        ("cp a.py {output}", FILES["a.py"]),
        ("sh -c 'cat $1 >$0' {output} a.py", FILES["a.py"]),
    ],
    ids=["in the current folder", "where it is told", "within a word"],
)
def test_what_a_command_writes_is_kept(tmp_path: Path, sandbox: str, command: str, written: str, rooms: Path) -> None:
    made = Shop.create(tmp_path, FILES, sandbox=sandbox).make(command)

    assert made.problem == ""
    assert made.origin == f"made by {command}"
    assert made.path == tmp_path / "home/state/shop.scip/made.scip"
    assert made.path.read_text() == written
    assert list(rooms.iterdir()) == []


@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_a_command_runs_in_the_folder_of_its_entry(tmp_path: Path, sandbox: str) -> None:
    made = Shop.create(tmp_path, FILES, sandbox=sandbox).make("cp b.py index.scip", subdir="inner")

    assert made.path is not None and made.path.read_text() == FILES["inner/b.py"]


def test_a_command_is_run_once_for_a_tree_and_again_where_something_changes(shop: Shop, tmp_path: Path) -> None:
    count = tmp_path / "count"

    def runs(command: str = f"sh -c 'echo x >>{count}; cp {count} index.scip'", *, force: bool = False) -> int:
        assert shop.make(command, force=force).problem == ""
        return len(count.read_text().split())

    assert (runs(), runs()) == (1, 1)
    shop.repo.commit({}, "the same tree")
    assert runs() == 1
    shop.repo.commit({"a.py": "A = 2\n"})
    assert (runs(), runs()) == (2, 2)
    assert runs(force=True) == 3
    other = f"sh -c 'echo y >>{count}; cp {count} index.scip'"
    assert (runs(other), runs(other)) == (4, 4)


def test_a_failed_command_is_not_tried_again_for_the_same_tree_and_the_last_index_stays(shop: Shop) -> None:
    first = shop.make("cp a.py index.scip")
    shop.repo.commit({"a.py": "A = 2\n"})
    failing = "sh -c 'date +%N; echo the disk is on fire; exit 3'"

    failed, again, forced = shop.make(failing), shop.make(failing), shop.make(failing, force=True)

    assert (failed.path, failed.origin) == (first.path, first.origin)
    assert first.path is not None and first.path.read_text() == FILES["a.py"]
    assert failed.problem == again.problem != forced.problem
    assert "it ended with status 3; it said: " in failed.problem
    assert failed.problem.endswith("/ the disk is on fire; `codesum index --force` tries it again")


def test_other_settings_are_a_reason_to_try_again(tmp_path: Path) -> None:
    shop = Shop.create(tmp_path, FILES, sandbox="none", max_index_mb=1)
    command = "dd if=/dev/zero of=index.scip bs=1M count=3"
    assert "status" in shop.make(command).problem or "raise scip.max_index_mb" in shop.make(command).problem

    assert Shop(shop.repo, shop.home, {"sandbox": "none", "max_index_mb": 4}).make(command).problem == ""


@pytest.mark.parametrize("sandbox", SANDBOXES)
@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("true", "it ended well and wrote no index.scip: name {output} in the command"),
        ("touch index.scip", "its index is empty"),
        ("ln -s /etc/passwd index.scip", "it wrote index.scip as a link or something else"),
        ("ln -s /etc/passwd {output}", "it wrote index.scip as a link or something else"),
        ("mkfifo index.scip", "it wrote index.scip as a link or something else"),
        ("mkdir index.scip", "it wrote index.scip as a link or something else"),
        ("sh -c 'kill -9 $$'", "it was ended by signal 9"),
        ("sh -c 'printf \"\\033[31mred\\r\\033]0;x\\007\\n\"; exit 3'", "with status 3; it said: red; `codesum"),
        ("sh -c 'echo; echo https://me:hunter2@example.org; exit 1'", "it said: https://example.org; `codesum"),
        ("no-such-indexer --now", "was not run: no program 'no-such-indexer' in "),
        ("./no-such-indexer", "was not run: no program './no-such-indexer' in the checkout"),
        ("/no/such/indexer", "was not run: no program '/no/such/indexer' in what it may read"),
    ],
)
def test_what_went_wrong_is_one_line(one_shop: Shop, sandbox: str, command: str, problem: str, rooms: Path) -> None:
    made = replace(one_shop, settings={"sandbox": sandbox}).make(command)

    assert made.path is None
    assert problem in made.problem
    assert made.problem.isprintable() and len(made.problem) < 800
    assert list(rooms.iterdir()) == []


def test_an_index_below_a_link_is_not_taken(tmp_path: Path) -> None:
    made = Shop.create(tmp_path, FILES, sandbox="none").make(
        "sh -c 'mkdir ../x; cp b.py ../x/index.scip; cd ..; mv inner old; ln -s x inner'", subdir="inner"
    )

    assert made.path is None and "as a link or something else" in made.problem


def test_an_index_that_the_repository_holds_is_not_taken_for_one_that_was_made(tmp_path: Path) -> None:
    made = Shop.create(tmp_path, {**FILES, "index.scip": "old"}, sandbox="none").make("true")

    assert made.path is None and "wrote no index.scip" in made.problem


def test_a_command_line_is_no_shell_script(shop: Shop, tmp_path: Path) -> None:
    marker = tmp_path / "marker"

    made = shop.make(f"cp a.py index.scip; touch {marker} && touch {marker} | tee {marker} $(touch {marker}) `id` > x")

    assert made.path is None and not marker.exists()


def test_secrets_that_a_command_is_given_are_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INDEXER_TOKEN", "correct-horse")
    shop = Shop.create(tmp_path, FILES, sandbox="none", environment=("INDEXER_TOKEN", "NOT_SET"))

    assert "it said: has ***; " in shop.make("sh -c 'echo has $INDEXER_TOKEN; exit 1'").problem


def test_a_long_command_line_is_shortened(shop: Shop) -> None:
    made = shop.make(f"cp a.py index.scip {'x' * 500}")

    assert len(made.origin) == len("made by ") + 80 and made.origin.endswith("x…")


def test_a_commit_is_checked_out_exactly_and_runs_nothing(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    files: dict[str, str | bytes] = {
        "a.txt": "one\n$Id$\n",
        "list.py": "import os\n"
        "print(sorted(os.listdir()), open('a.txt', 'rb').read(), os.readlink('link'), os.readlink('folder'))\n",
        "new\nline -rf * ;`id`": "odd",
        "back\\slash": "odd",
        "\u202e.py": "odd",
    }
    shop = Shop.create(tmp_path, files, sandbox="none")
    (shop.repo.path / "link").symlink_to("/etc/passwd")
    (shop.repo.path / "folder").symlink_to(tmp_path)
    (shop.repo.path / ".git/hooks/post-checkout").write_text(f"#!/bin/sh\ntouch {marker}\n")
    (shop.repo.path / ".git/hooks/post-checkout").chmod(0o755)
    shop.repo.commit({})
    shop.repo.write({".gitattributes": "a.txt text eol=crlf ident filter=lfs working-tree-encoding=UTF-16\n"})
    shop.repo.git("add", ".gitattributes")
    shop.repo.git("commit", "-qm", "attributes")

    made = shop.make(f"sh -c '{sys.executable} list.py >index.scip'")

    assert made.problem == ""
    assert made.path is not None
    names = sorted({*files, ".gitattributes", "link", "folder", "index.scip"})
    assert made.path.read_text() == f"{names} {b'one' + bytes([10]) + b'$Id$' + bytes([10])!r} /etc/passwd {tmp_path}\n"
    assert not marker.exists()


def test_a_folder_that_is_a_link_is_not_entered(tmp_path: Path) -> None:
    shop = Shop.create(tmp_path, FILES, sandbox="none")
    (shop.repo.path / "etc").symlink_to("/etc")
    shop.repo.commit({})

    assert "subdir 'etc' is not a folder of the commit" in shop.make("cp passwd index.scip", subdir="etc").problem


def test_a_room_that_cannot_be_entered_or_is_very_deep_is_removed(shop: Shop, rooms: Path) -> None:
    deep = "import os\nfor _ in range(1200):\n    os.mkdir('d'); os.chdir('d')"
    shop.repo.commit({"deep.py": deep})

    made = shop.make(f"sh -c '{sys.executable} deep.py; mkdir -p x/y; chmod 0 x; cp a.py index.scip'")

    assert made.problem == ""
    assert list(rooms.iterdir()) == []


@pytest.mark.parametrize("sandbox", SANDBOXES)
def test_a_command_ends_when_nobody_wants_its_work(tmp_path: Path, sandbox: str, rooms: Path) -> None:
    shop = Shop.create(tmp_path, FILES, sandbox=sandbox)
    until = time.monotonic() + 0.5

    def check() -> None:
        if time.monotonic() > until:
            raise _NotWanted

    with wanted_until(check), pytest.raises(_NotWanted):
        shop.make("sh -c 'sleep 98765 & setsid sleep 98765'")

    wait_until_gone("sleep 98765")
    assert list(rooms.iterdir()) == []


class _NotWanted(Exception):
    pass


@pytest.mark.parametrize("sandbox", SANDBOXES)
@pytest.mark.parametrize(
    "number",
    [signal.SIGKILL, *(pytest.param(each, marks=pytest.mark.slow) for each in (signal.SIGTERM, signal.SIGINT))],
)
def test_a_command_ends_with_the_process_that_builds_and_its_room_with_the_next_build(
    tmp_path: Path, sandbox: str, number: signal.Signals, rooms: Path
) -> None:
    shop = Shop.create(tmp_path, FILES, sandbox=sandbox)
    seconds = f"9{number:02d}{len(sandbox):02d}"
    code = (
        "from pathlib import Path; from codesum_pipeline_tests.symbols.scip.making import Shop; "
        "from codesum_pipeline_tests.support.repositories import GitRepo; "
        f"Shop(GitRepo(Path({str(shop.repo.path)!r})), Path({str(shop.home)!r}), {{'sandbox': {sandbox!r}}})"
        f".make('sleep {seconds}')"
    )
    environment = {**os.environ, "TMPDIR": str(rooms), "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.DEVNULL)
    wait_until_running(f"sleep {seconds}")

    process.send_signal(number)
    process.wait(timeout=WAIT_S)

    wait_until_gone(f"sleep {seconds}")
    assert shop.make("cp a.py index.scip").problem == ""
    assert list(rooms.iterdir()) == []
