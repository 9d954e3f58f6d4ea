"""File names that were made to be misread: each is indexed as it is, or skipped for a reason."""

import json
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import connect_in_memory, create_views
from codesum_pipeline_tests.builds.hostile.building import SOUND, Built, built, fast_import
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

INDEXED = {
    "space": b"with space.py",
    "trailing space": b"trailing ",
    "newline": b"new\nline.py",
    "tab": b"tab\t.py",
    "double quote and backslash": b'quo"te\\back.py',
    "SQL": b"it's' OR 1=1; DROP TABLE symbols;--.py",
    "leading dash": b"-rf.py",
    "option as a folder": b"--help/x.py",
    "shell": b"$HOME;`id`|&.py",
    "glob as a name": b"*",
    "glob as a folder": b"dir*[x]?/a.py",
    "composed letter": "caf\u00e9.py".encode(),
    "decomposed letter": "cafe\u0301.py".encode(),
    "upper case": b"Case.py",
    "lower case": b"case.py",
    "CON": b"CON.py",
    "aux": b"aux",
    "short name of git folder": b"GIT~1",
    "terminal escape": b"\x1b]0;owned\x07\x1b[31mred.py",
    "HTML": b"<script>alert(1)<.py",
    "format braces": b"{template}{0}.py",
    "jinja braces": b"{{7*7}}{%if%}.py",
    "bidirectional override": "\u202egnp.py".encode(),
    "zero width": "zero\u200bwidth.py".encode(),
    "line separator": "\u2028sep.py".encode(),
    "number sign": b"f.py#2",
    "file named as a folder": b"dir.py/inner.py",
    "hidden": b".hidden.py",
    "only dots": b"....",
    "three dots as a folder": b"x/.../y.py",
    "255 bytes": b"n" * 252 + b".py",
    "no extension": b"Makefile.",
    "100 folders": b"d/" * 100 + b"deep.py",
}
SKIPPED = {
    "not UTF-8": (b"caf\xe9.py", "./caf\\xe9.py", "invalid_path"),
    "separator of ids": (b"a::b.py", "a::b.py", "invalid_path"),
    "file named as a symbol": (b"case.py::order_total", "case.py::order_total", "invalid_path"),
    "101 folders": (b"e/" * 101 + b"deep.py", "e/" * 101 + "deep.py", "too_deep"),
    "4000 characters": (b"f/" * 1_998 + b"a.py", "f/" * 1_998 + "a.py", "too_deep"),
    "backslash beside a name that is not UTF-8": (b"\\xe9\xe9.py", "./\\\\xe9\\xe9.py", "invalid_path"),
}
ALL_IDS = [*INDEXED, *SKIPPED]


@pytest.fixture(scope="module")
def odd_names(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """One repository with all of them."""
    folder = tmp_path_factory.mktemp("odd_names")
    repo = GitRepo.create(folder / "repository")
    fast_import(repo, ((name, SOUND) for name in [*INDEXED.values(), *(raw for raw, _, _ in SKIPPED.values())]))
    return built(repo.path, folder / "home")


@pytest.mark.parametrize("raw", INDEXED.values(), ids=INDEXED)
def test_a_name_is_indexed_as_it_is(odd_names: Built, raw: bytes) -> None:
    path = raw.decode()
    documents = odd_names.documents()

    assert odd_names.reasons()[path] is None
    assert documents[path]["file_path"] == path
    if path.endswith(".py"):
        assert documents[f"{path}::order_total"]["parent_id"] == path


@pytest.mark.parametrize(("path", "reason"), [case[1:] for case in SKIPPED.values()], ids=SKIPPED)
def test_a_name_is_skipped_for_a_reason(odd_names: Built, path: str, reason: str) -> None:
    assert odd_names.reasons()[path] == reason
    assert path not in {document["file_path"] for document in odd_names.documents().values()}


def test_every_name_is_accounted_for(odd_names: Built) -> None:
    report = odd_names.reports["repo_snapshot"]

    assert (report.files_indexed, report.files_skipped) == (len(INDEXED), len(SKIPPED))
    assert report.skipped_by_reason == {"invalid_path": 4, "too_deep": 2}


def test_the_doctor_finds_nothing_wrong_with_odd_names(odd_names: Built, codesum) -> None:
    assert codesum(odd_names.home.layout.home, "doctor").exit_code == 0


def test_odd_names_in_the_answers_of_a_search_are_whole_in_json(odd_names: Built, codesum) -> None:
    found = codesum(odd_names.home.layout.home, "search", "sum of prices", "--top", "200", "--json")

    ids = {hit["id"] for hit in json.loads(found.stdout)["hits"]}
    assert {f"{raw.decode()}::order_total" for raw in INDEXED.values() if raw.endswith(b".py")} <= ids
    assert all(character.isprintable() for character in found.stdout.replace("\n", ""))


@pytest.mark.parametrize("name", ["terminal escape", "newline", "SQL", "leading dash", "bidirectional override"])
def test_a_document_can_be_shown_by_any_name(odd_names: Built, codesum, name: str) -> None:
    path = INDEXED[name].decode()

    shown = codesum(odd_names.home.layout.home, "show", "--json", "--", f"{path}::order_total")

    assert json.loads(shown.stdout)["file_path"] == path
    assert all(character.isprintable() for character in shown.stdout.replace("\n", ""))


def test_a_name_in_an_error_is_one_printable_line(odd_names: Built, codesum) -> None:
    refused = codesum(odd_names.home.layout.home, "show", "--", "\x1b[31mno\nsuch\u202e.py")

    assert refused.exit_code == 2
    assert refused.stderr.count("\n") == 1
    assert all(character.isprintable() for character in refused.stderr.strip())


def test_sql_takes_a_name_as_text(odd_names: Built, codesum) -> None:
    quoted = INDEXED["SQL"].decode().replace("'", "''")

    counted = codesum(
        odd_names.home.layout.home, "sql", "--csv", f"SELECT count(*) AS n FROM files WHERE path = '{quoted}'"
    )

    assert counted.stdout.split() == ["n", "1"]


def test_a_home_and_a_repository_may_have_odd_names(git_repo, tmp_path: Path) -> None:
    odd = "it's {0} [glob]* ünï#%20"
    repo = git_repo({"a.py": SOUND}, name=odd)

    made = built(repo.path, tmp_path / f"{odd}\n\u202e" / "home")

    assert set(made.documents()) == {".", "a.py", "a.py::order_total"}
    assert made.rebuilt().findings() == []


def test_a_home_that_duckdb_cannot_write_to_is_refused(codesum, tmp_path: Path) -> None:
    refused = codesum(tmp_path / "a?b", "repos")

    assert refused.exit_code == 2
    assert "must not hold a '?'" in refused.stderr


@pytest.mark.parametrize("key", ["a.b-c_d", "1", "select", "null", "CON", "x" * 100])
def test_a_key_that_means_something_elsewhere_is_only_a_key(git_repo, tmp_path: Path, key: str) -> None:
    home = open_home(tmp_path / "home")
    workspace = workspace_of(home, RepositoryEntry(key=key, location=str(git_repo({"a.py": SOUND}).path)))

    build(workspace, until="symbols")

    assert home.registry.get(key).key == key
    with connect_in_memory() as connection:
        create_views(connection, home.tables, tables=("symbols",))
        assert connection.execute("SELECT repo, id FROM symbols").fetchall() == [(key, "a.py::order_total")]


@pytest.mark.parametrize("key", ["../x", "a/b", "-x", ".git", "a::b", "x.lock", "it's", "a\nb", "x" * 101])
def test_a_key_that_cannot_be_a_folder_is_refused(git_repo, codesum, tmp_path: Path, key: str) -> None:
    repo = git_repo({"a.py": SOUND})

    added = codesum(tmp_path / "home", "add", repo.path, f"--key={key}")

    assert added.exit_code == 2
    assert "use 1-100 letters, digits" in added.stderr


@pytest.mark.parametrize("location", ["new\nline", "bidi\u202e", "escape\x1b[31m"], ids=["newline", "bidi", "escape"])
def test_a_location_that_cannot_be_printed_is_refused(codesum, tmp_path: Path, location: str) -> None:
    (tmp_path / location).mkdir()

    added = codesum(tmp_path / "home", "add", f"./{location}")

    assert added.exit_code == 2
    assert added.stderr.count("\n") == 1
    assert added.stderr.strip().isprintable()


def test_a_work_tree_gives_the_same_rows_as_the_commit(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    for name, raw in INDEXED.items():
        if "case" in name:
            continue
        path = folder / raw.decode()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(SOUND)

    made = built(folder, tmp_path / "home")

    expected = {raw.decode(): None for name, raw in INDEXED.items() if "case" not in name}
    assert made.reasons() == expected
