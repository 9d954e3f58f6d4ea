"""repos.yaml: what it may say, and what happens to it."""

import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, InvalidKey, UnknownRepository
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.repositories.registry import Registry

FLASK = RepositoryEntry(key="flask", location="https://github.com/pallets/flask.git")


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path / "home" / "repos.yaml")


def write(registry: Registry, text: str) -> Registry:
    registry.file.parent.mkdir(parents=True, exist_ok=True)
    registry.file.write_text(text, encoding="utf-8")
    return registry


def test_a_missing_file_has_no_entries(registry: Registry) -> None:
    assert registry.entries() == []


def test_an_entry_comes_back_as_it_was_added(registry: Registry, tmp_path: Path) -> None:
    folder = tmp_path / "mono"
    folder.mkdir()
    full = RepositoryEntry(
        key="mono-api",
        location=str(folder),
        ref="release/1.0",
        subdir="services/api",
        include=("*.py",),
        exclude=("docs/",),
        enabled=False,
    )
    work_tree = RepositoryEntry(key="Live", location=str(folder), worktree=True)

    for entry in (full, FLASK, work_tree):
        assert registry.add(entry) == entry

    assert registry.entries() == [work_tree, FLASK, full]
    assert registry.get("mono-api") == full


def test_a_relative_path_starts_at_the_file_and_stays_relative_in_it(registry: Registry, tmp_path: Path) -> None:
    write(registry, "repositories:\n  near:\n    path: ../near\n")

    registry.add(FLASK)

    assert registry.get("near").location == str(tmp_path / "near")
    assert "path: ../near" in registry.file.read_text()


def test_a_missing_path_stops_neither_the_other_entries_nor_the_reading(registry: Registry) -> None:
    write(registry, "repositories:\n  gone: {path: ../gone}\n  flask: {url: 'https://github.com/pallets/flask.git'}\n")

    assert [entry.key for entry in registry.entries()] == ["flask", "gone"]


def test_adding_a_path_that_does_not_exist_is_refused(registry: Registry, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as error:
        registry.add(RepositoryEntry(key="flask", location=str(tmp_path / "flsk")))

    assert str(error.value) == f"repos.yaml: 'flask': path {tmp_path}/flsk does not exist or is not a folder"
    assert not registry.file.exists()


def test_an_unknown_key_names_the_nearest(registry: Registry) -> None:
    registry.add(FLASK)

    with pytest.raises(UnknownRepository, match="no repository 'Flsk'; the nearest is 'flask'"):
        registry.get("Flsk")


def test_a_removed_entry_is_disabled_and_comes_back_when_added_again(registry: Registry) -> None:
    registry.add(FLASK)

    assert registry.remove("flask") == replace(FLASK, enabled=False)
    assert registry.entries() == [replace(FLASK, enabled=False)]

    registry.add(replace(FLASK, ref="main"))
    assert registry.entries() == [replace(FLASK, ref="main")]


def test_a_key_unlike_all_others_is_not_taken_for_one_of_them(registry: Registry) -> None:
    registry.add(FLASK)

    with pytest.raises(UnknownRepository, match="no repository 'quux'; `codesum repos` lists them"):
        registry.get("quux")


def test_a_purged_entry_is_gone(registry: Registry) -> None:
    registry.add(FLASK)

    registry.purge("flask")
    assert registry.entries() == []
    with pytest.raises(UnknownRepository):
        registry.purge("flask")


@pytest.mark.parametrize("key", ["flask", "FLASK"])
def test_a_key_of_another_repository_is_refused(registry: Registry, key: str) -> None:
    registry.add(FLASK)

    with pytest.raises(ConfigurationError, match=f"'{key}': the key belongs to https://github.com/pallets/flask.git"):
        registry.add(RepositoryEntry(key=key, location="https://example.org/other/flask"))


def test_default_keys_are_numbered_when_another_location_has_the_name(registry: Registry) -> None:
    assert registry.default_key("https://example.org/other/Flask") == "Flask"
    registry.add(FLASK)

    assert registry.default_key(FLASK.location) == "flask"
    assert registry.default_key("https://example.org/other/Flask") == "Flask-2"
    assert registry.default_key(FLASK.location, subdir="src/flask") == "flask-flask"


def test_an_entry_is_found_by_location_and_folder(registry: Registry) -> None:
    registry.add(FLASK)

    assert registry.find(FLASK.location) == FLASK
    assert registry.find(FLASK.location, subdir="src") is None


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{url: https://h/a/b, branchh: main}", "'x': unknown field 'branchh'; the nearest is '"),
        ("{url: https://h/a/b, reff: main}", "'x': unknown field 'reff'; the nearest is 'ref'"),
        ("{}", "'x': give either a path or a url"),
        ("{url: https://h/a/b, path: a}", "'x': give either a path or a url"),
        ("null", "'x': has no fields"),
        ("{url: https://h/a/b, ref: 1.10}", r"'x': ref = 1.1: Input should be a valid string \(put it in quotes\)"),
        ("{url: https://h/a/b, ref: ''}", "'x': ref '' cannot be the name of a branch"),
        ("{url: https://h/a/b, ref: --upload-pack=x}", "'x': ref '--upload-pack=x' cannot be"),
        ("{url: https://h/a/b, include: src}", "'x': include = 'src': Input should be a valid list"),
        ("{url: https://h/a/b, subdir: ../a}", "'x': subdir '../a' is not a folder below the git root"),
        ("{url: https://h/a/b, subdir: /a}", "'x': subdir '/a' is not a folder below the git root"),
        ("{url: https://h/a/b, worktree: true}", "'x': worktree reads a folder"),
        ("{path: a, ref: main, worktree: true}", "'x': worktree reads a folder"),
        ("{path: https://h/a/b}", "'x': path: location 'https://h/a/b' is a URL: name it url"),
        ("{url: ../a}", "'x': url: location '../a' is a path: name it path"),
        ("{url: 'ext::sh -c x'}", "'x': a location that cannot be read: remote helpers are not used"),
    ],
)
def test_an_entry_that_cannot_be_is_an_error_that_names_it(registry: Registry, entry: str, message: str) -> None:
    write(registry, f"repositories:\n  x: {entry}\n  sound: {{url: https://h/a/b}}\n")

    survey = registry.survey()

    assert [entry.key for entry in survey.entries] == ["sound"]
    assert list(survey.problems) == ["x"]
    with pytest.raises(ConfigurationError, match=f"^repos.yaml: {message}"):
        registry.get("x")
    assert registry.get("sound").key == "sound"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("repos: {}", "unknown key 'repos'; the only ones are 'repositories' and"),
        ("- a", "expected a mapping"),
        ("repositories: [a]", "is a mapping of keys to entries"),
        ("repositories: {a: {path: a}, a: {path: b}}", "the key 'a' occurs twice"),
        ("repositories: {a: &x", "not valid YAML"),
        ("repositories: !!python/object:os.system {}", "not valid YAML"),
    ],
)
def test_a_file_that_cannot_be_is_an_error(registry: Registry, text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        write(registry, text).entries()


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("a/../b", "repos.yaml: repository key 'a/../b'"),
        ("1", "repos.yaml: key 1 is not text: put it in quotes"),
        ("SOUND", "repos.yaml: 'SOUND': differs from 'sound' in case alone"),
    ],
)
def test_a_key_that_cannot_be_is_named_and_the_others_go_on(registry: Registry, key: str, message: str) -> None:
    write(registry, f"repositories: {{sound: {{path: a}}, {key}: {{path: b}}}}")

    survey = registry.survey()

    assert [entry.key for entry in survey.entries] == ["sound"]
    assert str(survey.problems[key]).startswith(message)


def test_a_key_that_cannot_be_a_folder_is_refused(registry: Registry) -> None:
    with pytest.raises(InvalidKey, match=r"^repos.yaml: repository key 'a/../b'"):
        write(registry, "repositories: {a/../b: {path: a}}").get("a/../b")


def test_what_cannot_be_read_stays_in_the_file_when_others_are_changed(registry: Registry) -> None:
    write(registry, "repositories: {bad: {urll: x}, 1: {}, sound: {url: https://h/a/b}}")

    registry.remove("sound")

    assert sorted(registry.survey().problems) == ["1", "bad"]
    assert not registry.get("sound").enabled


def test_no_error_shows_a_password(registry: Registry) -> None:
    with pytest.raises(ConfigurationError) as error:
        write(registry, "repositories: {a: {url: 'http://u:s3cret@h/a'}}").get("a")
    assert "s3cret" not in str(error.value)

    with pytest.raises(ConfigurationError) as error:
        write(registry, "repositories: {a: {path: ['https://u:s3cret@h/a']}}").get("a")
    assert "s3cret" not in str(error.value)


def test_entries_added_at_once_are_all_kept(registry: Registry) -> None:
    keys = [f"r{number}" for number in range(24)]
    threads = [
        threading.Thread(target=registry.add, args=(RepositoryEntry(key=key, location=f"https://h/a/{key}"),))
        for key in keys
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [entry.key for entry in registry.entries()] == sorted(keys)


def test_compilers_indexes_and_their_command_come_back_as_they_were_added(registry: Registry, tmp_path: Path) -> None:
    entry = replace(
        FLASK, scip=("/srv/a.scip", "/srv/b.scip@web/app"), scip_command="scip-python index --output {output} ."
    )

    assert registry.add(entry) == entry
    assert registry.get("flask") == entry


def test_an_index_lies_relative_to_a_local_repository_and_else_to_the_registry(
    registry: Registry, tmp_path: Path
) -> None:
    (tmp_path / "near").mkdir()
    write(
        registry,
        "repositories:\n"
        "  near: {path: ../near, scip: [build/index.scip@./web/, node_modules/@acme/x]}\n"
        "  flask: {url: 'https://github.com/pallets/flask.git', scip: [flask.scip]}\n",
    )

    assert registry.get("near").scip == (
        f"{tmp_path}/near/build/index.scip@web",
        f"{tmp_path}/near/node_modules/@acme/x",
    )
    assert registry.get("flask").scip == (f"{tmp_path}/home/flask.scip",)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("scip: ['']", "scip '': give the path of a SCIP index"),
        ("scip: index.scip", "scip = 'index.scip': Input should be a valid list"),
        ("scip: ['a.scip@../x']", "'../x' is not a folder below the git root"),
        ("scip: ['a.scip@/x']", "'/x' is not a folder below the git root"),
        ("scip_command: [a, b]", "scip_command = ['a', 'b']: Input should be a valid string"),
        ("scip_command: 'a \"b'", "No closing quotation: correct its quotes"),
        ('scip_command: "a\\nb"', "give one command line, or leave it out"),
        ("scip_command: ' '", "give one command line, or leave it out"),
        ("scip_command: \"''\"", "give one command line, or leave it out"),
    ],
    ids=[
        "empty",
        "no list",
        "above",
        "absolute",
        "command is a list",
        "open quote",
        "two lines",
        "blank",
        "no program",
    ],
)
def test_an_index_or_command_that_cannot_be_is_named(registry: Registry, field: str, message: str) -> None:
    write(registry, f"repositories: {{bad: {{path: ., {field}}}}}\n")

    with pytest.raises(ConfigurationError) as error:
        registry.get("bad")

    assert message in str(error.value)
