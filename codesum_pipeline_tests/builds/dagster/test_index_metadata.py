"""What compilers' indexes were worth, as the Dagster UI shows it."""

from pathlib import Path

import pytest

from codesum_pipeline.builds.reports.build_values import Markdown, Values
from codesum_pipeline.builds.reports.report_values import compiled_values, disagreement_values, report_values
from codesum_pipeline.builds.steps.shows import SHOWS
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.graph.compiled_edges import Agreement, Disagreement
from codesum_pipeline.symbols.parsing.symbols_step import CompiledReport
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.scip_shops import put_index
from codesum_pipeline_tests.support.shop import SHOP


def text_of(values: Values, name: str) -> str:
    found = values[name]
    assert isinstance(found, Markdown)
    return found.text


def test_edges_are_counted_by_how_far_they_are_trusted_and_verdicts_by_language_and_cause() -> None:
    lines = (
        ("python", Agreement.AGREE, "ast:import", 6),
        ("python", Agreement.ANOTHER_TARGET, "ast:unique-name", 2),
        ("rust", Agreement.ONLY_INDEX, "no call in the syntax", 4),
        ("", Agreement.ONLY_INDEX, "import", 1),
    )

    values = disagreement_values(Disagreement(3, 10, 2, lines), edges=20)

    assert {name: value for name, value in values.items() if not isinstance(value, Markdown)} == {
        "index_files": 3, "edges_trusted": 10, "edges_doubtful": 2, "edges_of_syntax": 8,
    }  # fmt: skip
    assert text_of(values, "index_and_syntax").splitlines()[2:] == [
        "| other | 0 | 1 | 0 | 0 | 0 | 0\\.0% |",
        "| python | 6 | 0 | 0 | 2 | 0 | 75\\.0% |",
        "| rust | 0 | 4 | 0 | 0 | 0 | 0\\.0% |",
    ]
    assert text_of(values, "index_disagreements").splitlines()[2] == (
        "| python | another target | ast\\:unique\\-name | 2 |"
    )
    assert "█" in text_of(values, "index_and_syntax_plot")


def test_files_of_another_text_and_problems_are_shown_with_their_reasons() -> None:
    found = CompiledReport(
        2, 1, 1, {"scip-go v1": 2}, (("a|b.go", "line 3 has no whole word"),), (("index.scip", "x"),)
    )

    values = compiled_values(found)

    assert (values["index_files"], values["index_files_stale"], values["index_files_misspelled"]) == (2, 1, 1)
    assert "| a\\|b\\.go | line 3 has no whole word |" in text_of(values, "index_stale_examples")
    assert "| index\\.scip | x |" in text_of(values, "index_problems")
    assert "| scip\\-go v1 | 2 |" in text_of(values, "index_tools")


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Values, Values, Values]:
    """Of a shop whose index is of another text in one file: the first three steps' values."""
    folder = tmp_path_factory.mktemp("shop")
    put_index(folder / "home", {**SHOP, "shop/base.py": SHOP["shop/base.py"].replace("as_row", "as_a_row")})
    repo = GitRepo.create(folder / "repo", SHOP)
    ws = workspace_of(open_home(folder / "home"), RepositoryEntry("shop", str(repo.path)))
    done = build(ws, until="call_graph")
    return SHOWS["repo_snapshot"](ws), report_values(done["symbols"]), report_values(done["call_graph"])


def test_a_build_says_which_indexes_it_took_in_and_what_came_of_them(reports: tuple[Values, Values, Values]) -> None:
    files, symbols, graph = reports

    assert "| mirrors/shop\\.scip | \\. | " in text_of(files, "scip_files")
    assert (symbols["index_files"], symbols["index_files_stale"]) == (12, 1)
    assert "shop/base\\.py" in text_of(symbols, "index_stale_examples")
    numbers = [graph[name] for name in ("edges_trusted", "edges_doubtful", "edges_of_syntax")]
    assert sum(numbers) == graph["calls"] + graph["imports"] + graph["inherits"]  # type: ignore[operator]
    assert all(numbers)


def test_without_an_index_nothing_is_said_of_one(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repo", {"a.py": "def f():\n    return 1\n"})
    ws = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path)))
    done = build(ws, until="call_graph")

    shown = {**report_values(done["symbols"]), **report_values(done["call_graph"]), **SHOWS["repo_snapshot"](ws)}
    assert not [name for name in shown if name.startswith(("index_", "edges_", "compiled")) or name == "scip_files"]
