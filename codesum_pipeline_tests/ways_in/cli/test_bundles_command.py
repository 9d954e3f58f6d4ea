"""`codesum export` and `codesum import` as an operator and a CI job call them."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.builds.dagster.control import register_partitions
from codesum_pipeline.builds.dagster.dagster_records import open_instance
from codesum_pipeline_tests.support.bundles import export_of
from codesum_pipeline_tests.support.homes import built_once, open_home
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.ssh_keys import KEYS, key_in, recorded
from codesum_pipeline_tests.ways_in.cli.conftest import Call

FILES = {
    "a.py": 'def order_total(items):\n    """Return the sum of all prices."""\n    return sum(items)\n',
    "b.py": 'def bill(cart):\n    """Write the bill of a cart."""\n    return str(cart)\n',
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield built_once(tmp_path_factory.mktemp("built"), FILES)


@pytest.fixture(scope="module")
def bundle(built: Path) -> Path:
    """An unsigned bundle of it."""
    export_of(open_home(built / "home"), built / "shop.codesum")
    return built / "shop.codesum"


def must(result: Any) -> str:
    assert result.exit_code == 0, result.stderr
    return str(result.stdout + result.stderr)


def test_ci_exports_a_signed_bundle_and_a_laptop_builds_the_difference(
    codesum: Call, built: Path, tmp_path: Path
) -> None:
    repo, bundle, home = GitRepo(built / "repository"), tmp_path / "shop.codesum", tmp_path / "home"
    (tmp_path / "signers").write_text(f"ci@example.org {recorded('plain_key.pub')}")

    exported = must(codesum(built / "home", "export", "shop", bundle, "--sign", key_in(tmp_path)))
    imported = must(codesum(home, "import", bundle, repo.path, "--signers", tmp_path / "signers"))
    status = json.loads(must(codesum(home, "status", "--json")))
    found = must(codesum(home, "search", "sum of all prices"))

    assert "shop: commit " in exported
    assert "not signed" not in exported
    assert "shop: registered" in imported
    assert "made here: 0 parsed, 0 written, 0 embedded; it is signed by ci@example.org" in imported
    assert status["commit"] == repo.git("rev-parse", "HEAD").strip()
    assert "a.py::order_total" in found
    assert not (home / "dagster").exists()


def test_dagster_knows_what_was_imported_where_it_has_records(codesum: Call, built: Path, tmp_path: Path) -> None:
    made = json.loads(must(codesum(built / "home", "export", "shop", tmp_path / "shop.codesum", "--json")))
    home = open_home(tmp_path / "home")
    register_partitions(home, ["other"])

    must(
        codesum(
            tmp_path / "home", "import", tmp_path / "shop.codesum", built / "repository", "--sha256", made["digest"]
        )
    )

    with open_instance(home.layout) as instance:
        assert sorted(instance.get_dynamic_partitions("codesum_repos")) == ["other", "shop"]


def test_a_bundle_by_its_digest_into_another_key_says_where_head_is(codesum: Call, built: Path, tmp_path: Path) -> None:
    bundle, home = tmp_path / "shop.codesum", tmp_path / "home"
    made = json.loads(must(codesum(built / "home", "export", "shop", bundle, "--json")))
    clone = tmp_path / "clone"
    GitRepo(built / "repository").git("clone", "-q", str(built / "repository"), str(clone))
    head = GitRepo(clone).commit({"c.py": "def c():\n    return 1\n"})

    imported = must(codesum(home, "import", bundle, clone, "--key", "store", "--sha256", made["digest"]))
    again = json.loads(
        must(codesum(home, "import", bundle, "--key", "store", "--sha256", made["digest"], "--json")).splitlines()[0]
    )

    assert f"store: HEAD is {head[:12]}: `codesum index store` builds what differs" in imported
    assert (again["key"], again["is_new"], again["trust"]) == ("store", False, "its digest is the pinned one")
    assert again["commit"] != again["head"] == head


WRONG = {
    "unsigned": (("{bundle}", "{repository}"), 1, "it is not signed: .*say --unsigned"),
    "unsigned from afar": (("https://127.0.0.1:1/b", "--unsigned"), 2, "--unsigned is for files of this machine"),
    "a pin that is none": (("{bundle}", "--sha256", "abc"), 2, "give the 64 hex digits"),
    "another pin": (
        ("{bundle}", "{repository}", "--sha256", "0" * 64),
        1,
        "its digest is [0-9a-f]{64}, not the one of",
    ),
    "no clone": (("{bundle}", "--unsigned"), 2, "no repository 'shop' is registered here: name its clone"),
    "a key that is none": (("{bundle}", "{repository}", "--unsigned", "--key", "../x"), 2, "repository key '../x'"),
    "a clone that is gone": (("{bundle}", "/no/such/clone", "--unsigned"), 2, "there is no folder /no/such/clone"),
    "no bundle": (("{repository}/a.py", "{repository}", "--unsigned"), 1, "a.py: it is no bundle, or cut off"),
    "no name": (("", "{repository}", "--unsigned"), 2, "the name of the bundle is empty: name a file"),
    "no address": (("https://[::1", "{repository}"), 1, "it cannot be fetched: Invalid port"),
    "a file that cannot be read": (
        ("/proc/self/mem", "{repository}"),
        1,
        "/proc/self/mem: it (is no bundle, or damaged|cannot be read)",
    ),
    "no file": (("gone.codesum", "{repository}", "--unsigned"), 1, "gone.codesum: it cannot be read: No such file"),
}


@pytest.mark.parametrize(("arguments", "status", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_with_an_import_is_one_line(
    codesum: Call, built: Path, bundle: Path, tmp_path: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    given = [text.format(bundle=bundle, repository=built / "repository") for text in arguments]

    result = codesum(tmp_path / "home", "import", *given)

    assert result.exit_code == status, result.stderr
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("codesum: ")]
    assert re.search(message, line), line


def test_offline_nothing_is_fetched(codesum: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODESUM_OFFLINE", "true")

    result = codesum(tmp_path / "home", "import", "https://127.0.0.1:1/b", "--sha256", "0" * 64)

    assert (result.exit_code, "nothing is fetched offline" in result.stderr) == (2, True)


def test_a_key_that_is_registered_with_another_clone_is_not_replaced(
    codesum: Call, built: Path, bundle: Path, tmp_path: Path
) -> None:
    other = GitRepo.create(tmp_path / "other", {"x.py": "x = 1\n"})
    must(codesum(tmp_path / "home", "add", other.path, "--key", "shop"))

    result = codesum(tmp_path / "home", "import", bundle, built / "repository", "--unsigned")

    assert result.exit_code == 1
    assert f"repository 'shop' is registered here with {other.path}, not with {built / 'repository'}" in result.stderr
    assert "choose another key with --key" in result.stderr


def test_what_is_wrong_with_an_export_is_one_line(codesum: Call, built: Path, tmp_path: Path) -> None:
    unknown = codesum(built / "home", "export", "shpo", tmp_path / "x")
    folder = codesum(built / "home", "export", "shop", tmp_path)
    no_key = codesum(built / "home", "export", "shop", tmp_path / "x", "--sign", KEYS / "message")
    os.mkfifo(tmp_path / "pipe")
    pipe = codesum(built / "home", "export", "shop", tmp_path / "pipe")

    assert (unknown.exit_code, folder.exit_code, no_key.exit_code, pipe.exit_code) == (2, 2, 2, 2)
    assert "shpo" in unknown.stderr
    assert f"{tmp_path} is no file: name the file to write, as in shop.codesum" in folder.stderr
    assert "ssh-keygen cannot sign with it" in no_key.stderr
    assert f"{tmp_path / 'pipe'} is no file: name the file to write" in pipe.stderr
    assert (tmp_path / "pipe").is_fifo()
    assert not (tmp_path / "x").exists()
