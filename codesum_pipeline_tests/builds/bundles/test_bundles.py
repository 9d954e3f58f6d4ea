"""An imported index is the one that a build of its commit here would have made, and builds go on from it."""

import getpass
import json
import shutil
import socket
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from codesum_pipeline.builds.bundles.bundle_file import BUNDLED_TABLES, RESOLUTION, opened_bundle
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.steps.reuse import carry_out
from codesum_pipeline.builds.steps.step_list import STEPS
from codesum_pipeline.foundation.data_model.decoding import decode
from codesum_pipeline.foundation.data_model.document import HistoryRow, Level, TextRow, WrittenBy
from codesum_pipeline.foundation.data_model.errors import BundleRefused, ConfigurationError, LeaseHeld
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.lease import hold_lease, hold_repository
from codesum_pipeline.foundation.store.schemas import texts_table
from codesum_pipeline.graph.resolution import Resolution
from codesum_pipeline.indexes.publishing.verify import verify_index
from codesum_pipeline_tests.builds.law.test_law import differences, must_equal_a_clean_build, workspace_at
from codesum_pipeline_tests.support.bundles import (
    change_table,
    export_of,
    import_into,
    members_of,
    with_column,
    write_members,
)
from codesum_pipeline_tests.support.edits import swap
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.model_builds import KEY_ENV, shop
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.shop import SHOP

CHANGED = swap("shop/money.py", "cents / 100", "round(cents / 100, 2)")(SHOP)


def cloned(folder: Path, to: Path) -> GitRepo:
    """A clone at another place, with the same commits."""
    return GitRepo(Path(shutil.copytree(folder / "repository", to, symlinks=True)))


def parsed_and_made(reports: Any) -> dict[str, int]:
    written = sum(reports[f"{level}_summaries"].written for level in Level)
    return {"parsed": reports["symbols"].parsed, "written": written, "embedded": reports["dense_index"].embedded}


def test_an_import_publishes_the_index_that_a_build_here_would(exported_once: Path, tmp_path: Path) -> None:
    repo = cloned(exported_once, tmp_path / "clone")
    home = open_home(tmp_path / "home")

    report = import_into(home, exported_once / "shop.codesum", repo.path)

    after = home.workspace("shop", run_id="after")
    assert (report.parsed, report.written, report.embedded, report.is_new) == (0, 0, 0, True)
    assert report.commit == report.head == repo.git("rev-parse", "HEAD").strip()
    must_equal_a_clean_build(after, repo, tmp_path / "clean")
    assert verify_index(home.layout, "shop", tables=home.tables) == []
    assert parsed_and_made(build(after)) == {"parsed": 0, "written": 0, "embedded": 0}


def test_after_an_import_a_build_makes_only_what_differs(exported_once: Path, tmp_path: Path) -> None:
    repo = cloned(exported_once, tmp_path / "clone")
    repo.commit_exactly(CHANGED)
    report = import_into(open_home(tmp_path / "home"), exported_once / "shop.codesum", repo.path)
    after = workspace_at(tmp_path / "home", repo, run_id="after")

    made = parsed_and_made(build(after))

    assert report.head == repo.git("rev-parse", "HEAD").strip() != report.commit
    assert made["parsed"] == 1
    assert 0 < made["written"] < 10
    assert made["embedded"] < 20
    must_equal_a_clean_build(after, repo, tmp_path / "clean")


@pytest.mark.slow
def test_an_import_under_another_key_equals_a_build_under_it(exported_once: Path, tmp_path: Path) -> None:
    repo = cloned(exported_once, tmp_path / "clone")
    home = open_home(tmp_path / "home")

    import_into(home, exported_once / "shop.codesum", repo.path, key="store")

    build(clean := workspace_of(open_home(tmp_path / "clean"), RepositoryEntry("store", str(repo.path))))
    assert differences(home.workspace("store", run_id="after"), clean) == (None, None)


def test_an_import_over_an_index_replaces_it_and_keeps_what_was_paid(exported_once: Path, tmp_path: Path) -> None:
    repo = cloned(exported_once, tmp_path / "clone")
    repo.commit_exactly(CHANGED)
    before = workspace_at(tmp_path / "home", repo)
    build(before)
    books = [before.tables.content_hash(name, "shop") for name in ("ledger", "avoided")]
    repo.git("reset", "-q", "--hard", "HEAD~1")

    import_into(open_home(tmp_path / "home"), exported_once / "shop.codesum", repo.path)

    after = workspace_at(tmp_path / "home", repo, run_id="after")
    must_equal_a_clean_build(after, repo, tmp_path / "clean")
    assert [after.tables.content_hash(name, "shop") for name in ("ledger", "avoided")] == books


def test_under_other_settings_an_import_gives_what_these_settings_give(exported_once: Path, tmp_path: Path) -> None:
    repo = cloned(exported_once, tmp_path / "clone")
    chosen = {"filter": {"min_lines": 5}}
    home = open_home(tmp_path / "home", **chosen)

    report = import_into(home, exported_once / "shop.codesum", repo.path)

    assert report.parsed == 0
    must_equal_a_clean_build(home.workspace("shop", run_id="after"), repo, tmp_path / "clean", **chosen)


def test_no_text_of_a_model_is_bought_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_ENV, "sk-loopback-0123456789abcdef")
    with shop(tmp_path, dict(SHOP)) as paying:
        first = paying.workspace()
        build(first)
        export_of(open_home(tmp_path / "home", llm=first.settings.llm), tmp_path / "shop.codesum")
        asked = len(paying.server.seen)
        other = open_home(tmp_path / "other", llm=first.settings.llm)

        report = import_into(other, tmp_path / "shop.codesum", paying.repo.path, is_verified=True)
        build(paying.workspace(home="other"))

        assert "symbols" in report.confirmed
        assert "documents" not in report.confirmed
        assert 0 < asked == len(paying.server.seen)
    rows = [row for level in Level for row in other.tables.read_rows(texts_table(level), "shop", TextRow)]
    history = other.tables.read_rows("document_history", "shop", HistoryRow)
    assert any(row.written_by is WrittenBy.LLM for row in rows)
    assert {row.cost_usd for row in (*rows, *history)} == {0.0}


def test_the_same_index_gives_the_same_bytes(exported_once: Path, tmp_path: Path) -> None:
    export_of(open_home(exported_once / "home"), tmp_path / "again.codesum")

    assert (tmp_path / "again.codesum").read_bytes() == (exported_once / "shop.codesum").read_bytes()


def test_a_bundle_holds_nothing_of_the_home_it_is_from(exported_once: Path) -> None:
    home = open_home(exported_once / "home")
    members = members_of(exported_once / "shop.codesum")

    token = home.layout.token.read_text() if home.layout.token.exists() else "no token"
    strangers = [str(exported_once), str(exported_once.parent), token, socket.gethostname(), f"{getpass.getuser()}@"]
    with opened_bundle(exported_once / "shop.codesum", called="", max_mb=2000) as bundle:
        said = "\n".join(repr(_rows(bundle.read(name), name)) for name in bundle.header.parts)
    said += members["bundle.json"].decode()

    assert [word for word in strangers if word in said] == []
    assert not any("ledger" in name or "avoided" in name or "evaluations" in name for name in members)


def _rows(data: bytes, name: str) -> Any:
    """What is compressed in a part, too; no hashes, which may hold any letters."""
    if name == RESOLUTION:
        found = decode(data, Resolution)
        return replace(found, lookups=replace(found.lookups, cells=b"", numbers={}))
    if not name.endswith(".parquet"):
        return data.decode()
    table = pq.read_table(pa.BufferReader(data))
    return [table.drop_columns(["vector"]).to_pylist() if name == "tables/vectors.parquet" else table.to_pylist()]


def test_a_build_from_scratch_confirms_a_bundle(exported_once: Path, tmp_path: Path) -> None:
    home = open_home(tmp_path / "home")

    report = import_into(
        home, exported_once / "shop.codesum", cloned(exported_once, tmp_path / "clone").path, is_verified=True
    )

    assert {"symbols", "documents", "vectors"} < set(report.confirmed)
    assert verify_index(home.layout, "shop", tables=home.tables) == []


def test_a_build_from_scratch_finds_a_changed_summary(exported_once: Path, tmp_path: Path) -> None:
    members = members_of(exported_once / "shop.codesum")

    def lie(rows: Any) -> Any:
        return with_column(rows, "text", [{**text, "summary": "Sends it."} for text in rows["text"].to_pylist()])

    change_table(members, "texts_function", lie)
    write_members(tmp_path / "lying.codesum", members)
    home = open_home(tmp_path / "home")

    with pytest.raises(BundleRefused, match=r"gives something else in: .*documents.*nothing was changed"):
        import_into(home, tmp_path / "lying.codesum", cloned(exported_once, tmp_path / "clone").path, is_verified=True)

    assert home.registry.entries() == []
    assert not home.layout.published("shop").is_symlink()


@pytest.mark.slow
def test_two_imports_at_once_give_one_index(exported_once: Path, tmp_path: Path) -> None:
    repo = cloned(exported_once, tmp_path / "clone")
    failed: list[BaseException] = []

    def run() -> None:
        try:
            import_into(open_home(tmp_path / "home"), exported_once / "shop.codesum", repo.path)
        except BaseException as error:
            failed.append(error)

    open_home(tmp_path / "home").layout.home.mkdir()
    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failed == []
    home = open_home(tmp_path / "home")
    assert verify_index(home.layout, "shop", tables=home.tables) == []
    assert [entry.key for entry in home.registry.entries()] == ["shop"]


def test_a_repository_that_is_being_built_is_not_imported(exported_once: Path, tmp_path: Path) -> None:
    home = open_home(tmp_path / "home", lease_wait_s=0)
    repo = cloned(exported_once, tmp_path / "clone")

    with hold_lease(home.layout.state("shop"), key="shop", run_id="build"), pytest.raises(LeaseHeld):
        import_into(home, exported_once / "shop.codesum", repo.path)


@pytest.mark.slow
def test_an_index_of_a_work_tree_is_no_index_of_a_commit(exported_once: Path, tmp_path: Path) -> None:
    repo = cloned(exported_once, tmp_path / "clone")
    home = open_home(tmp_path / "home")
    build(workspace_of(home, RepositoryEntry("shop", str(repo.path), worktree=True)))

    with pytest.raises(BundleRefused, match="it is indexed as a folder, .*--no-worktree"):
        export_of(home, tmp_path / "shop.codesum")


def test_what_is_not_built_under_the_present_settings_is_not_exported(exported_once: Path, tmp_path: Path) -> None:
    with pytest.raises(BundleRefused, match="run `codesum index shop` first"):
        export_of(open_home(exported_once / "home", filter={"min_lines": 7}), tmp_path / "shop.codesum")
    home = open_home(tmp_path / "home")
    home.registry.add(RepositoryEntry("shop", str(exported_once / "repository")))

    with pytest.raises(BundleRefused, match="nothing is published that could be exported"):
        export_of(home, tmp_path / "shop.codesum")


def test_a_bundle_larger_than_the_setting_is_neither_written_nor_read(exported_once: Path, tmp_path: Path) -> None:
    grown = tmp_path / "grown.codesum"
    members = members_of(exported_once / "shop.codesum")
    write_members(grown, {**members, "resolution.json": b" " * (2 << 20)})

    with pytest.raises(BundleRefused, match=r"more than the 1 MB that are taken: raise bundles.max_mb"):
        import_into(open_home(tmp_path / "home", bundles={"max_mb": 1}), grown, exported_once / "repository")


def test_a_disabled_repository_is_not_imported(exported_once: Path, tmp_path: Path) -> None:
    repo = cloned(exported_once, tmp_path / "clone")

    with pytest.raises(ConfigurationError, match="is disabled: `codesum add shop` enables it"):
        import_into(open_home(tmp_path / "home"), exported_once / "shop.codesum", repo.path, entry={"enabled": False})


@pytest.fixture
def with_submodule(tmp_path: Path) -> GitRepo:
    """A repository with a submodule that is checked out."""
    lib = GitRepo.create(
        tmp_path / "strangers" / "lib", {"l.py": 'def hidden():\n    """Hide a thing."""\n    return 1\n'}
    )
    repo = GitRepo.create(tmp_path / "project", {"a.py": 'def seen():\n    """See a thing."""\n    return 1\n'})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(lib.path), "lib")
    repo.commit({})
    return repo


@pytest.mark.parametrize("submodules", [pytest.param(True, marks=pytest.mark.slow), False])
def test_whether_submodules_are_indexed_is_decided_where_a_bundle_is_imported(
    with_submodule: GitRepo, tmp_path: Path, submodules: bool
) -> None:
    exporting = open_home(tmp_path / "one")
    build(workspace_of(exporting, RepositoryEntry("shop", str(with_submodule.path), submodules=True)))
    export_of(exporting, tmp_path / "shop.codesum")
    home = open_home(tmp_path / "other")

    import_into(home, tmp_path / "shop.codesum", with_submodule.path, entry={"submodules": submodules})

    entry = RepositoryEntry("shop", str(with_submodule.path), submodules=submodules)
    build(clean := workspace_of(open_home(tmp_path / "clean"), entry))
    after = home.workspace("shop", run_id="after")
    assert differences(after, clean) == (None, None)
    published = json.loads((home.layout.published("shop") / "manifest.json").read_text())
    assert [*published.get("submodules", {})] == (["lib"] if submodules else [])
    ids = after.tables.read("documents", "shop", columns=["id"])["id"].to_pylist()
    assert ("lib/l.py::hidden" in ids) == submodules


def test_a_home_in_a_bucket_takes_a_bundle_and_another_worker_builds_nothing(
    exported_once: Path, tmp_path: Path
) -> None:
    url, repo = f"memory://{tmp_path.name}/home", cloned(exported_once, tmp_path / "clone")
    one, other = (
        Home(load_settings({"home": url}, environ={"XDG_CACHE_HOME": str(tmp_path / worker)}))
        for worker in ("one", "other")
    )

    import_into(one, exported_once / "shop.codesum", repo.path)

    with hold_repository(other.layout, "shop", run_id="second") as record:
        workspace = replace(other.workspace(RepositoryEntry("shop", str(repo.path)), run_id="second"), record=record)
        made = {step.name: carry_out(step, workspace) for step in STEPS}
    assert not made["published_index"].report.published
    assert [name for name, done in made.items() if not done.is_reused] == [
        "repo_snapshot", "retrieval_evaluation", "published_index"
    ]  # fmt: skip


def test_every_table_of_a_bundle_is_known() -> None:
    assert len({*BUNDLED_TABLES}) == len(BUNDLED_TABLES) == 18
