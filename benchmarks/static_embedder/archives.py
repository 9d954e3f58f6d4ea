"""Read source files out of package archives, without the ones that must not be trained on."""

import io
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

# Names of folders and files of public benchmark repositories, and of packages made from them, kept out so that the
# benchmark stays a test. Whoever vendors one of them has it under its name.
# fmt: off
BENCHMARK_NAMES = frozenset({
    "abseil", "abseil-cpp", "absl", "actionpack", "actionview", "activemodel", "activerecord", "activesupport", "aeson",
    "aiohttp", "alamofire", "astropy", "axios", "axum", "axum-core", "axum-extra", "axum-macros", "bash-it", "bats",
    "bats-core", "cargo", "cargo-platform", "cargo-util", "cats", "chi", "circe", "clap", "clap_builder",
    "clap_complete", "clap_derive", "clap_lex", "clap_mangen", "click", "cmlibuv", "cobra", "commons-lang",
    "commons-lang3", "compiler-core", "compiler-dom", "compiler-sfc", "crates-io", "curl", "dapper", "dask", "dayjs",
    "django", "docling", "ecto", "ecto_sql", "exposed", "express", "fastapi", "fastify", "flask", "fmt", "fmtlib",
    "gin", "globset", "grep-cli", "grep-matcher", "grep-pcre2", "grep-printer", "grep-regex", "grep-searcher", "gson",
    "guzzle", "guzzlehttp", "hiredis", "http4s", "httpx", "ignore", "illuminate", "jackson", "jackson-core",
    "jackson-databind", "jq", "kafka", "kotlinx", "kotlinx-coroutines", "ktor", "lang3", "laravel", "lazy.nvim",
    "libcurl", "libuv", "luv", "matplotlib", "meson", "mesonbuild", "messagepack", "messagepack-csharp", "mini.nvim",
    "model2vec", "monolog", "moto", "mypy", "newtonsoft", "newtonsoft.json", "nlohmann", "nvm", "pandoc", "phoenix",
    "phoenix_html", "phoenix_live_view", "plug", "plug_crypto", "prefect", "pydantic", "pylint", "pypdf", "pytest",
    "rack", "rails", "rayon", "rayon-core", "reactivity", "redis", "redux", "reflex", "requests", "ripgrep",
    "runtime-core", "runtime-dom", "scikit-learn", "seaborn", "sentence-transformers", "sentence_transformers", "serde",
    "serde_core", "serde_derive", "serde_derive_internals", "serde_json", "serde_test", "sinatra", "sklearn", "snapkit",
    "sphinx", "sqlfluff", "sqlglot", "starlette", "streamlink", "structopt", "svelte", "sympy", "telescope",
    "telescope.nvim", "terraform", "tokio", "tokio-codec", "tokio-executor", "tokio-io", "tokio-macros",
    "tokio-reactor", "tokio-stream", "tokio-test", "tokio-util", "tracing", "tracing-appender", "tracing-attributes",
    "tracing-core", "tracing-error", "tracing-futures", "tracing-log", "tracing-serde", "tracing-subscriber", "trpc",
    "uv", "vapor", "vite-node", "vitest", "vue", "xarray", "xmonad", "yt-dlp", "yt_dlp", "zig", "zig-clap", "ziglang",
    "zls", "zod", "zstd",
})
# fmt: on
# Folders of other projects' code.
# fmt: off
_VENDORED = frozenset({
    "vendor", "vendors", "vendored", "_vendor", "third_party", "third-party", "thirdparty", "3rdparty", "external",
    "extern", "deps", "dependencies", "node_modules", "bundled", "pods",
})
# fmt: on
_TESTS = re.compile(
    r"(^|/)(tests?|testing|specs?|__tests__|testdata|fixtures|mocks?|bench(marks?)?|examples?)(/|$)"
    r"|(_test|\.test|\.spec|Tests?|Spec)\.[A-Za-z]+$|(^|/)test_"
)
_GENERATED = re.compile(
    r"(^|/)(dist|build|bundles?|umd|fesm\d*|esm\d*)/|\.min\.|\.bundle\.|\.generated\.|_pb2|\.pb\.|\.d\.ts$|locale"
)
_VERSION = re.compile(r"[-_]v?\d+(\.\d+)+\S*$")
# Where Debian lays a crate; `cargo` in it is the tool, not its source.
_CRATES = "usr/share/cargo/registry/"
_LONGEST_BYTES = 400_000


def is_allowed(path: str) -> bool:
    """False for a benchmark's code, others' code, tests, and what a program wrote."""
    *folders, name = path.lower().split("/")
    # Who vendors a package may hide it behind an underscore, or keep its version: `_requests`, `serde-1.0.152`.
    parts = (*folders, name.partition(".")[0], name.rpartition(".")[0])
    named = {_VERSION.sub("", part.lstrip("_@")) for part in parts}
    return not (
        named & BENCHMARK_NAMES or _VENDORED.intersection(folders) or _TESTS.search(path) or _GENERATED.search(path)
    )


def archive_members(archive: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Each file's path, without the folder that a source archive has around it, and what reads it."""
    if archive.suffix in {".whl", ".zip"}:
        with zipfile.ZipFile(archive) as zipped:
            for entry in zipped.infolist():
                if not entry.is_dir() and entry.file_size <= _LONGEST_BYTES:
                    yield entry.filename, lambda entry=entry: zipped.read(entry)  # type: ignore[misc]
        return
    if archive.suffix == ".deb":
        content = subprocess.run(["dpkg-deb", "--fsys-tarfile", archive], capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(content)) as opened:
            yield from _tar_members(opened, around="./")
    else:
        with tarfile.open(archive) as opened:
            yield from _tar_members(opened, around=None)


def _tar_members(opened: tarfile.TarFile, *, around: str | None) -> Iterator[tuple[str, Callable[[], bytes]]]:
    for entry in opened:
        if entry.isfile() and entry.size <= _LONGEST_BYTES and (stream := opened.extractfile(entry)):
            path = entry.name.removeprefix(around) if around else entry.name.partition("/")[2] or entry.name
            yield path.removeprefix(_CRATES), stream.read
