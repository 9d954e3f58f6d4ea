"""Which files are indexed: what their paths, modes and sizes decide.

Pure functions. A rule that needs the content is in `content`; it is asked only about files that pass these.
"""

import difflib
import re
from typing import Self

from msgspec import Struct
from pathspec import GitIgnoreSpec

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.file import SkipReason
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.patterns import read_patterns
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.language_facts.file_languages import (
    LANGUAGES,
    has_shared_ending,
    is_notebook,
    is_program,
    language_of_path,
)
from codesum_pipeline.foundation.settings.stage_settings import ScanSettings
from codesum_pipeline.source.files.declared_encodings import EncodingRules, encoding_rules
from codesum_pipeline.source.files.ignore_files import NO_IGNORE_RULES, IgnoreRules
from codesum_pipeline.source.files.notebooks import LARGEST_NOTEBOOK_BYTES, NOTEBOOKS_VERSION
from codesum_pipeline.source.git.trees import SUBMODULE_MODE, SYMLINK_MODE

# Part of every carry-over key: raise it with any rule, language or decoding that changes.
RULES_VERSION = f"scan/8 {NOTEBOOKS_VERSION}"

# Text that no one reads. The setting `skip_patterns` adds to these and takes one back with `!`.
DEFAULT_SKIP_PATTERNS = (
    "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "poetry.lock", "pdm.lock",
    "uv.lock", "Pipfile.lock", "Cargo.lock", "Gemfile.lock", "composer.lock", "mix.lock", "flake.lock", "Podfile.lock",
    "pubspec.lock", "packages.lock.json", "gradle.lockfile", "go.sum",
    "*.min.js", "*.min.mjs", "*.min.css", "*.map", "*.snap", "*.svg",
    # Compilers' indexes, which are read as such.
    "*.scip", "*.scip.gz",
)  # fmt: skip

# Every folder above a file has a document of its own; the deepest trees that people write have 40.
MOST_FOLDERS = 100

_GENERATED_NAME = re.compile(
    r"_pb2(_grpc)?\.pyi?$|\.pb\.(go|cc|h|validate\.go)$|_pb\.(js|d\.ts|rb)$|\.(g|designer|generated)\.cs$"
    r"|\.(g|freezed)\.dart$|(^|/)zz_generated\.[^/]*\.go$|_generated\.(go|h)$|\.generated\.[a-z]+$",
    re.IGNORECASE,
)
_VENDORED_FOLDER = re.compile(
    r"(^|/)(_?vendor|_?vendored|vendored_packages|third[-_]?party|3rd[-_]?party|node_modules|bower_components|site-packages"
    r"|\.?venv|pods|carthage|godeps)/",
    re.IGNORECASE,
)
_BUNDLE_ENDING = re.compile(r"\.([cm]?[jt]sx?|css)$", re.IGNORECASE)
_TEST_FOLDER = re.compile(
    r"(^|/)((tests?|__tests__|__mocks__|testdata|regress|e2e|[^/]+[-_]tests?|(?-i:src/[a-z][A-Za-z]*Test))/|specs?/.*\.(rb|[cm]?[jt]sx?)$|t/.*\.(t|p[lm])$)",
    re.IGNORECASE,
)
_TEST_NAME = re.compile(
    r"(^|/)(test_[^/]*\.py|[^/]+_tests?\.py|tests\.(py|rs|zig)|conftest\.py|[^/]+_test\.(go|cc|cpp|c|rs|exs|dart|rb|lua)"
    r"|[^/]+_tests?\.(rs|zig)|[^/]+\.bats|test_[^/]+\.(c|cc|cpp|rb|sh|lua|zig)|[^/]+_spec\.(rb|lua|sh)|[^/]+[.-](test|spec)\.[cm]?[jt]sx?)$"
    r"|[a-z0-9](Test|Tests|IT|Spec)\.(java|kt|scala|groovy|cs|swift|php|hs|m|mm)$"
    r"|(^|/)([^/]+\.Tests\.ps1|[^/]+(_SUITE|_tests)\.erl|[^/]+_test\.(clj|cljc|cljs|jl|ml)|test[-_][^/]*\.([rR]|jl|ml)"
    r"|[^/]+\.tftest\.hcl)$"
)
# The main sources of a build are shipped, whatever a test framework calls its files and folders there.
_SHIPPED = re.compile(r"(?:^|(?<=/))(?:src/(?:main|[a-z][A-Za-z]*Main)|Sources)/")
# A library `x-test`, which others test with; `integration-test` is none.
_TEST_LIBRARY = re.compile(
    r"(?:^|(?<=/))(?!(?:acceptance|api|bench|browser|e2e|functional|integration|load|perf|smoke|system|ui|unit)[-_])"
    r"[^/]+[-_]test/(?=(?:[^/]+[-_]test/)*(?:src|lib)/)",
    re.IGNORECASE,
)


class PathRules(Struct, frozen=True):
    """The rules of one entry and its settings, compiled once; `ignored` are those of one tree's files."""

    subdir: str
    include: GitIgnoreSpec | None
    exclude: GitIgnoreSpec
    skip: GitIgnoreSpec
    largest_bytes: int
    languages: frozenset[str]
    encodings: tuple[EncodingRules, ...] = ()
    ignored: IgnoreRules = NO_IGNORE_RULES

    @classmethod
    def of(cls, entry: RepositoryEntry, settings: ScanSettings) -> Self:
        """Raises `ConfigurationError` for a pattern or language that cannot be."""
        where = f"repos.yaml: {entry.key!r}: "
        return cls(
            subdir=entry.subdir,
            include=read_patterns(entry.include, f"{where}include") if entry.include else None,
            exclude=read_patterns(entry.exclude, f"{where}exclude"),
            skip=read_patterns((*DEFAULT_SKIP_PATTERNS, *settings.skip_patterns), "setting 'skip_patterns'"),
            largest_bytes=int(settings.max_file_size_mb * 1024 * 1024),
            languages=_allowed_languages(settings.lang_allowlist),
            # An entry's own word counts more than that for all.
            encodings=(
                *encoding_rules(entry.encodings, f"{where}encodings"),
                *encoding_rules(settings.encodings, "setting 'encodings'"),
            ),
        )

    def why_skipped(self, path: str, *, mode: str, size: int) -> SkipReason | None:
        """The first rule that keeps a file out; None for one whose content has to be looked at."""
        if mode == SYMLINK_MODE:
            return SkipReason.SYMLINK
        if mode == SUBMODULE_MODE:
            return SkipReason.SUBMODULE
        if path.count("/") > MOST_FOLDERS:
            return SkipReason.TOO_DEEP
        if self.subdir and not path.startswith(f"{self.subdir}/"):
            return SkipReason.OUTSIDE_SUBDIR
        if self.include is not None and not self.include.match_file(path):
            return SkipReason.NOT_INCLUDED
        if self.exclude.match_file(path):
            return SkipReason.EXCLUDED
        if self.ignored.ignores(path):
            return SkipReason.CODESUMIGNORE
        if self.skip.match_file(path):
            return SkipReason.SKIP_PATTERN
        if _GENERATED_NAME.search(path):
            return SkipReason.GENERATED
        if size > self.most_bytes(path):
            return SkipReason.TOO_LARGE
        language = None if has_shared_ending(path) or is_notebook(path) else language_of_path(path)
        return None if language is None or self.allows(language) else SkipReason.LANGUAGE

    def most_bytes(self, path: str) -> int:
        """How many bytes a file may have; of a notebook, its outputs among them."""
        return LARGEST_NOTEBOOK_BYTES if is_notebook(path) else self.largest_bytes

    def may_index_below(self, folder: str) -> bool:
        """Whether a file below a folder may be one that is indexed, as far as its path tells."""
        one, other = f"{self.subdir}/", f"{folder}/"
        is_around = not self.subdir or one.startswith(other) or other.startswith(one)
        return is_around and not self.exclude.match_file(other)

    def allows(self, language: str) -> bool:
        """Whether files of a language are indexed; prose, markup and data always are."""
        return not self.languages or language in self.languages or not is_program(language)

    def is_vendored(self, path: str) -> bool:
        """Whether a folder below the indexed one says that others wrote the file."""
        return bool(_VENDORED_FOLDER.search(self._below(path)))

    def is_test(self, path: str) -> bool:
        """Whether a folder below the indexed one, or the name, says that the file tests others."""
        below = _TEST_LIBRARY.sub("", self._below(path))
        if shipped := _SHIPPED.search(below):
            return bool(_TEST_FOLDER.search(below[: shipped.start()]))
        return bool(_TEST_FOLDER.search(below) or _TEST_NAME.search(below))

    def _below(self, path: str) -> str:
        return path.removeprefix(f"{self.subdir}/") if self.subdir else path


def is_bundled(path: str) -> bool:
    """Whether a build made a file, of others that are in the repository, too: a bundle in a folder `dist`."""
    return "/dist/" in f"/{path}".lower() and _BUNDLE_ENDING.search(path) is not None


def readable_path(raw: bytes) -> tuple[str, bool]:
    """A path as text, and whether it can be one of a document.

    Names that are not UTF-8, that hold `::` or end with `:` (ids would be ambiguous) or parts that no checkout allows
    cannot. The first are shown escaped behind `./`, which no other path starts with.
    """
    try:
        path = raw.decode("utf-8")
    except UnicodeDecodeError:
        return "./" + raw.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace"), False
    parts = path.removesuffix("/").split("/")
    is_ambiguous = SEPARATOR in path or path.endswith(SEPARATOR[0])
    is_valid = not is_ambiguous and not any(part.lower() in ("", ".", "..", ".git") for part in parts)
    return path, is_valid


def _allowed_languages(names: tuple[str, ...]) -> frozenset[str]:
    lower = [name.lower() for name in names]
    for name in lower:
        if name not in LANGUAGES:
            near = difflib.get_close_matches(name, sorted(LANGUAGES), n=1, cutoff=0.0)[0]
            raise ConfigurationError(f"setting 'lang_allowlist': unknown language {name!r}; the nearest is {near!r}")
    return frozenset(lower)
