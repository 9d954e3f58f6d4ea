"""The snapshot step: every file a row, the same rows however they came about."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.file import EncodingEvidence, FileStatus, SkipReason, Snapshot, SourceFile
from codesum_pipeline.foundation.settings.stage_settings import ScanSettings
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.source.files import snapshot as snapshot_module
from codesum_pipeline.source.files.path_rules import RULES_VERSION, PathRules
from codesum_pipeline.source.files.snapshot import SnapshotReport, take_snapshot
from codesum_pipeline_tests.support.repositories import GitRepo

MakeRepo = Callable[..., GitRepo]
MakeWorkspace = Callable[..., Workspace]

FILES: dict[str, str | bytes] = {
    "README.md": "# Project\n",
    "src/a.py": "x = 1\n",
    "src/b.py": b"\xfc",
    "src/c_pb2.py": "x = 1\n",
    "src/d.py": "# @generated\n",
    "src/data.bin": b"\0\1",
    "src/e.js": "a=1;" * 1000,
    "tests/test_a.py": "def test_a(): ...\n",
    "vendor/v.py": "x = 1\n",
    "poetry.lock": "x\n",
    "large.txt": "x" * 2000,
    "model.json": "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 2\n",
    "bin/tool": "#!/usr/bin/env node\n",
    "go/a.go": "package a\n",
}


def rows_of(ws: Workspace) -> dict[str, SourceFile]:
    return {row.path: row for row in ws.tables.read_rows("files", ws.key, SourceFile)}


def reasons_of(ws: Workspace) -> dict[str, str | None]:
    return {path: row.reason for path, row in rows_of(ws).items()}


def test_every_file_is_a_row_with_its_reason(git_repo: MakeRepo, make_source_workspace: MakeWorkspace) -> None:
    repo = git_repo(FILES)
    commit = repo.git("rev-parse", "HEAD").strip()
    ws = make_source_workspace(repo.path, scan=ScanSettings(max_file_size_mb=0.0015))

    report = take_snapshot(ws)

    assert reasons_of(ws) == {
        "README.md": None,
        "bin/tool": None,
        "go/a.go": None,
        "large.txt": "too_large",
        "model.json": "lfs_pointer",
        "poetry.lock": "skip_pattern",
        "src/a.py": None,
        "src/b.py": "not_text",
        "src/c_pb2.py": "generated",
        "src/d.py": "generated",
        "src/data.bin": "binary",
        "src/e.js": "too_large",
        "tests/test_a.py": None,
        "vendor/v.py": None,
    }
    assert rows_of(ws)["tests/test_a.py"] == SourceFile(
        path="tests/test_a.py",
        blob=repo.git("rev-parse", "HEAD:tests/test_a.py").strip(),
        size=18,
        mode="100644",
        language="python",
        status=FileStatus.INDEXED,
        reason=None,
        is_test=True,
        is_vendored=False,
        rules=RULES_VERSION,
        encoding="utf-8",
        encoding_evidence=EncodingEvidence.CONTENT,
    )
    assert rows_of(ws)["vendor/v.py"].is_vendored
    assert rows_of(ws)["bin/tool"].language == "javascript"
    assert ws.tables.read_rows("snapshot", ws.key, Snapshot) == [
        Snapshot(
            "project", commit, repo.git("rev-parse", "HEAD^{tree}").strip(), "HEAD", "change", "2026-01-01T00:00:00Z"
        )
    ]
    assert report == SnapshotReport(
        commit=commit,
        tree=repo.git("rev-parse", "HEAD^{tree}").strip(),
        ref="HEAD",
        files_indexed=6,
        files_skipped=8,
        skipped_by_reason={
            "binary": 1,
            "generated": 2,
            "lfs_pointer": 1,
            "not_text": 1,
            "skip_pattern": 1,
            "too_large": 2,
        },
        files_read=10,
        bytes_indexed=sum(row.size for row in rows_of(ws).values() if row.status is FileStatus.INDEXED),
        table_hash=report.table_hash,
        encodings_in_doubt=1,
        encoding_problems=("src/b.py: of an unknown encoding",),
    )


def test_an_unchanged_repository_reads_nothing(git_repo: MakeRepo, make_source_workspace: MakeWorkspace) -> None:
    ws = make_source_workspace(git_repo(FILES).path, scan=ScanSettings(lang_allowlist=("python",)))
    first = take_snapshot(ws)

    assert take_snapshot(ws) == replace(first, files_read=0)
    assert take_snapshot(replace(ws, force=True)) == first


CHANGES: list[tuple[str, dict[str, str | bytes], dict[str, Any]]] = [
    ("edit", {"src/a.py": "x = 2\n"}, {}),
    ("generated no more", {"src/d.py": "x = 1\n"}, {}),
    ("text no more", {"src/a.py": b"\0"}, {}),
    ("same blob, other name", {"src/f.js": "x = 1\n"}, {}),
    ("allowlist", {}, {"lang_allowlist": ("python",)}),
    ("pattern", {}, {"skip_patterns": ("src/",)}),
    ("size", {"new.py": ""}, {"max_file_size_mb": 0.000001}),
    ("everything allowed again", {}, {}),
    ("ignored", {"src/.codesumignore": "b.py\n"}, {}),
    ("ignored no more", {"src/.codesumignore": ""}, {}),
    ("encoding", {".gitattributes": "src/b.py encoding=latin-1\n"}, {}),
    ("own licence", {"LICENSE": "Copyright (c) 2020 Ada Lovelace\n"}, {}),
    ("licence of others", {"ext/LICENSE": "Copyright (c) 2011 Charles Babbage\n", "ext/a.py": "x = 1\n"}, {}),
    ("licence of others' own", {"ext/LICENSE": "Copyright (c) 2020 Ada Lovelace\n"}, {}),
    ("one more file", {"ext/b.py": ""}, {}),
]


def test_carried_over_rows_equal_those_of_a_clean_build(
    git_repo: MakeRepo, make_source_workspace: MakeWorkspace
) -> None:
    repo = git_repo(FILES)
    take_snapshot(make_source_workspace(repo.path, scan=ScanSettings(lang_allowlist=("go",))))
    for number, (name, files, settings) in enumerate(CHANGES):
        repo.commit(files)
        built = make_source_workspace(repo.path, scan=ScanSettings(**settings))
        clean = make_source_workspace(repo.path, scan=ScanSettings(**settings), home=f"clean-{number}")

        after_others, alone = take_snapshot(built), take_snapshot(clean)

        assert replace(after_others, files_read=0) == replace(alone, files_read=0), name
        assert rows_of(built) == rows_of(clean), name


def test_rows_of_files_that_stay_are_taken_over_whole_while_their_rules_stay(
    git_repo: MakeRepo, make_source_workspace: MakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = git_repo(FILES)
    take_snapshot(make_source_workspace(repo.path))
    looked_at: list[str] = []
    why_skipped = PathRules.why_skipped

    def recorded(self: PathRules, path: str, **more: Any) -> SkipReason | None:
        looked_at.append(path)
        return why_skipped(self, path, **more)

    monkeypatch.setattr(PathRules, "why_skipped", recorded)
    repo.commit({"src/a.py": "x = 2\n"})
    take_snapshot(make_source_workspace(repo.path))
    assert looked_at == ["src/a.py"]

    take_snapshot(make_source_workspace(repo.path, exclude=("bin/",)))
    assert len(looked_at) > len(FILES)


def test_one_changed_file_is_the_only_one_read(git_repo: MakeRepo, make_source_workspace: MakeWorkspace) -> None:
    repo = git_repo(FILES)
    ws = make_source_workspace(repo.path)
    take_snapshot(ws)
    repo.commit({"src/a.py": "x = 2\n"})

    assert take_snapshot(ws).files_read == 1


def test_rows_of_older_rules_are_not_carried_over(
    git_repo: MakeRepo, make_source_workspace: MakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    ws = make_source_workspace(git_repo(FILES).path)
    first = take_snapshot(ws)
    monkeypatch.setattr(snapshot_module, "RULES_VERSION", "scan/other")

    assert take_snapshot(ws).files_read == first.files_read > 0


def test_links_submodules_and_names_that_are_no_text_are_rows(
    git_repo: MakeRepo, make_source_workspace: MakeWorkspace
) -> None:
    inner = git_repo({"i.py": ""}, name="inner")
    repo = git_repo({"a b.py": "", "new\nline.py": "", "-x.py": "", "ünï.py": "", 'q"uote.py': "", "a::b.py": ""})
    (repo.path / "link.py").symlink_to("a b.py")
    Path(str(repo.path) + "/caf\udce9.py").write_text("")
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "module")
    repo.commit({})
    ws = make_source_workspace(repo.path)

    take_snapshot(ws)

    assert reasons_of(ws) == {
        "-x.py": None,
        "./caf\\xe9.py": "invalid_path",
        ".gitmodules": None,
        "a b.py": None,
        "a::b.py": "invalid_path",
        "link.py": "symlink",
        "module": "submodule",
        "new\nline.py": None,
        'q"uote.py': None,
        "ünï.py": None,
    }


def test_a_subdir_keeps_paths_from_the_root(git_repo: MakeRepo, make_source_workspace: MakeWorkspace) -> None:
    ws = make_source_workspace(git_repo({"a.py": "", "pkg/b.py": ""}).path, subdir="pkg")

    take_snapshot(ws)

    assert reasons_of(ws) == {"a.py": "outside_subdir", "pkg/b.py": None}


def test_a_subdir_that_is_not_there_is_an_error(git_repo: MakeRepo, make_source_workspace: MakeWorkspace) -> None:
    ws = make_source_workspace(git_repo({"a.py": ""}).path, subdir="a.py")

    with pytest.raises(ConfigurationError, match=r"'project': subdir 'a.py' is not a folder of commit [0-9a-f]{12}"):
        take_snapshot(ws)


def test_a_folder_gives_the_same_rows_every_time(tmp_path: Path, make_source_workspace: MakeWorkspace) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    GitRepo(folder).write({**FILES, ".gitignore": "*.log\n", "a.log": ""})
    ws, other = make_source_workspace(folder), make_source_workspace(folder, home="other")

    first = take_snapshot(ws)

    assert take_snapshot(ws) == replace(first, files_read=0)
    assert take_snapshot(other) == first
    assert rows_of(ws)["a.log"] == SourceFile(
        path="a.log",
        blob="",
        size=0,
        mode="",
        language="text",
        status=FileStatus.SKIPPED,
        reason=SkipReason.IGNORED,
        is_test=False,
        is_vendored=False,
        rules=RULES_VERSION,
    )


def test_an_empty_commit_has_no_rows(git_repo: MakeRepo, make_source_workspace: MakeWorkspace) -> None:
    ws = make_source_workspace(git_repo().path)

    assert take_snapshot(ws).files_indexed == 0
    assert rows_of(ws) == {}


def test_progress_counts_the_files_that_are_read(git_repo: MakeRepo, make_source_workspace: MakeWorkspace) -> None:
    steps = []
    repo = git_repo({f"f{number}.py": "" for number in range(250)})

    take_snapshot(
        make_source_workspace(repo.path), progress=lambda doing, done, total: steps.append((doing, done, total))
    )

    assert steps == [
        (f"fetching {repo.path}", 0, 1),
        (f"fetching {repo.path}", 1, 1),
        ("reading files", 0, 250),
        ("reading files", 200, 250),
        ("reading files", 250, 250),
    ]


def test_a_message_in_another_encoding_is_readable(
    git_repo: MakeRepo, make_source_workspace: MakeWorkspace, tmp_path: Path
) -> None:
    repo = git_repo({"a.py": ""})
    (tmp_path / "message").write_bytes("Grüße\n\nbody\n".encode("latin-1"))
    repo.git("-c", "i18n.commitEncoding=latin-1", "commit", "-q", "--amend", "-F", str(tmp_path / "message"))
    ws = make_source_workspace(repo.path)

    take_snapshot(ws)

    (row,) = ws.tables.read_rows("snapshot", ws.key, Snapshot)
    assert row.subject == "Grüße"


def test_a_left_out_name_that_fails_is_a_failure_and_the_others_are_rows(
    git_repo: MakeRepo, make_source_workspace: MakeWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = git_repo({".gitignore": "*.log\n", "a.py": "x = 1\n"})
    for name in ("bad.log", "good.log"):
        (repo.path / name).write_text("x\n")
    is_test = PathRules.is_test

    def fails(rules: PathRules, path: str) -> bool:
        if path == "bad.log":
            raise KeyError("injected")
        return is_test(rules, path)

    monkeypatch.setattr(PathRules, "is_test", fails)
    ws = make_source_workspace(repo.path, worktree=True)

    report = take_snapshot(ws)

    assert [failure.item for failure in report.failures] == ["bad.log"]
    assert reasons_of(ws) == {".gitignore": None, "a.py": None, "good.log": "ignored"}
