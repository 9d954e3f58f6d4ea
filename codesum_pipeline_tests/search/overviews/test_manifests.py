"""What each kind of manifest declares, with the line of each dependency; hostile ones are refused."""

from pathlib import Path

import pytest

from codesum_pipeline.search.overviews.package_manifests.manifest import MalformedManifest, Manifest
from codesum_pipeline.search.overviews.package_manifests.manifest_readers import manifest_paths, read_manifest
from codesum_pipeline_tests.search.overviews import manifest_texts as texts


def read(path: str, text: str) -> Manifest:
    manifest = read_manifest(path, text)
    assert manifest is not None, path
    return manifest


DEPENDENCIES = {
    "pyproject.toml": (
        texts.PYPROJECT,
        [
            ("FastAPI", "<1,>=0.110", "run", 8),
            ("sqlalchemy", "~=2.0", "run", 9),
            ("psycopg", None, "run", 10),
            ("hatchling", ">=1.27", "build", 2),
            ("celery", ">=5.4", "dev", 14),
            ("pytest", ">=8", "dev", 17),
            ("mypy", None, "dev", 17),
        ],
    ),
    "poetry/pyproject.toml": (
        texts.POETRY,
        [
            ("python", "^3.11", "run", 5),
            ("django", "^5.0", "run", 6),
            ("celery", "^5.4", "run", 7),
            ("pytest-django", "*", "dev", 10),
        ],
    ),
    "setup.cfg": (
        texts.SETUP_CFG,
        [("Flask", ">=3", "run", 6), ("requests", None, "run", 7), ("pytest", None, "dev", 11)],
    ),
    "setup.py": (texts.SETUP_PY, [("tornado", ">=6", "run", 7), ("click", None, "run", 7), ("pytest", None, "dev", 8)]),
    "requirements.txt": (texts.REQUIREMENTS, [("django", "==5.1.4", "run", 2), ("gunicorn", ">=22", "run", 5)]),
    "requirements/dev.txt": ("pytest\n", [("pytest", None, "dev", 1)]),
    "package.json": (
        texts.PACKAGE_JSON,
        [
            ("next", "^15.1.0", "run", 7),
            ("react", "^19.0.0", "run", 8),
            ("@prisma/client", "6.1.0", "run", 9),
            ("vitest", "^2.1.8", "dev", 12),
        ],
    ),
    "composer.json": (
        texts.COMPOSER_JSON,
        [("laravel/framework", "^11.0", "run", 6), ("phpunit/phpunit", "^11.5", "dev", 9)],
    ),
    "Cargo.toml": (
        texts.CARGO,
        [
            ("axum", "0.8", "run", 9),
            ("tokio", "1.43", "run", 10),
            ("sqlx", "0.8", "run", 12),
            ("proptest", "1", "dev", 16),
            ("nix", "0.29", "run", 19),
        ],
    ),
    "go.mod": (
        texts.GO_MOD,
        [
            ("github.com/gin-gonic/gin", "v1.10.0", "run", 6),
            ("gorm.io/gorm", "v1.25.12", "run", 7),
            ("github.com/stretchr/testify", "v1.10.0", "run", 11),
        ],
    ),
    "pom.xml": (
        texts.POM,
        [
            ("org.springframework.boot:spring-boot-starter-web", None, "run", 13),
            ("org.junit.jupiter:junit-jupiter", "5.11.4", "dev", 17),
            ("org.springframework.boot:spring-boot-starter-parent", "3.4.1", "run", 5),
        ],
    ),
    "build.gradle": (
        texts.GRADLE,
        [
            ("java", None, "build", 2),
            ("org.springframework.boot", "3.4.1", "build", 3),
            ("org.hibernate.orm:hibernate-core", "6.6.4.Final", "run", 7),
            ("org.mockito:mockito-core", "5.14.2", "dev", 8),
        ],
    ),
    "build.gradle.kts": (
        texts.GRADLE_KTS,
        [
            ("org.jetbrains.kotlin.jvm", "2.1.0", "build", 2),
            ("io.ktor.plugin", "3.0.3", "build", 3),
            ("io.ktor:ktor-server-core", "3.0.3", "run", 11),
            ("org.jetbrains.exposed:exposed-core", "$exposed", "run", 12),
            ("io.kotest:kotest-runner-junit5", "5.9.1", "dev", 13),
        ],
    ),
    "gradle/libs.versions.toml": (
        texts.VERSIONS_TOML,
        [
            ("io.ktor:ktor-client-core", None, "run", 5),
            ("com.squareup.okhttp3:okhttp", "4.12.0", "run", 6),
            ("androidx.room:room-runtime", None, "run", 7),
            ("app.cash.sqldelight", None, "build", 10),
        ],
    ),
    "build.sbt": (
        texts.SBT,
        [
            ("org.http4s:http4s-ember-server", None, "run", 6),
            ("org.tpolecat:doobie-core", "1.0.0-RC6", "run", 7),
            ("org.scalatest:scalatest", "3.2.19", "dev", 8),
        ],
    ),
    "build.sc": ('def ivyDeps = Agg(ivy"com.lihaoyi::cask:0.9.5")\n', [("com.lihaoyi:cask", "0.9.5", "run", 1)]),
    "src/Shop.csproj": (
        texts.CSPROJ,
        [
            ("Dapper", "2.1.35", "run", 7),
            ("Microsoft.EntityFrameworkCore.SqlServer", "9.0.0", "run", 8),
            ("Microsoft.NET.Sdk.Web", None, "build", 1),
        ],
    ),
    "Gemfile": (
        texts.GEMFILE,
        [("rails", "~> 8.0, >= 8.0.1", "run", 3), ("pg", None, "run", 4), ("rspec-rails", "~> 7.1", "dev", 7)],
    ),
    "lighthouse.gemspec": (texts.GEMSPEC, [("faraday", ">= 2, < 3", "run", 4), ("minitest", None, "dev", 5)]),
    "mix.exs": (
        texts.MIX,
        [("phoenix", "~> 1.7.18", "run", 14), ("ecto_sql", ">= 3.10.0", "run", 15), ("credo", "~> 1.7", "dev", 16)],
    ),
    "Package.swift": (
        texts.PACKAGE_SWIFT,
        [("vapor/vapor", "4.110.1", "run", 8), ("apple/swift-argument-parser", None, "run", 9)],
    ),
    "compass.cabal": (
        texts.CABAL,
        [
            ("base", ">=4.18 && <5", "run", 5),
            ("aeson", ">=2.1", "run", 10),
            ("servant-server", None, "run", 11),
            ("compass", None, "run", 16),
            ("warp", "^>=3.4", "run", 16),
            ("hspec", None, "dev", 20),
        ],
    ),
    "package.yaml": (
        texts.PACKAGE_YAML,
        [("base", ">= 4.7 && < 5", "run", 3), ("scotty", None, "run", 4), ("hspec", None, "dev", 11)],
    ),
    "anchor-1.0-1.rockspec": (
        texts.ROCKSPEC,
        [("lua", ">= 5.1", "run", 4), ("lapis", "~> 1.16", "run", 5), ("busted", None, "dev", 7)],
    ),
    "build.zig.zon": (texts.ZON, [("httpz", None, "run", 5), ("local", None, "run", 8)]),
    "CMakeLists.txt": (texts.CMAKE, [("Catch2", "3", "run", 2), ("nlohmann_json", None, "run", 3)]),
    "meson.build": ("project('x', 'c')\ngtk = dependency('gtk4')\n", [("gtk4", None, "run", 2)]),
    "Dockerfile": (texts.DOCKERFILE, [("node", "22-alpine", "run", 1), ("postgres", "17", "run", 4)]),
    "docker-compose.yml": (texts.COMPOSE, [("redis", "7", "run", 8)]),
}


@pytest.mark.parametrize(("path", "text", "expected"), [(path, *found) for path, found in DEPENDENCIES.items()])
def test_a_manifest_gives_its_dependencies_with_their_constraints_scopes_and_lines(path, text, expected):
    found = read(path, text).dependencies

    assert [(each.name, each.constraint, each.scope.value, each.line) for each in found] == expected


ENTRY_POINTS = {
    "pyproject.toml": (texts.PYPROJECT, [("parcel-desk", "command", 20, "parcel_desk.cli:main")]),
    "poetry/pyproject.toml": (texts.POETRY, [("ledger", "command", 13, "ledger.main:run")]),
    "setup.cfg": (texts.SETUP_CFG, [("weather", "command", 15, "weather.cli:main")]),
    "setup.py": (texts.SETUP_PY, [("tides", "command", 9, "tides.app:main")]),
    "package.json": (
        texts.PACKAGE_JSON,
        [
            ("shop", "command", 4, "./bin/shop.js"),
            ("npm start", "application", 3, "next start"),
            ("@shop/front", "library entry", 5, "./dist/index.mjs"),
        ],
    ),
    "composer.json": (texts.COMPOSER_JSON, [("blog", "command", 11, "bin/blog")]),
    "Cargo.toml": (texts.CARGO, [("relayd", "command", 5, "src/daemon.rs")]),
    "build.gradle.kts": (texts.GRADLE_KTS, [("org.example.ApplicationKt", "application", 7, None)]),
    "src/Shop.csproj": (texts.CSPROJ, [("Shop", "application", 3, None)]),
    "lighthouse.gemspec": (texts.GEMSPEC, [("lighthouse", "command", 3, None)]),
    "mix.exs": (texts.MIX, [("Ferry.Application", "application", 9, None)]),
    "Package.swift": (texts.PACKAGE_SWIFT, [("beacon", "command", 6, None), ("App", "command", 12, None)]),
    "compass.cabal": (texts.CABAL, [("compass-server", "command", 14, "Main.hs")]),
    "package.yaml": (texts.PACKAGE_YAML, [("sextant", "command", 7, "Main.hs")]),
    "anchor-1.0-1.rockspec": (texts.ROCKSPEC, [("anchor.lua", "command", 8, "bin/anchor.lua")]),
    "build.zig": (texts.BUILD_ZIG, [("keel", "command", 5, None)]),
    "CMakeLists.txt": (texts.CMAKE, [("buoy", "command", 5, None)]),
    "Dockerfile": (texts.DOCKERFILE, [("Dockerfile", "container", 5, '["postgres"]')]),
}


@pytest.mark.parametrize(("path", "text", "expected"), [(path, *found) for path, found in ENTRY_POINTS.items()])
def test_a_manifest_gives_what_it_can_be_started_by(path, text, expected):
    found = read(path, text).entry_points

    assert [(each.name, each.kind.value, each.line, each.target) for each in found] == expected


def test_a_manifest_that_is_a_program_is_read_and_never_run(tmp_path: Path):
    mark = tmp_path / "it was run"

    found = read("setup.py", texts.SETUP_PY.replace("MARK", str(mark)))

    assert (found.names, mark.exists()) == (("tides",), False)


_LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha"}">' for n in range(30))
_ALIASES = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("pom.xml", f"<!DOCTYPE p [{_LAUGHS}]><project>&l29;</project>", id="entities that unfold"),
        pytest.param(
            "pom.xml", '<!DOCTYPE p [<!ENTITY f SYSTEM "file:///etc/passwd">]><p>&f;</p>', id="an entity from a file"
        ),
        pytest.param("pom.xml", "<a>" * 100_000, id="XML nested without end"),
        pytest.param("pom.xml", "<project>", id="XML cut off"),
        pytest.param("package.json", "[" * 100_000, id="JSON nested without end"),
        pytest.param("package.json", "[1]", id="JSON that is no object"),
        pytest.param("Cargo.toml", "a = " + "[" * 10_000, id="TOML nested without end"),
        pytest.param("package.yaml", "[" * 10_000, id="YAML nested without end"),
        pytest.param("package.yaml", "a: b: c", id="YAML that is none"),
        pytest.param("compose.yaml", "- a\n" * 100_000, id="YAML of a length that takes long"),
        pytest.param("setup.cfg", "no section", id="INI that is none"),
    ],
)
def test_a_manifest_that_its_parser_refuses_is_named_as_malformed(path, text):
    with pytest.raises(MalformedManifest):
        read(path, text)


def test_aliases_that_would_unfold_to_billions_of_values_are_read_once():
    assert read("compose.yaml", _ALIASES + "services: {db: {image: postgres}}\n").dependencies[0].name == "postgres"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package.json", '{"name": 1, "dependencies": ["x"], "bin": 3, "exports": {".": []}, "scripts": null}'),
        ("composer.json", '{"require": "x", "bin": {"a": 1}}'),
        ("pyproject.toml", 'project = 1\n[tool.poetry]\ndependencies = "x"\n'),
        ("Cargo.toml", 'dependencies = "x"\nbin = 3\ntarget = []\n'),
        ("gradle/libs.versions.toml", "libraries = 1\n[plugins]\na = 3\n"),
        ("pom.xml", "<project><dependency/><plugin>x</plugin></project>"),
        ("x.csproj", "<Project><PackageReference/></Project>"),
        ("package.yaml", "dependencies: {a: {b: 1}}\nexecutables: x\n"),
        ("setup.py", "setup(install_requires=x, entry_points=[[[]]])"),
        ("Gemfile", "gem\ngem 1\ngem *b"),
        ("mix.exs", "{:a}"),
        ("Package.swift", ".package(url: )"),
        ("build.zig.zon", ".{ .dependencies = .{ 1 } }"),
    ],
)
def test_fields_of_another_shape_than_the_format_has_say_nothing(path, text):
    assert read(path, text).dependencies == ()


def test_the_manifests_nearest_the_root_come_first():
    paths = ["packages/a/package.json", "src/main.py", "package.json", "api/go.mod", "README.md"]

    assert manifest_paths(paths) == ["package.json", "api/go.mod", "packages/a/package.json"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("requirements.txt", " " * 300_000 + "x", id="white space before nothing"),
        pytest.param("go.mod", "require " + "a." * 150_000 + "\n", id="a name without an end"),
        pytest.param("CMakeLists.txt", "\n" * 300_000, id="empty lines"),
        pytest.param("x.cabal", "build-depends:" + " " * 300_000 + "{", id="white space in a field"),
        pytest.param("build.gradle", "implementation(" * 20_000, id="brackets"),
        pytest.param("pyproject.toml", f'[project]\ndependencies = ["{"a[" * 100_000}"]\n', id="a requirement"),
    ],
)
def test_a_manifest_made_to_take_long_says_nothing_and_ends(path, text):
    assert read(path, text).dependencies == ()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("Gemfile", "a(" * 100_000, id="calls in calls"),
        pytest.param("setup.py", "[" * 100_000, id="lists in lists"),
        pytest.param("setup.py", "setup(" + "/*\n" * 20_000, id="a call and many operators"),
    ],
)
def test_a_manifest_in_which_more_is_begun_than_ended_is_refused(path, text):
    with pytest.raises(MalformedManifest, match="more is begun in it than ended"):
        read(path, text)
