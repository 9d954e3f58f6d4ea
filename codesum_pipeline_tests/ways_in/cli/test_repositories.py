"""`add`, `remove` and `repos`: what is registered, and under which name."""

import json

import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, UnknownRepository
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.repositories.registry import Registry
from codesum_pipeline.ways_in.cli.entry_finding import EntryOptions, find_entry


@pytest.fixture
def registry(tmp_path):
    return Registry(tmp_path / "repos.yaml")


@pytest.fixture
def project(git_repo):
    return git_repo({"src/app/main.py": "x = 1\n"}).path


def test_a_path_gets_a_key_after_its_folder(registry, project):
    assert find_entry(registry, str(project)) == (RepositoryEntry("project", str(project)), False)


def test_a_relative_path_is_one_of_the_current_folder(registry, project, monkeypatch):
    monkeypatch.chdir(project)

    assert find_entry(registry, ".")[0].location == str(project)


def test_a_folder_inside_a_repository_is_its_subdir(registry, project):
    entry, _ = find_entry(registry, str(project / "src/app"))

    assert (entry.location, entry.subdir, entry.key) == (str(project), "src/app", "project-app")


def test_a_subdir_is_counted_from_the_folder_that_is_named(registry, project):
    entry, _ = find_entry(registry, str(project / "src"), EntryOptions(subdir="app/"))

    assert (entry.location, entry.subdir) == (str(project), "src/app")


def test_a_url_is_not_looked_up(registry):
    entry, _ = find_entry(registry, "https://example.org/team/shop.git", EntryOptions(ref="main"))

    assert entry == RepositoryEntry("shop", "https://example.org/team/shop.git", ref="main")


def test_a_registered_place_is_found_by_path_and_by_key(registry, project):
    known = registry.add(RepositoryEntry("mine", str(project)))

    assert find_entry(registry, str(project)) == (known, True)
    assert find_entry(registry, "mine") == (known, True)


def test_options_change_what_is_registered(registry, project):
    registry.add(RepositoryEntry("mine", str(project), exclude=("docs/",)))

    entry, is_known = find_entry(registry, "mine", EntryOptions(ref="main"))

    assert entry == RepositoryEntry("mine", str(project), ref="main", exclude=("docs/",))
    assert not is_known


def test_a_key_makes_a_second_entry_of_the_same_place(registry, project):
    registry.add(RepositoryEntry("mine", str(project)))

    assert find_entry(registry, str(project), EntryOptions(key="other", ref="v1")) == (
        RepositoryEntry("other", str(project), ref="v1"),
        False,
    )


def test_a_key_before_a_folder_of_the_same_name_and_the_folder_with_dot_slash(registry, project, tmp_path, monkeypatch):
    registry.add(RepositoryEntry("twin", str(project)))
    (tmp_path / "twin").mkdir()
    monkeypatch.chdir(tmp_path)

    assert find_entry(registry, "twin")[0].location == str(project)
    assert find_entry(registry, "./twin")[0].location == str(tmp_path / "twin")


def test_what_is_neither_key_nor_folder_names_the_nearest_key(registry, project):
    registry.add(RepositoryEntry("mine", str(project)))

    with pytest.raises(UnknownRepository, match="'mine'"):
        find_entry(registry, "mien")


def test_a_key_cannot_be_renamed_in_passing(registry, project):
    registry.add(RepositoryEntry("mine", str(project)))

    with pytest.raises(ConfigurationError, match="--key"):
        find_entry(registry, "mine", EntryOptions(key="other"))


def test_a_removed_repository_stays_listed_and_can_be_put_back(codesum, own_shop):
    assert codesum(own_shop, "remove", "shop").exit_code == 0
    assert json.loads(codesum(own_shop, "repos", "--json").stdout)["enabled"] is False
    assert codesum(own_shop, "add", "shop").exit_code == 0
    assert json.loads(codesum(own_shop, "repos", "--json").stdout)["enabled"] is True


def test_added_repositories_are_listed_with_what_is_published_of_them(codesum, own_shop, project):
    added = codesum(own_shop, "add", project, "--key", "second", "--exclude", "docs/")

    assert added.exit_code == 0
    assert "codesum index second" in added.stdout
    second, shop = codesum(own_shop, "repos").stdout.splitlines()[1:]
    assert second.split() == ["second", str(project), "HEAD", "yes", "-", "-", "-"]
    assert shop.split()[0] == "shop"
    assert shop.split()[5] == "11"


def test_a_purge_leaves_nothing_of_a_repository(codesum, own_shop):
    # It keeps the texts, below a lock beside them.
    assert codesum(own_shop, "grep", "def ").exit_code == 0
    assert codesum(own_shop, "remove", "shop", "--purge").exit_code == 0

    left = [str(path.relative_to(own_shop)) for path in own_shop.rglob("*") if "shop" in path.name]
    assert left == []
    assert codesum(own_shop, "repos").stdout == ""


def test_credentials_in_a_url_are_not_printed(codesum, tmp_path):
    home = tmp_path / "home"
    codesum(home, "add", "https://user:secret@example.org/team/shop.git")

    for arguments in (("repos",), ("repos", "--json"), ("status",), ("status", "shop")):
        result = codesum(home, *arguments)
        assert "example.org" in result.stdout or arguments == ("status",)
        assert "secret" not in result.output


def test_compilers_indexes_and_their_command_are_registered_and_listed(codesum, own_shop, project, monkeypatch):
    monkeypatch.chdir(project)

    added = codesum(own_shop, "add", ".", "--scip", "a.scip", "--scip", "/b.scip@web", "--scip-command", "make it")

    assert added.exit_code == 0
    listed = [json.loads(line) for line in codesum(own_shop, "repos", "--json").stdout.splitlines()]
    assert [(one["scip"], one["scip_command"]) for one in listed] == [
        ([f"{project}/a.scip", "/b.scip@web"], "make it"),
        ([], ""),
    ]
    assert codesum(own_shop, "repos").stdout.splitlines()[-3:] == [
        f"project: compiler's index {project}/a.scip",
        "project: compiler's index /b.scip@web",
        "project: compiler's index made by make it",
    ]


def test_an_empty_command_is_refused(codesum, own_shop, project):
    refused = codesum(own_shop, "add", project, "--scip-command", "")

    assert (refused.exit_code, "--scip-command '': it is empty" in refused.stderr) == (2, True)


def test_a_password_in_a_command_is_not_printed(codesum, own_shop, project):
    codesum(own_shop, "add", project, "--scip-command", "fetch https://me:hunter2@example.org/x")

    assert "hunter2" not in codesum(own_shop, "repos").stdout + codesum(own_shop, "repos", "--json").stdout
