"""Which frameworks a repository has, and the lines that tell of them."""

import tomllib
from collections import Counter
from importlib import resources

import pytest

from codesum_pipeline.search.overviews.found_in_parts import ImportedModule
from codesum_pipeline.search.overviews.framework_catalogue import read_catalogue
from codesum_pipeline.search.overviews.frameworks import find_frameworks
from codesum_pipeline.search.overviews.overview_inputs import OverviewSources
from codesum_pipeline_tests.search.overviews import manifest_texts as texts


def sources_of(files: dict[str, str], **more) -> OverviewSources:
    return OverviewSources(paths=sorted(files), texts=files, **more)


def best_evidence_of(sources: OverviewSources) -> set[tuple[str, str, str]]:
    """Kind, name and the best place of each."""
    return {(each.kind, each.name, each.evidence[0].place) for each in find_frameworks(sources)}


def test_at_least_sixty_frameworks_of_every_asked_kind_are_declared_as_data():
    text = (resources.files("codesum_pipeline.search.overviews") / "frameworks.toml").read_text(encoding="utf-8")
    declared = {kind: len(frameworks) for kind, frameworks in tomllib.loads(text).items()}

    assert sum(declared.values()) >= 60
    assert {"web framework", "ORM or database", "test runner", "build system", "CI", "deployment"} <= declared.keys()
    assert tuple(declared) == read_catalogue().kinds


def test_no_mark_stands_for_two_frameworks_and_every_framework_has_one():
    text = (resources.files("codesum_pipeline.search.overviews") / "frameworks.toml").read_text(encoding="utf-8")
    every = [(name, marks) for frameworks in tomllib.loads(text).values() for name, marks in frameworks.items()]
    marks = Counter(
        (field, mark) for _, found in every for field in ("packages", "imports") for mark in found.get(field, ())
    )

    assert [mark for mark, count in marks.items() if count > 1] == []
    assert [name for name, found in every if not set(found) & {"packages", "imports", "files"}] == []
    assert {field for _, found in every for field in found} <= {"packages", "imports", "files"}
    assert all(":" in mark for field, mark in marks)


PROJECTS = {
    "python": (
        {"pyproject.toml": texts.PYPROJECT, ".github/workflows/ci.yml": "on: push\n", "tests/conftest.py": ""},
        {
            ("web framework", "FastAPI", "pyproject.toml:8"),
            ("ORM or database", "SQLAlchemy", "pyproject.toml:9"),
            ("ORM or database", "PostgreSQL", "pyproject.toml:10"),
            ("test runner", "pytest", "pyproject.toml:17"),
            ("build system", "Hatch", "pyproject.toml:2"),
            ("CI", "GitHub Actions", ".github/workflows/ci.yml:1"),
            ("jobs and messages", "Celery", "pyproject.toml:14"),
            ("code quality", "mypy", "pyproject.toml:17"),
        },
    ),
    "typescript": (
        {"package.json": texts.PACKAGE_JSON, "vercel.json": "{}", "tsconfig.json": "{}"},
        {
            ("web framework", "Next.js", "package.json:7"),
            ("ORM or database", "Prisma", "package.json:9"),
            ("test runner", "Vitest", "package.json:12"),
            ("build system", "npm", "package.json:1"),
            ("build system", "TypeScript", "tsconfig.json:1"),
            ("deployment", "Vercel", "vercel.json:1"),
            ("user interface", "React", "package.json:8"),
        },
    ),
    "php": (
        {"composer.json": texts.COMPOSER_JSON, "artisan": "#!/usr/bin/env php\n"},
        {
            ("web framework", "Laravel", "composer.json:6"),
            ("test runner", "PHPUnit", "composer.json:9"),
            ("build system", "Composer", "composer.json:1"),
        },
    ),
    "rust": (
        {"Cargo.toml": texts.CARGO, "fly.toml": ""},
        {
            ("web framework", "Axum", "Cargo.toml:9"),
            ("ORM or database", "sqlx", "Cargo.toml:12"),
            ("build system", "Cargo", "Cargo.toml:1"),
            ("deployment", "Fly.io", "fly.toml:1"),
            ("concurrency", "Tokio", "Cargo.toml:10"),
        },
    ),
    "go": (
        {"go.mod": texts.GO_MOD, "Dockerfile": "FROM golang:1.23\n", ".gitlab-ci.yml": ""},
        {
            ("web framework", "Gin", "go.mod:6"),
            ("ORM or database", "GORM", "go.mod:7"),
            ("test runner", "testify", "go.mod:11"),
            ("build system", "Go modules", "go.mod:1"),
            ("CI", "GitLab CI", ".gitlab-ci.yml:1"),
            ("deployment", "Docker", "Dockerfile:1"),
        },
    ),
    "java": (
        {"pom.xml": texts.POM, "Jenkinsfile": ""},
        {
            ("web framework", "Spring Boot", "pom.xml:5"),
            ("test runner", "JUnit", "pom.xml:17"),
            ("build system", "Maven", "pom.xml:1"),
            ("CI", "Jenkins", "Jenkinsfile:1"),
        },
    ),
    "kotlin": (
        {"build.gradle.kts": texts.GRADLE_KTS, "gradle/libs.versions.toml": texts.VERSIONS_TOML},
        {
            ("web framework", "Ktor", "build.gradle.kts:11"),
            ("ORM or database", "Exposed", "build.gradle.kts:12"),
            ("ORM or database", "Room", "gradle/libs.versions.toml:7"),
            ("ORM or database", "SQLDelight", "gradle/libs.versions.toml:10"),
            ("test runner", "Kotest", "build.gradle.kts:13"),
            ("build system", "Gradle", "build.gradle.kts:1"),
            ("network and API", "OkHttp", "gradle/libs.versions.toml:6"),
        },
    ),
    "scala": (
        {"build.sbt": texts.SBT},
        {
            ("web framework", "http4s", "build.sbt:6"),
            ("ORM or database", "Doobie", "build.sbt:7"),
            ("test runner", "ScalaTest", "build.sbt:8"),
            ("build system", "sbt", "build.sbt:1"),
        },
    ),
    "c-sharp": (
        {"src/Shop.csproj": texts.CSPROJ},
        {
            ("web framework", "ASP.NET Core", "src/Shop.csproj:1"),
            ("ORM or database", "Dapper", "src/Shop.csproj:7"),
            ("ORM or database", "Entity Framework", "src/Shop.csproj:8"),
            ("build system", "MSBuild", "src/Shop.csproj:1"),
        },
    ),
    "ruby": (
        {"Gemfile": texts.GEMFILE, "config.ru": ""},
        {
            ("web framework", "Ruby on Rails", "Gemfile:3"),
            ("web framework", "Rack", "config.ru:1"),
            ("ORM or database", "PostgreSQL", "Gemfile:4"),
            ("test runner", "RSpec", "Gemfile:7"),
            ("build system", "Bundler", "Gemfile:1"),
        },
    ),
    "elixir": (
        {"mix.exs": texts.MIX},
        {
            ("web framework", "Phoenix", "mix.exs:14"),
            ("ORM or database", "Ecto", "mix.exs:15"),
            ("build system", "Mix", "mix.exs:1"),
            ("code quality", "Credo", "mix.exs:16"),
        },
    ),
    "swift": (
        {"Package.swift": texts.PACKAGE_SWIFT},
        {
            ("web framework", "Vapor", "Package.swift:8"),
            ("build system", "Swift Package Manager", "Package.swift:1"),
            ("command line", "Swift Argument Parser", "Package.swift:9"),
        },
    ),
    "haskell": (
        {"compass.cabal": texts.CABAL},
        {
            ("web framework", "Servant", "compass.cabal:11"),
            ("web framework", "Warp", "compass.cabal:16"),
            ("test runner", "Hspec", "compass.cabal:20"),
            ("build system", "Cabal", "compass.cabal:1"),
            ("validation and serialization", "Aeson", "compass.cabal:10"),
        },
    ),
    "lua": (
        {"anchor-1.0-1.rockspec": texts.ROCKSPEC},
        {
            ("web framework", "Lapis", "anchor-1.0-1.rockspec:5"),
            ("test runner", "busted", "anchor-1.0-1.rockspec:7"),
            ("build system", "LuaRocks", "anchor-1.0-1.rockspec:1"),
        },
    ),
    "zig": (
        {"build.zig.zon": texts.ZON, "build.zig": texts.BUILD_ZIG},
        {("web framework", "http.zig", "build.zig.zon:5"), ("build system", "Zig build", "build.zig:1")},
    ),
    "cpp": (
        {"CMakeLists.txt": texts.CMAKE, ".clang-format": ""},
        {
            ("test runner", "Catch2", "CMakeLists.txt:2"),
            ("build system", "CMake", "CMakeLists.txt:1"),
            ("validation and serialization", "nlohmann/json", "CMakeLists.txt:3"),
            ("code quality", "clang-format", ".clang-format:1"),
        },
    ),
}


@pytest.mark.parametrize(("files", "expected"), PROJECTS.values(), ids=PROJECTS)
def test_the_frameworks_of_a_project_are_found_with_their_places(files, expected):
    assert best_evidence_of(sources_of(files)) == expected


def test_a_framework_that_is_imported_and_not_declared_is_known_by_its_first_import():
    sources = sources_of(
        {"app.py": "", "jobs.py": ""},
        imports=[
            ImportedModule("jobs.py", 4, "python", "flask.views"),
            ImportedModule("app.py", 1, "python", "flask"),
            ImportedModule("app.py", 2, "python", "flaskless"),
        ],
    )

    (flask,) = find_frameworks(sources)

    assert (flask.name, flask.evidence[0].place, flask.importing_files, flask.places) == ("Flask", "app.py:1", 2, 2)


def test_what_declares_a_framework_comes_before_what_imports_it_and_both_are_told():
    files = {"requirements.txt": "flask>=3\n", "app.py": ""}

    (flask,) = find_frameworks(sources_of(files, imports=[ImportedModule("app.py", 7, "python", "flask")]))

    assert [each.place for each in flask.evidence] == ["requirements.txt:1", "app.py:7"]
    assert (flask.constraint, flask.is_for_development) == (">=3", False)


def test_what_only_development_asks_for_is_told_apart():
    files = {"package.json": '{"devDependencies": {"express": "^5"}, "dependencies": {"koa": "^3"}}'}

    found = {each.name: each.is_for_development for each in find_frameworks(sources_of(files))}

    assert found == {"Express": True, "Koa": False, "npm": False}


def test_a_framework_is_none_of_its_own_repository():
    manifest = '[project]\nname = "Flask"\ndependencies = ["click>=8"]\n'
    sources = sources_of(
        {"pyproject.toml": manifest, "docs/requirements.txt": "flask\n"},
        imports=[ImportedModule("src/flask/app.py", 1, "python", "flask.globals")],
    )

    assert [each.name for each in find_frameworks(sources)] == ["Click"]


def test_a_repository_without_a_manifest_is_known_by_its_name():
    sources = sources_of({}, imports=[ImportedModule("cask/Main.scala", 1, "scala", "cask.model")], names={"cask"})

    assert find_frameworks(sources) == []


def test_what_tests_and_examples_need_is_no_framework_but_for_what_runs_the_tests():
    files = {
        "package.json": '{"dependencies": {"koa": "^3"}}',
        "examples/blog/package.json": '{"dependencies": {"express": "^5", "mocha": "^11"}}',
        "test/app.py": "",
    }
    beside = frozenset({"examples/blog/package.json", "test/app.py"})
    imports = [
        ImportedModule("test/app.py", 1, "python", "django"),
        ImportedModule("test/app.py", 2, "python", "pytest"),
    ]

    found = find_frameworks(sources_of(files, imports=imports, beside=beside))

    assert [each.name for each in found] == ["Koa", "Mocha", "npm"], "one import in a test says too little of pytest"


def test_a_malformed_manifest_stops_no_other_and_is_named():
    sources = sources_of({"package.json": "{", "go.mod": texts.GO_MOD})

    assert ("web framework", "Gin", "go.mod:6") in best_evidence_of(sources)
    assert list(sources.malformed) == ["package.json"]
    assert "not valid JSON" in sources.malformed["package.json"]


def test_a_manifest_larger_than_any_person_writes_is_not_read():
    sources = sources_of({"package.json": '{"dependencies": {"koa": "' + "1" * 500_000 + '"}}'})

    assert [each.name for each in find_frameworks(sources)] == ["npm"]


def test_frameworks_come_by_kind_and_the_most_imported_first():
    files = {"requirements.txt": "django\nflask\npytest\n"}
    imports = [ImportedModule(f"{n}.py", 1, "python", "flask") for n in "ab"]

    found = find_frameworks(sources_of(files, imports=imports))

    assert [each.name for each in found] == ["Flask", "Django", "pytest"]
