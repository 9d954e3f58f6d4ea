"""Which files a text mentions, and which of them a model is shown first."""

from pathlib import Path

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.overview_tool import OverviewArguments, overview
from codesum_pipeline.answers.question_answering.citations import FileRef, FileStanding, RepositoryFiles
from codesum_pipeline.answers.question_answering.mentioned_files import count_mentions, rank_mentioned
from codesum_pipeline.answers.question_answering.synthesis import MAX_FILES
from codesum_pipeline_tests.answers.question_answering.test_grounding import gathered, sources_of
from codesum_pipeline_tests.support.repositories import GitRepo


def ref(path: str) -> FileRef:
    return FileRef("a", path)


def known(*paths: str) -> dict[FileRef, FileStanding]:
    """Files that are all as important."""
    return {ref(path): FileStanding(0.5) for path in paths}


def paths(files: list[FileRef]) -> list[str]:
    return [file.path for file in files]


def test_what_is_mentioned_more_often_comes_first_however_important_others_are() -> None:
    files = {ref("aa.py"): FileStanding(0.9), ref("zz.py"): FileStanding(0.1)}

    assert paths(rank_mentioned("aa.py, zz.py and zz.py", files)) == ["zz.py", "aa.py"]


def test_of_files_mentioned_as_often_the_more_important_comes_first_and_no_alphabet_counts() -> None:
    files = {ref("aa.py"): FileStanding(0.1), ref("dir/zz.py"): FileStanding(0.9), ref("mm.py"): FileStanding(0.5)}

    assert paths(rank_mentioned("see `aa.py`, (dir/zz.py:3-9) and ./mm.py. Not other.py", files)) == [
        "dir/zz.py",
        "mm.py",
        "aa.py",
    ]


def test_of_as_important_ones_what_fits_then_what_defines_more_comes_first() -> None:
    files = known("aa.py", "bb.py", "cc.py") | {ref("ee.py"): FileStanding(0.5, definitions=9)}

    found = rank_mentioned("aa.py bb.py cc.py ee.py", files, fitting=[ref("cc.py"), ref("bb.py")])

    assert paths(found) == ["cc.py", "bb.py", "ee.py", "aa.py"]


def test_files_that_tie_in_everything_are_in_an_order_that_is_no_alphabet_and_the_same_in_each_run() -> None:
    names = [f"m{number:02}.py" for number in range(30)]
    found = paths(rank_mentioned(" ".join(names), known(*names)))

    assert found == paths(rank_mentioned(" ".join(reversed(names)), known(*reversed(names))))
    assert found not in (names, names[::-1])
    assert found[:3] == ["m26.py", "m10.py", "m20.py"]


def test_sums_that_differ_in_their_last_digits_tie() -> None:
    files = {ref("aa.py"): FileStanding(0.1 + 0.2), ref("zz.py"): FileStanding(0.3, definitions=2)}

    assert paths(rank_mentioned("aa.py zz.py", files)) == ["zz.py", "aa.py"]


def test_a_bundle_of_a_build_comes_after_its_sources_however_often_it_is_mentioned() -> None:
    files = {ref("dist/x.js"): FileStanding(0.9, is_bundled=True), ref("lib/x.js"): FileStanding(0.1)}

    assert paths(rank_mentioned("dist/x.js dist/x.js lib/x.js", files)) == ["lib/x.js", "dist/x.js"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("src/pkg/app.py", 1),
        ("`src/pkg/app.py:3-9`, ./src/pkg/app.py.", 2),
        ("start with app.py", 1),
        ("pkg.app:main", 1),
        ("in src.pkg.app.", 1),
        ("app", 0),
        ("pkg/app", 0),
        ("main.py", 0),
        ("pkg.other", 0),
        ("pkg.util", 1),
    ],
)
def test_a_file_is_mentioned_by_its_path_a_name_of_its_own_or_as_a_module(text: str, count: int) -> None:
    files = known("src/pkg/app.py", "src/pkg/main.py", "src/main.py", "src/pkg/util/__init__.py", "src/pkg/.rc")

    assert sum(count_mentions(text, files).values()) == count


def test_the_rows_of_lists_mention_a_file_once_together() -> None:
    rows = (
        "most used files\n    b.py:1  file  Like a.py.\nmost used definitions\n    b.py:3-9  class  B: x\n"
        "    b.py:10-12  function  b: y\nIt is all in a.py and a.py."
    )

    assert count_mentions(rows, known("a.py", "b.py")) == {ref("a.py"): 2, ref("b.py"): 1}


PLUGIN = "def {name}_load(x):\n    return x\n"
ENGINE = "class Engine:\n" + "".join(f"    def step_{n}(self, x):\n        return x\n\n" for n in range(9))


@pytest.fixture(scope="module")
def tied(tmp_path_factory: pytest.TempPathFactory) -> RepositoryFiles:
    """Thirty files alike, an engine, and a bundle of them: nothing uses anything."""
    folder = tmp_path_factory.mktemp("tied")
    files = {
        **{f"parts/part_{n:02}.py": PLUGIN.format(name=f"part{n}") for n in range(30)},
        "parts/zz_engine.py": ENGINE,
        "dist/all.js": "function aa(x) { return bb(x); }\nfunction bb(x) { return x; }\n" * 3,
    }
    return sources_of(folder, GitRepo.create(folder / "repository", files))


def overview_of(sources: RepositoryFiles) -> str:
    call = ToolContext(sources.sources.catalogue, Path("/"))
    return overview(call, OverviewArguments(repo="many", limit=100, tokens=50_000)).text()


def test_thirty_files_that_tie_do_not_hide_the_engine(tied: RepositoryFiles) -> None:
    shown = gathered(tied, overview_of(tied)).files

    assert shown[0] == "parts/zz_engine.py"
    assert len(shown) == MAX_FILES
    assert list(shown[1:4]) != ["parts/part_00.py", "parts/part_01.py", "parts/part_02.py"]
    assert "dist/all.js" not in shown


def test_a_short_overview_of_files_that_tie_lists_those_that_define_more_and_bundles_last(
    tied: RepositoryFiles,
) -> None:
    call = ToolContext(tied.sources.catalogue, Path("/"))
    few = overview(call, OverviewArguments(repo="many", limit=3)).files
    every = overview(call, OverviewArguments(repo="many", limit=100, tokens=50_000)).files

    assert few[0].id == "parts/zz_engine.py"
    assert every[-1].id == "dist/all.js"
