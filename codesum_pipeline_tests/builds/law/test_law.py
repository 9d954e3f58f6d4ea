"""The law: what is built step by step equals what is built from scratch, and nothing else is written again."""

import json
import random
import shutil
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.support.comparing import first_difference, published_files, table_rows
from codesum_pipeline_tests.support.homes import Reports, build, open_home, workspace_of
from codesum_pipeline_tests.support.random_edits import OPERATIONS, change
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.script import EDITS, SETTINGS
from codesum_pipeline_tests.support.shop import SHOP, Files

EXPECTED = Path(__file__).with_name("script_expected.json")

SEQUENCES = st.lists(st.tuples(st.integers(0, len(OPERATIONS) - 1), st.integers(0, 10_000)), min_size=8, max_size=12)


def workspace_at(home: Path, repo: GitRepo, *, run_id: str = "run", **chosen: Any) -> Workspace:
    return workspace_of(open_home(home, **chosen), RepositoryEntry("shop", str(repo.path)), run_id=run_id)


def must_equal_a_clean_build(built: Workspace, repo: GitRepo, clean_home: Path, **chosen: Any) -> None:
    """Compare with a build of the same commit in an empty home that shares nothing with the first."""
    clean = workspace_at(clean_home, repo, **chosen)
    build(clean)
    assert differences(built, clean) == (None, None)


def differences(built: Workspace, clean: Workspace) -> tuple[str | None, str | None]:
    """Where the rows and the published files of two builds differ first."""
    return (
        first_difference(table_rows(built), table_rows(clean)),
        first_difference(published_files(built), published_files(clean)),
    )


def scripted_states() -> list[tuple[str, Files, dict[str, Any]]]:
    """The files after each scripted edit; an edit of None goes back to the state before the last one."""
    states: list[tuple[str, Files, dict[str, Any]]] = [("the first build", SHOP, {})]
    for name, edit in EDITS:
        files = states[-2][1] if edit is None else edit(states[-1][1])
        states.append((name, files, SETTINGS.get(name, {})))
    return states


def rewrites(reports: Reports) -> dict[str, Any]:
    """What a build wrote again and why, what went, and how much it looked at."""
    levels = [reports[f"{level}_summaries"] for level in ("function", "class", "file", "module")]
    written = {found.id: found.cause.value for level in levels for found in level.rewrites}
    return {
        "parsed": reports["symbols"].parsed,
        "rewritten": dict(sorted(written.items())),
        "removed": sum(level.removed for level in levels),
        "texts_changed": reports["summary_documents"].texts_changed,
        "embedded": reports["dense_index"].embedded,
        "published": reports["published_index"].published,
    }


def scripted_outcomes(folder: Path) -> dict[str, Any]:
    """Every scripted edit's rewrites, in order."""
    return {name: rewrites(reports) for name, reports, _ in scripted_builds(folder)}


def scripted_builds(folder: Path) -> Iterator[tuple[str, Reports, Workspace]]:
    """Every scripted edit, built on what the edits before it left."""
    repo = GitRepo.create(folder / "shop")
    for name, files, chosen in scripted_states():
        repo.commit_exactly(files, name)
        workspace = workspace_at(folder / "home", repo, run_id=name, **chosen)
        yield name, build(workspace), workspace


def must_do_as_scripted(folder: Path, *, first: int | None = None, every: int) -> None:
    """Compare what each build did with what is expected, and every n-th of them, and the last, with a clean build."""
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))
    states = {name: chosen for name, _, chosen in scripted_states()}
    assert list(states) == list(expected)
    last = first or len(expected)
    for number, (name, reports, workspace) in enumerate(islice(scripted_builds(folder), last), start=1):
        assert rewrites(reports) == expected[name], name
        if number % every == 0 or number == last:
            build(clean := workspace_at(folder / "clean", GitRepo(folder / "shop"), **states[name]))
            assert (name, *differences(workspace, clean)) == (name, None, None)
            shutil.rmtree(folder / "clean")


@pytest.mark.parametrize(
    "first",
    # Some forty builds.
    [pytest.param(10, id="the first ones"), pytest.param(None, id="all", marks=pytest.mark.slow)],
)
def test_every_scripted_edit_rewrites_exactly_what_it_must_and_says_why(tmp_path: Path, first: int | None) -> None:
    must_do_as_scripted(tmp_path, first=first, every=15)


@pytest.mark.slow
def test_after_every_scripted_edit_the_index_equals_a_clean_build(tmp_path: Path) -> None:
    must_do_as_scripted(tmp_path, every=1)


def hold_the_law(sequence: Sequence[tuple[int, int]], folder: Path) -> None:
    """Build after every edit of a sequence, then compare with a clean build."""
    repo = GitRepo.create(folder / "shop", SHOP)
    files: Files = SHOP
    built = workspace_at(folder / "home", repo)
    build(built)
    for operation, number in sequence:
        files = change(files, OPERATIONS[operation], random.Random(number))
        repo.commit_exactly(files)
        build(built)
    must_equal_a_clean_build(built, repo, folder / "clean")


def check_random_sequences(first_seed: int, examples: int, folders: pytest.TempPathFactory) -> None:
    @seed(first_seed)
    @settings(max_examples=examples, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(SEQUENCES)
    def the_law_holds(sequence: list[tuple[int, int]]) -> None:
        folder = folders.mktemp("law")
        hold_the_law(sequence, folder)
        shutil.rmtree(folder)

    the_law_holds()


@pytest.mark.parametrize("number", [0, *(pytest.param(number, marks=pytest.mark.slow) for number in (1, 2, 3))])
def test_a_random_sequence_of_edits_ends_in_the_index_of_a_clean_build(number: int, tmp_path: Path) -> None:
    # Hypothesis begins with the simplest sequences, which the script has too.
    chance = random.Random(number)
    edits = 8 if number else 5
    hold_the_law([(chance.randrange(len(OPERATIONS)), chance.randrange(10_000)) for _ in range(edits)], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(100, 106))
def test_sixty_sequences_of_edits_end_in_the_index_of_a_clean_build(
    shard: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    check_random_sequences(shard, 10, tmp_path_factory)
