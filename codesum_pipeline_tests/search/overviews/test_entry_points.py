"""Where execution begins: what manifests declare, main functions, scripts."""

from codesum_pipeline.search.overviews.found_in_parts import MAIN_GUARD, MainFunction
from codesum_pipeline.search.overviews.frameworks import find_entry_points
from codesum_pipeline.search.overviews.overview_inputs import OverviewSources
from codesum_pipeline_tests.search.overviews import manifest_texts as texts


def entry_points_of(sources: OverviewSources) -> list[tuple[str, str, str]]:
    return [(each.name, each.kind.value, f"{each.path}:{each.line}") for each in find_entry_points(sources)]


def test_commands_come_first_then_mains_scripts_and_libraries():
    files = {"package.json": texts.PACKAGE_JSON, "Cargo.toml": texts.CARGO}
    sources = OverviewSources(
        paths=[*files, "cmd/harbour/main.go", "src/lib.rs", "bin/deploy", "bin/.hidden", "tools/notes.txt"],
        texts=files,
        mains=[MainFunction("cmd/harbour/main.go", 12, "main"), MainFunction("jobs/nightly.py", 30, MAIN_GUARD)],
        executable=frozenset({"bin/deploy", "bin/.hidden"}),
    )

    assert entry_points_of(sources) == [
        ("relayd", "command", "Cargo.toml:5"),
        ("shop", "command", "package.json:4"),
        ("harbour", "main function", "cmd/harbour/main.go:12"),
        ("deploy", "script", "bin/deploy:1"),
        ("nightly.py", "script", "jobs/nightly.py:30"),
        ("@shop/front", "library entry", "package.json:5"),
        ("src/lib.rs", "library entry", "src/lib.rs:1"),
        ("npm start", "application", "package.json:3"),
    ]


def test_an_executable_file_is_told_once_by_the_line_where_it_begins():
    sources = OverviewSources(
        paths=["scripts/sync.py"],
        texts={},
        mains=[MainFunction("scripts/sync.py", 14, MAIN_GUARD)],
        executable=frozenset({"scripts/sync.py"}),
    )

    assert entry_points_of(sources) == [("sync.py", "script", "scripts/sync.py:14")]


def test_tests_and_examples_start_nothing_that_is_told():
    sources = OverviewSources(
        paths=["examples/main.rs", "tests/run.sh"],
        texts={},
        mains=[MainFunction("examples/main.rs", 1, "main")],
        beside=frozenset({"examples/main.rs", "tests/run.sh"}),
        executable=frozenset({"tests/run.sh"}),
    )

    assert entry_points_of(sources) == []
