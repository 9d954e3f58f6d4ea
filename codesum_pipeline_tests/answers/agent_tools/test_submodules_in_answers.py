"""What leads into a submodule says so where it is not indexed; a token reads one that is only if it names it."""

import shutil

import pytest
from msgspec.structs import replace

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.submodule_answers import closed_folders, with_submodule
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.errors import CodesumError, ConfigurationError
from codesum_pipeline.foundation.data_model.file import Submodule
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry, read_scope
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

FILES = {
    "app.py": 'import third\n\n\ndef open_shop():\n    """Open the shop."""\n    return third.wombat()\n',
    "till.py": "from third.lib.quokka import wombat\n\n\ndef count_till():\n    return wombat()\n",
    "main.c": '#include "third/lib/quokka.h"\n#include "lib/core.h"\n#include "other.h"\nint main(void) {}\n',
}
SECRET = 'def wombat():\n    """Weigh the quokka."""\n    return weigh_all(7)\n'


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Homes without and with the setting, of one repository and its submodule."""
    folder = tmp_path_factory.mktemp("submodules")
    lib = GitRepo.create(folder / "lib", {"quokka.py": SECRET, "emu.bin": b"\0\1\2"})
    repo = GitRepo.create(folder / "shop", FILES)
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(lib.path), "third/lib")
    repo.git("config", "--file", ".gitmodules", "submodule.third/lib.url", "https://example.org/bush/quokka.git")
    repo.commit({})
    for name, submodules in (("off", False), ("on", True)):
        entry = RepositoryEntry("shop", str(repo.path), submodules=submodules)
        build(workspace_of(open_home(folder / name), entry))
    return folder


def catalogue_of(built, name):
    return IndexCatalogue.of(load_settings({"home": built / name}, environ={}))


def answer(catalogue, built, tool, **arguments):
    return tools_by_name()[tool].ask(ToolContext(catalogue, built), arguments)


def answer_text(catalogue, built, tool, **arguments):
    return answer(catalogue, built, tool, **arguments).text()


@pytest.mark.parametrize(
    "name", ["third/lib/quokka.py", "./third/lib/quokka.py", "third/lib/quokka.py:3", "third/lib/x/y.c", "third/lib/"]
)
def test_reading_a_file_of_one_that_is_not_indexed_says_so(built, name):
    with pytest.raises(ConfigurationError, match=r"skipped: .* is in the submodule third/lib of shop, which is not"):
        answer(catalogue_of(built, "off"), built, "read", ids=[name])


def test_searching_in_one_that_is_not_indexed_says_so(built):
    found = answer_text(catalogue_of(built, "off"), built, "search", query="weigh", paths=["third/lib/quokka.py"])

    assert "skipped: third/lib/quokka.py is in the submodule third/lib of shop, which is not indexed" in found


@pytest.mark.parametrize("name", ["third/library.py", "third/li", "lib/quokka.py"])
def test_a_name_beside_it_is_no_file_of_it(built, name):
    with pytest.raises(ConfigurationError, match="no document"):
        answer(catalogue_of(built, "off"), built, "read", ids=[name])


def test_status_and_overview_name_what_is_not_indexed(built):
    catalogue = catalogue_of(built, "off")
    told = "1 submodule is not indexed: third/lib (`codesum index shop --submodules` sets submodules = true)"

    assert told in answer_text(catalogue, built, "status")
    assert told in answer_text(catalogue, built, "overview")
    assert "not indexed" not in answer_text(catalogue_of(built, "on"), built, "status")


def test_imports_that_lead_there_say_so(built):
    catalogue = catalogue_of(built, "off")
    there = "(in the submodule third/lib, which is not indexed)"

    assert f"third {there}" in answer_text(catalogue, built, "graph", id="app.py")
    text = answer_text(catalogue, built, "get_file_analysis", path="main.c")
    assert f"third/lib/quokka.h {there}" in text
    assert f"lib/core.h {there}" in text
    assert "other.h\n" in f"{text}\n"
    assert there not in answer_text(catalogue_of(built, "on"), built, "graph", id="main.c")


@pytest.mark.parametrize(
    ("name", "importer", "leads"),
    [
        ("third/lib/z.h", "a.c", True),
        ("../third/lib/z.h", "src/a.c", True),
        ("lib/z.h", "a.hpp", True),
        ("lib.h", "a.c", False),
        ("lib/z.h", "a.py", False),
        ("example.org/me/third/lib", "a.go", True),
        ("third.lib.core", "a.py", True),
        ("third", "a.py", True),
        ("lib", "a.py", False),
        ("thirdparty", "a.py", False),
        ("tools", "a.py", True),
        ("tools.run", "a.py", True),
        ("company/tools", "a.go", False),
        ("json", "a.py", False),
    ],
)
def test_a_name_leads_into_a_submodule_where_that_is_certain(name, importer, leads):
    submodules = [Submodule("third/lib", "0" * 40), Submodule("tools", "0" * 40), Submodule("vendor/json", "0" * 40)]
    told = with_submodule(name, submodules, importer=importer, has_folder=lambda _: False)

    assert (told != name) is leads


def test_a_folder_with_other_files_is_not_taken_for_its_submodules():
    submodules = [Submodule("third/lib", "0" * 40)]

    assert with_submodule("third", submodules, importer="a.py", has_folder=lambda _: True) == "third"


def test_what_is_indexed_is_read_as_any_other_file(built):
    catalogue = catalogue_of(built, "on")

    assert "return weigh_all(7)" in answer_text(catalogue, built, "read", ids=["third/lib/quokka.py"])
    assert "3\t    return weigh_all(7)" in answer_text(catalogue, built, "grep", pattern="weigh_all")
    assert "third/lib/quokka.py" in answer_text(catalogue, built, "search", query="weigh the quokka")


CALLS = (
    ("search", {"query": "weigh the quokka wombat"}),
    ("search_symbols", {"name": "wombat"}),
    ("search", {"query": "weigh_all"}),
    ("overview", {}),
    ("status", {"changes": 50}),
    ("grep", {"pattern": "weigh|quokka|wombat"}),
    ("grep", {"pattern": "return weigh.all"}),
    ("grep", {"pattern": "weigh", "paths": ["third/"]}),
    ("read", {"ids": ["third/lib/quokka.py"]}),
    ("read", {"ids": ["wombat"]}),
    ("read", {"ids": ["third/lib"]}),
    ("read", {"ids": ["third"]}),
    ("read", {"ids": ["emu.bin"]}),
    ("search", {"query": "shop", "paths": ["emu.bin"]}),
    ("graph", {"id": "app.py::open_shop"}),
    ("graph", {"id": "till.py::count_till"}),
    ("graph", {"id": "till.py"}),
    ("graph", {"id": "."}),
    ("impact", {"ids": ["wombat"]}),
    ("impact", {"ids": ["third/lib"]}),
    ("impact", {"ids": ["app.py::open_shop", "till.py::count_till"]}),
    ("get_codebase_overview", {}),
    ("get_framework_analysis", {}),
    ("watch_changes", {}),
)


@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=lambda value: str(value) if isinstance(value, str) else "")
def test_a_token_that_does_not_name_the_submodule_learns_nothing_of_it(built, tool, arguments):
    catalogue = catalogue_of(built, "on").held_by("agent", read_scope(["shop"]))
    try:
        text = answer_text(catalogue, built, tool, **arguments)
    except CodesumError as error:
        text = str(error)

    for word in ("weigh_all", "Weigh the quokka", "quokka.py:", "third/lib/emu.bin", "binary"):
        assert word not in text


@pytest.mark.parametrize("patterns", [["shop"], ["sh*", "!bush/quokka"]], ids=["the repository alone", "closed"])
def test_such_a_token_reads_the_rest(built, patterns):
    catalogue = catalogue_of(built, "on").held_by("agent", read_scope(patterns))

    assert "def open_shop" in answer_text(catalogue, built, "read", ids=["app.py"])
    assert "4\tdef open_shop" in answer_text(catalogue, built, "grep", pattern="open_shop")
    assert "open_shop" in answer_text(catalogue, built, "search", query="open the shop")


@pytest.mark.parametrize(
    "patterns",
    [["*"], ["shop", "bush/quokka"], ["shop", "bush/*"], ["shop", "quokka"]],
    ids=lambda each: " ".join(each),
)
def test_a_token_that_names_it_reads_it(built, patterns):
    catalogue = catalogue_of(built, "on").held_by("agent", read_scope(patterns))

    assert "return weigh_all(7)" in answer_text(catalogue, built, "read", ids=["third/lib/quokka.py"])


def switched_off(built, folder):
    shutil.copytree(built / "on", folder / "off", symlinks=True)
    registry = catalogue_of(folder, "off").registry
    return registry.add(replace(registry.get("shop"), submodules=False))


@pytest.mark.parametrize(("patterns", "is_told"), [(["shop"], False), (["*"], True)], ids=["a token", "all"])
def test_a_token_does_not_learn_that_its_files_left_the_index(built, tmp_path, patterns, is_told):
    build(workspace_of(open_home(tmp_path / "off"), switched_off(built, tmp_path), run_id="later"))
    catalogue = catalogue_of(tmp_path, "off").held_by("agent", read_scope(patterns))

    told = answer_text(catalogue, built, "status", changes=50)
    assert "removed @" in told
    assert ("third/lib/quokka.py" in told) is is_told


def test_a_token_does_not_read_it_between_a_change_of_the_setting_and_the_next_build(built, tmp_path):
    switched_off(built, tmp_path)
    catalogue = catalogue_of(tmp_path, "off").held_by("agent", read_scope(["shop"]))

    assert "def open_shop" in answer_text(catalogue, built, "read", ids=["app.py"])
    with pytest.raises(ConfigurationError, match="no document"):
        answer(catalogue, built, "read", ids=["third/lib/quokka.py"])


@pytest.mark.parametrize(
    ("location", "is_open"),
    [("https://example.org/bush/quokka", True), ("https://example.org/zoo/quokka", False), ("/srv/quokka", False)],
    ids=["of the submodule", "of another address", "of a folder"],
)
def test_a_registered_key_names_its_own_repository(location, is_open):
    entries = {"quokka": RepositoryEntry("quokka", location)}
    submodules = [("third/lib", "https://example.org/bush/quokka.git")]

    assert (closed_folders(submodules, read_scope(["shop", "quokka"]), entries) == ()) is is_open
    assert closed_folders(submodules, read_scope(["shop", "bush/quokka"]), entries) == ()
    assert closed_folders([("third/quokka", "")], read_scope(["quokka"]), entries) == ("third/quokka",)


@pytest.mark.parametrize(
    ("patterns", "is_open"),
    [
        (["vault"], True),
        (["bush/quokka"], True),
        (["quokka"], False),
        (["docs"], False),
        (["*", "!vault"], False),
        (["*", "!bush/*"], False),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_one_that_is_registered_under_another_key_is_named_by_that(patterns, is_open):
    entries = {
        "vault": RepositoryEntry("vault", "https://me:secret@Example.org/bush/quokka"),
        "docs": RepositoryEntry("docs", "git@example.org:bush/quokka.git", subdir="docs"),
    }
    for address in ("https://example.org/bush/quokka.git", "https://example.org/%62ush/QUOKKA"):
        assert (closed_folders([("third/lib", address)], read_scope(patterns), entries) == ()) is is_open


def test_an_index_without_some_folders_has_the_others(built):
    index = catalogue_of(built, "on").open("shop")

    hidden = index.without(["third/lib"])
    assert [hidden.row(path) is not None for path in ("app.py", "third/lib/quokka.py", "third/lib")] == [
        True,
        False,
        False,
    ]
    assert replace(hidden, visible=None).row("third/lib/quokka.py") is not None


@pytest.mark.parametrize("submodules", [False, True])
def test_a_submodule_that_moved_to_another_commit_is_told_to_whoever_may_read_it(tmp_path, submodules):
    lib = GitRepo.create(tmp_path / "lib", {"quokka.py": SECRET})
    repo = GitRepo.create(tmp_path / "shop", FILES)
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(lib.path), "third/lib")
    repo.git("config", "--file", ".gitmodules", "submodule.third/lib.url", "https://example.org/bush/quokka.git")
    repo.commit({})
    moved = lib.commit({"quokka.py": SECRET.replace("7", "8")})
    GitRepo(repo.path / "third/lib").git("-c", "protocol.file.allow=always", "fetch", "-q")
    GitRepo(repo.path / "third/lib").git("checkout", "-q", moved)
    repo.commit({"till.py": FILES["till.py"].replace("wombat()", "wombat() + 1")})
    build(workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path), submodules=submodules)))
    everybody = catalogue_of(tmp_path, "home")
    a_token = everybody.held_by("t", read_scope(["shop"]))
    its_reader = everybody.held_by("t", read_scope(["*"]))

    told = "of other commits of submodules, not compared"
    pages = [answer(each, tmp_path, "impact", range="HEAD~1..HEAD") for each in (everybody, its_reader, a_token)]

    assert [page.not_compared.get(told) for page in pages] == [["third/lib"], ["third/lib"], None]
    assert [[change.id for change in page.changes] for page in pages] == [["till.py::count_till"]] * 3
