"""The step that turns a snapshot into symbols and file facts, on real repositories."""

from collections.abc import Callable
from typing import Any

import pyarrow.parquet as pq
import pytest

from codesum_pipeline.foundation.data_model.symbol import FileFacts, Symbol
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.source.files.snapshot import take_snapshot
from codesum_pipeline.symbols.parsing import symbols_step as step
from codesum_pipeline.symbols.parsing.symbols_step import ParseReport, parse_symbols
from codesum_pipeline_tests.support.repositories import GitRepo

MakeRepo = Callable[..., GitRepo]
MakeWorkspace = Callable[..., Workspace]
FILES: dict[str, str | bytes] = {
    "pkg/__init__.py": "",
    "pkg/a.py": 'from pkg.b import g\n\n\ndef f(x):\n    """Do it."""\n    return g(x)\n',
    "pkg/b.py": "class A:\n    def m(self):\n        return 1\n\n\ndef g(x):\n    raise ValueError(x)\n",
    "README.md": "# Title\r\n\r\nWords.\r\n",
}


@pytest.fixture
def repo(git_repo: MakeRepo) -> GitRepo:
    return git_repo(FILES)


@pytest.fixture
def workspace(repo: GitRepo, make_workspace: MakeWorkspace) -> Workspace:
    return make_workspace(repo.path)


def parse(workspace: Workspace) -> ParseReport:
    take_snapshot(workspace)
    return parse_symbols(workspace)


def rows(workspace: Workspace) -> tuple[list[Symbol], list[FileFacts]]:
    tables = workspace.tables
    return (
        tables.read_rows("symbols", workspace.key, Symbol),
        tables.read_rows("file_facts", workspace.key, FileFacts),
    )


def table_files(workspace: Workspace) -> dict[str, bytes]:
    return {table: workspace.tables.path(table, workspace.key).read_bytes() for table in ("symbols", "file_facts")}


def clean(make_workspace: MakeWorkspace, repo: GitRepo) -> dict[str, bytes]:
    """What a build that knows nothing writes."""
    fresh = make_workspace(repo.path, key="fresh")
    parse(fresh)
    return table_files(fresh)


def test_every_indexed_file_has_facts_and_every_definition_a_row(workspace: Workspace) -> None:
    report = parse(workspace)

    symbols, facts = rows(workspace)
    assert [s.id for s in symbols] == ["pkg/a.py::f", "pkg/b.py::A", "pkg/b.py::A::m", "pkg/b.py::g"]
    assert [f.file_path for f in facts] == ["README.md", "pkg/__init__.py", "pkg/a.py", "pkg/b.py"]
    assert (report.files, report.parsed, report.carried, report.failed) == (4, 4, 0, 0)
    assert (report.symbols, report.functions, report.classes, report.lines) == (4, 3, 1, 16)


def test_a_file_of_no_parsed_language_is_its_text(workspace: Workspace) -> None:
    parse(workspace)

    readme = rows(workspace)[1][0]
    assert (readme.source, readme.language, readme.docstring) == ("# Title\n\nWords.\n", "markdown", None)


def test_an_unchanged_repository_is_neither_read_nor_written(workspace: Workspace) -> None:
    first = parse(workspace)
    times = [workspace.tables.path(table, workspace.key).stat().st_mtime_ns for table in ("symbols", "file_facts")]

    again = parse(workspace)

    assert (again.parsed, again.carried) == (0, 4)
    assert again.table_hash == first.table_hash
    assert (again.symbols, again.functions, again.lines) == (first.symbols, first.functions, first.lines)
    assert times == [
        workspace.tables.path(table, workspace.key).stat().st_mtime_ns for table in ("symbols", "file_facts")
    ]


def test_only_changed_files_are_read_and_the_rows_are_those_of_a_clean_build(
    workspace: Workspace, repo: GitRepo, make_workspace: MakeWorkspace
) -> None:
    parse(workspace)
    repo.commit({"pkg/b.py": "def g(x):\n    return x\n", "pkg/c.py": "def h(): pass\n"})

    report = parse(workspace)

    assert (report.parsed, report.carried) == (2, 3)
    assert table_files(workspace) == clean(make_workspace, repo)


def test_a_deleted_file_leaves_no_row(workspace: Workspace, repo: GitRepo, make_workspace: MakeWorkspace) -> None:
    parse(workspace)
    repo.commit_exactly({"pkg/a.py": FILES["pkg/a.py"]})

    report = parse(workspace)

    assert (report.files, report.parsed, report.carried) == (1, 0, 1)
    assert table_files(workspace) == clean(make_workspace, repo)


def test_a_renamed_file_is_read_under_its_new_name(workspace: Workspace, repo: GitRepo) -> None:
    parse(workspace)
    repo.git("mv", "pkg/b.py", "pkg/z.py")
    repo.commit({})

    assert parse(workspace).parsed == 1
    assert {s.file_path for s in rows(workspace)[0]} == {"pkg/a.py", "pkg/z.py"}


def test_another_parser_reads_everything_anew(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    parse(workspace)
    monkeypatch.setattr(step, "parser_version", lambda language, *rules: f"{language}/other")

    assert parse_symbols(workspace).parsed == 4


def test_another_hash_policy_reads_everything_anew(
    repo: GitRepo, workspace: Workspace, make_workspace: MakeWorkspace
) -> None:
    parse(workspace)
    raw: Any = make_workspace(repo.path, settings={"hash_policy": "raw"})

    assert parse(raw).parsed == 4
    assert all(len(symbol.content_hash) == 64 for symbol in rows(raw)[0])


def test_a_file_that_cannot_be_read_is_counted_and_the_others_go_on(workspace: Workspace, repo: GitRepo) -> None:
    take_snapshot(workspace)
    blob = repo.git("rev-parse", "HEAD:pkg/b.py").strip()
    files = workspace.tables.read("files", workspace.key)
    missing = [name if name != blob else "0" * 40 for name in files["blob"].to_pylist()]
    workspace.tables.write(
        "files", workspace.key, files.set_column(files.schema.get_field_index("blob"), "blob", [missing])
    )

    report = parse_symbols(workspace)

    assert [failure.item for failure in report.failures] == ["pkg/b.py"]
    assert "unreadable" in report.failures[0].reason
    assert (report.parsed, report.failed) == (3, 1)
    assert {s.file_path for s in rows(workspace)[0]} == {"pkg/a.py"}


def test_a_run_killed_between_the_two_tables_leaves_nothing_stale(
    workspace: Workspace, repo: GitRepo, make_workspace: MakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse(workspace)
    repo.commit({"pkg/b.py": "def other(): pass\n"})
    take_snapshot(workspace)
    with monkeypatch.context() as patch:
        patch.setattr(type(workspace.tables), "write", _write_until("symbols", type(workspace.tables).write))
        with pytest.raises(KeyboardInterrupt):
            parse_symbols(workspace)
    repo.git("revert", "--no-edit", "HEAD")

    parse(workspace)

    assert table_files(workspace) == clean(make_workspace, repo)


def test_sources_in_other_encodings_and_line_ends_are_read(git_repo: MakeRepo, make_workspace: MakeWorkspace) -> None:
    repo = git_repo(
        {
            "bom.py": b"\xef\xbb\xbfdef f():\r\n    '''\xc3\x84'''\r\n    return 1\r\n",
            "latin.py": "# -*- coding: latin-1 -*-\ndef g():\n    return 'ü'\n".encode("latin-1"),
        },
        name="encodings",
    )
    workspace = make_workspace(repo.path)

    parse(workspace)

    assert [(s.id, s.canonical_source, s.end_line) for s in rows(workspace)[0]] == [
        ("bom.py::f", 'def f():\n    """Ä"""\n    return 1', 3),
        ("latin.py::g", 'def g():\n    return "ü"', 3),
    ]


def test_progress_tells_how_many_files_are_read(workspace: Workspace) -> None:
    reports: list[tuple[str, int, int]] = []
    take_snapshot(workspace)

    parse_symbols(workspace, progress=lambda doing, done, total: reports.append((doing, done, total)))

    assert reports == [("parsing", 4, 4)]


def test_the_parser_version_names_every_part_that_decides_the_rows() -> None:
    for part in ("python/", "text/", "tree-sitter/", "tree-sitter-python/", "reading/"):
        assert part in step.PARSER_VERSION


def test_paths_are_relative_to_the_git_root(git_repo: MakeRepo, make_workspace: MakeWorkspace) -> None:
    repo = git_repo({"a/b.py": "def f(): pass\n", "c.py": ""}, name="sub")
    workspace = make_workspace(repo.path, subdir="a")

    parse(workspace)

    assert [s.id for s in rows(workspace)[0]] == ["a/b.py::f"]


def _write_until(last: str, write: Callable[..., Any]) -> Callable[..., Any]:
    """A `write` that ends the run right after the table `last` is written."""

    def written(self: Any, table: str, repo: str, found: Any, note: str = "") -> Any:
        result = write(self, table, repo, found, note=note)
        if table == last:
            raise KeyboardInterrupt
        return result

    return written


def test_rows_of_a_table_without_newer_columns_are_carried_over(workspace: Workspace, repo: GitRepo) -> None:
    parse(workspace)
    path = workspace.tables.path("file_facts", workspace.key)
    before = pq.read_table(path)
    older = before.drop_columns(["lost_definitions", "call_places"])
    pq.write_table(older.replace_schema_metadata(before.schema.metadata), path)
    repo.commit({"pkg/c.py": "def h():\n    return 1\n"})

    report = parse(workspace)

    assert (report.parsed, report.carried) == (1, 4)
    read = {facts.file_path: (facts.lost_definitions, facts.call_places) for facts in rows(workspace)[1]}
    assert read.pop("pkg/c.py") == (None, ())
    assert [*read.values()] == [(None, None)] * 4
