"""Which paths are indexed."""

import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.file import SkipReason
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.stage_settings import ScanSettings
from codesum_pipeline.source.files.path_rules import PathRules, readable_path


def rules_of(
    *,
    subdir: str = "",
    include: tuple[str, ...] = (),
    exclude: tuple[str, ...] = (),
    scan: ScanSettings | None = None,
) -> PathRules:
    entry = RepositoryEntry(key="project", location="/x", subdir=subdir, include=include, exclude=exclude)
    return PathRules.of(entry, scan or ScanSettings())


def why(rules: PathRules, path: str, *, mode: str = "100644", size: int = 10) -> SkipReason | None:
    return rules.why_skipped(path, mode=mode, size=size)


def test_links_and_submodules_are_skipped() -> None:
    assert why(rules_of(), "a.py", mode="120000") is SkipReason.SYMLINK
    assert why(rules_of(), "a", mode="160000") is SkipReason.SUBMODULE


def test_only_the_subdir_is_indexed() -> None:
    rules = rules_of(subdir="services/api")

    assert why(rules, "services/api/a.py") is None
    assert why(rules, "services/api2/a.py") is SkipReason.OUTSIDE_SUBDIR
    assert why(rules, "a.py") is SkipReason.OUTSIDE_SUBDIR


def test_include_and_exclude_are_gitignore_patterns_from_the_root() -> None:
    rules = rules_of(include=("src/", "*.md"), exclude=("docs/**", "!docs/index.md", "/src/old"))

    assert why(rules, "src/a/b.py") is None
    assert why(rules, "docs/index.md") is None
    assert why(rules, "lib/a.py") is SkipReason.NOT_INCLUDED
    assert why(rules, "docs/a.md") is SkipReason.EXCLUDED
    assert why(rules, "src/old/a.py") is SkipReason.EXCLUDED
    assert why(rules, "src/x/old/a.py") is None


@pytest.mark.parametrize("path", ["poetry.lock", "web/package-lock.json", "a.min.js", "a.js.map", "x.svg"])
def test_text_that_no_one_reads_is_skipped(path: str) -> None:
    assert why(rules_of(), path) is SkipReason.SKIP_PATTERN


def test_a_notebook_has_a_limit_of_its_own() -> None:
    rules = rules_of(scan=ScanSettings(max_file_size_mb=1))

    assert rules.why_skipped("a.ipynb", mode="100644", size=40_000_000) is None
    assert rules.why_skipped("a.ipynb", mode="100644", size=60_000_000) is SkipReason.TOO_LARGE
    assert rules.why_skipped("a.py", mode="100644", size=2_000_000) is SkipReason.TOO_LARGE


def test_skip_patterns_add_to_the_defaults_and_take_them_back() -> None:
    rules = rules_of(scan=ScanSettings(skip_patterns=("fixtures/", "!*.svg")))

    assert why(rules, "a/fixtures/b.py") is SkipReason.SKIP_PATTERN
    assert why(rules, "poetry.lock") is SkipReason.SKIP_PATTERN
    assert why(rules, "a.svg") is None


@pytest.mark.parametrize("path", ["a/b_pb2.py", "b_pb2_grpc.py", "b_pb2.pyi", "x.pb.go", "x.generated.ts", "F.g.cs"])
def test_names_of_generated_files_are_known(path: str) -> None:
    assert why(rules_of(), path) is SkipReason.GENERATED


@pytest.mark.parametrize("path", ["test_generated.py", "generated.py", "pb2.py", "generator/a.py"])
def test_names_that_only_sound_generated_are_not(path: str) -> None:
    assert why(rules_of(), path) is None


def test_files_above_the_limit_are_skipped() -> None:
    rules = rules_of(scan=ScanSettings(max_file_size_mb=0.5))

    assert why(rules, "a.py", size=512 * 1024) is None
    assert why(rules, "a.py", size=512 * 1024 + 1) is SkipReason.TOO_LARGE


def test_the_allowlist_keeps_out_other_programs_and_no_text() -> None:
    rules = rules_of(scan=ScanSettings(lang_allowlist=("Python",)))

    assert why(rules, "a.py") is None
    assert why(rules, "README.md") is None
    assert why(rules, "script") is None
    assert why(rules, "a.go") is SkipReason.LANGUAGE


def test_an_unknown_language_or_pattern_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="unknown language 'pyton'; the nearest is 'python'"):
        rules_of(scan=ScanSettings(lang_allowlist=("pyton",)))
    with pytest.raises(ConfigurationError, match=r"repos.yaml: 'project': exclude '!' is no pattern as in .gitignore"):
        rules_of(exclude=("!",))


@pytest.mark.parametrize(
    "path", ["vendor/a.go", "a/third_party/b.c", "web/node_modules/x/i.js", "pip/_vendor/rich/x.py"]
)
def test_vendored_files_are_flagged(path: str) -> None:
    assert rules_of().is_vendored(path)


@pytest.mark.parametrize("path", ["vendor.py", "vendors/list.py", "src/vendoring/a.py"])
def test_names_that_only_sound_vendored_are_not(path: str) -> None:
    assert not rules_of().is_vendored(path)


@pytest.mark.parametrize(
    "path",
    [
        "tests/a.py",
        "regress/input/keys.sh",
        "src/test/regress/sql/join.sql",
        "src/test/java/A.java",
        "project_tests/data/a.txt",
        "a/test_b.py",
        "b_test.py",
        "conftest.py",
        "app/tests.py",
        "a_test.go",
        "src/a.spec.ts",
        "src/a.test.jsx",
        "src/__tests__/a.js",
        "FooTest.java",
        "spec/a_helper.rb",
        "src/parser/tests.rs",
        "src/parser_test.zig",
        "test/run.bats",
        "integration-test/src/lib.rs",
        "tests/app/src/main/java/A.java",
        "core/src/test/java/Helper.java",
        "core/src/commonTest/kotlin/FlowTest.kt",
        "koin-test/src/jvmTest/kotlin/Components.kt",
        "Tests/QuickTests/Helper.swift",
        "t/basic/01-load.t",
        "t/lib/Fixture.pm",
        "Private/Copy-Item.Tests.ps1",
        "apps/broker_SUITE.erl",
        "src/queue_tests.erl",
        "src/app/core_test.cljc",
        "R/test-parse.R",
        "lib/test_graph.ml",
        "modules/vpc.tftest.hcl",
    ],
)
def test_tests_are_flagged(path: str) -> None:
    assert rules_of().is_test(path)


@pytest.mark.parametrize(
    "path",
    [
        "testing.py",
        "src/attest/a.py",
        "latest.py",
        "contest.py",
        "AUDIT.java",
        "spec/api.md",
        "pkg/testing/fake.go",
        "src/main/java/junit/extensions/RepeatedTest.java",
        "core/src/commonMain/kotlin/x/test/Checks.kt",
        "Sources/Quick/QuickSpec.swift",
        "tokio-test/src/io.rs",
        "koin-test/koin-test/src/commonMain/kotlin/KoinTest.kt",
        "lib/Format.t.pm",
        "R/attest.R",
        "src/testing.jl",
        "parse.t",
    ],
)
def test_names_that_only_sound_like_tests_are_not(path: str) -> None:
    assert not rules_of().is_test(path)


def test_the_folder_that_is_indexed_flags_nothing_by_its_own_name() -> None:
    rules = rules_of(subdir="vendor/tests")

    assert not rules.is_vendored("vendor/tests/a.py")
    assert not rules.is_test("vendor/tests/a.py")
    assert rules.is_test("vendor/tests/tests/a.py")


@pytest.mark.parametrize(
    ("raw", "path", "is_valid"),
    [
        ("ünï/a b.py".encode(), "ünï/a b.py", True),
        (b"new\nline.py", "new\nline.py", True),
        (b"ignored/", "ignored/", True),
        (b"caf\xe9.py", "./caf\\xe9.py", False),
        (b"back\\slash\xff", "./back\\\\slash\\xff", False),
        (b"a::b.py", "a::b.py", False),
        (b"tool:", "tool:", False),
        (b"a:/b.py", "a:/b.py", True),
        (b"a/../b.py", "a/../b.py", False),
        (b"a//b.py", "a//b.py", False),
        (b".GIT/config", ".GIT/config", False),
    ],
)
def test_paths_that_cannot_name_a_document_are_marked(raw: bytes, path: str, is_valid: bool) -> None:
    assert readable_path(raw) == (path, is_valid)
