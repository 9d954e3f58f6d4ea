"""Which file a module specifier of JavaScript or TypeScript names.

Node's rules and TypeScript's: relative paths, the `paths` and `baseUrl` of the
nearest `tsconfig.json` or `jsconfig.json`, and the packages of the repository
by the names in their `package.json`.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

from codesum_pipeline.languages.declarations.projects import (
    Projects,
    inner_table,
    join_path,
    text_under,
    texts_in,
)

# Where a declaration is beside what it declares, the latter is meant.
_SUFFIXES = (
    ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.ts", ".json", ".vue", ".svelte", ".astro",
)  # fmt: skip
# The name of a compiled file refers to its source.
_SOURCES = {".js": (".ts", ".tsx", ".d.ts", ".jsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_CONDITIONS = ("source", "types", "import", "module", "require", "node", "browser", "development", "default")
_FIELDS = ("source", "types", "typings", "module", "main")
# Folders that builds write to, and where their sources usually are.
_BUILT = ("dist", "lib", "build", "out", "es", "esm", "cjs")
MAX_EXTENDS = 10
# The folders of a package that the tools of Vue, Nuxt, SvelteKit and Astro call so, where no configuration says it.
_USUAL_ALIASES = {"$lib": ("src/lib",), "@": ("src", "app", ""), "~": ("app", "src", ""), "~~": ("",)}


class PathAliases(Struct, frozen=True):
    """`paths` of a configuration: patterns with at most one `*`, and the folder they start from."""

    base: str | None
    folder: str
    patterns: tuple[tuple[str, tuple[str, ...]], ...]


class EcmascriptModules:
    """Finds modules in one repository, whose files do not change meanwhile: what a specifier names in a folder, the
    configurations, and the names of packages are read once."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self._configs: dict[str, PathAliases | None] = {}
        self._found: dict[tuple[str, str], str | None] = {}
        # The folders of packages on the way, which may name each other in a circle.
        self._open: set[str] = set()

    def find(self, folder: str, specifier: str) -> str | None:
        """The file that a specifier names in a file of a folder; None if it is not in the repository."""
        key = (folder, specifier)
        if key not in self._found:
            self._found[key] = self._find(folder, specifier.partition("?")[0])
        return self._found[key]

    def _find(self, folder: str, specifier: str) -> str | None:
        if self.is_relative(specifier):
            path = join_path(folder, specifier)
            return self._file(path) if path is not None and not specifier.startswith("/") else None
        return (
            self._by_paths(folder, specifier)
            or self._by_package(folder, specifier)
            or self._by_usual_alias(folder, specifier)
        )

    @staticmethod
    def is_relative(specifier: str) -> bool:
        """Whether a specifier is a path, so that nothing outside of the repository can be meant."""
        return specifier in (".", "..") or specifier.startswith(("./", "../", "/"))

    def is_own(self, folder: str, specifier: str) -> bool:
        """Whether a specifier that names no file still names a part of the repository: a package, a path's alias."""
        name = package_name(specifier)
        if name in self._packages or specifier.startswith("#") or specifier.partition("/")[0] in _USUAL_ALIASES:
            return True
        rules = self._rules_for(folder)
        return rules is not None and any(
            pattern != "*" and _matched(pattern, specifier) is not None for pattern, _ in rules.patterns
        )

    def _file(self, path: str) -> str | None:
        paths = self._projects.paths
        if path in paths:
            return path
        stem, dot, ending = path.rpartition(".")
        candidates = [stem + source for source in _SOURCES.get(f".{ending}", ())] if dot else []
        candidates += [path + suffix for suffix in _SUFFIXES]
        candidates += [f"{path}/index{suffix}" if path else f"index{suffix}" for suffix in _SUFFIXES]
        found = next((candidate for candidate in candidates if candidate in paths), None)
        if found is not None or path in self._open or not self._projects.has(f"{path}/package.json"):
            return found
        self._open.add(path)
        try:
            return self._entry(path, ".")
        finally:
            self._open.discard(path)

    def _by_paths(self, folder: str, specifier: str) -> str | None:
        rules = self._rules_for(folder)
        if rules is None:
            return None
        matching = [
            (len(pattern.partition("*")[0]), pattern, targets, held)
            for pattern, targets in rules.patterns
            if (held := _matched(pattern, specifier)) is not None
        ]
        for _, _, targets, held in sorted(matching, key=lambda match: (-match[0], match[1])):
            for target in targets:
                path = join_path(rules.folder, target.replace("*", held, 1))
                if path is not None and (found := self._file(path)) is not None:
                    return found
        path = join_path(rules.base, specifier) if rules.base is not None else None
        return self._file(path) if path is not None else None

    def _rules_for(self, folder: str) -> PathAliases | None:
        path = self._projects.nearest(folder, "tsconfig.json", "jsconfig.json")
        if path is not None and path not in self._configs:
            self._configs[path] = self._read_rules(path)
        return self._configs[path] if path is not None else None

    def _read_rules(self, path: str) -> PathAliases | None:
        base: str | None = None
        chain, seen = [path], {path}
        while chain and len(seen) <= MAX_EXTENDS:
            here = chain.pop(0)
            content = self._projects.json(here)
            folder = here.rpartition("/")[0]
            options = inner_table(content, "compilerOptions")
            if base is None and (base_url := text_under(options, "baseUrl")):
                base = join_path(folder, base_url)
            if paths := inner_table(options, "paths"):
                patterns = tuple(sorted((pattern, tuple(texts_in(targets))) for pattern, targets in paths.items()))
                return PathAliases(base, base if base is not None else folder, patterns)
            for extended in _extended(content):
                target = self._config_path(folder, extended)
                if target is not None and target not in seen:
                    seen.add(target)
                    chain.append(target)
            if not _extended(content) and here == path:
                chain.extend(self._referenced(folder, content, seen))
        return PathAliases(base, base, ()) if base is not None else None

    def _referenced(self, folder: str, content: Mapping[str, Any], seen: set[str]) -> Iterator[str]:
        """A configuration without options of its own only points to others."""
        references = content.get("references")
        for reference in references if isinstance(references, list) and "compilerOptions" not in content else ():
            target = self._config_path(folder, text_under(reference, "path")) if isinstance(reference, dict) else None
            if target is not None and target not in seen:
                seen.add(target)
                yield target

    def _config_path(self, folder: str, extended: str) -> str | None:
        path = join_path(folder, extended) if self.is_relative(extended) else None
        candidates = (path, f"{path}.json", f"{path}/tsconfig.json") if path else ()
        return next((candidate for candidate in candidates if self._projects.has(candidate)), None)

    @cached_property
    def _packages(self) -> dict[str, str]:
        """The folders of the repository's packages by name; none of several, such as copies in fixtures."""
        found: dict[str, set[str]] = {}
        for path in self._projects.named("package.json"):
            if name := text_under(self._projects.json(path), "name"):
                found.setdefault(name, set()).add(path.rpartition("/")[0])
        return {name: next(iter(folders)) for name, folders in found.items() if len(folders) == 1}

    def _by_package(self, folder: str, specifier: str) -> str | None:
        name = package_name(specifier)
        if specifier.startswith("#"):
            return self._by_own_imports(folder, specifier)
        if name not in self._packages:
            return None
        rest = specifier[len(name) :].lstrip("/")
        return self._entry(self._packages[name], f"./{rest}" if rest else ".")

    def _by_usual_alias(self, folder: str, specifier: str) -> str | None:
        alias, _, rest = specifier.partition("/")
        if alias not in _USUAL_ALIASES:
            return None
        here = (self._projects.nearest(folder, "package.json") or "").rpartition("/")[0]
        paths = (join_path(here, f"{base}/{rest}".strip("/")) for base in _USUAL_ALIASES[alias])
        return next((found for path in paths if path and (found := self._file(path))), None)

    def _by_own_imports(self, folder: str, specifier: str) -> str | None:
        path = self._projects.nearest(folder, "package.json")
        imports = inner_table(self._projects.json(path), "imports") if path is not None else {}
        return self._mapped((path or "").rpartition("/")[0], imports, specifier)

    def _entry(self, folder: str, inner: str) -> str | None:
        """What a package gives under `.` or `./inner`."""
        content = self._projects.json(f"{folder}/package.json" if folder else "package.json")
        exports = content.get("exports")
        if not (isinstance(exports, dict) and any(key.startswith(".") for key in exports)):
            exports = {".": exports}
        if (found := self._mapped(folder, exports, inner)) is not None:
            return found
        if inner != ".":
            path = join_path(folder, inner)
            return self._file(path) or self._file(join_path(folder, f"src/{inner}") or "") if path is not None else None
        named = [self._source_of(folder, named_path) for field in _FIELDS if (named_path := text_under(content, field))]
        if (found := _best(named)) is not None:
            return found
        return self._file(join_path(folder, "src/index") or "") or self._file(join_path(folder, "index") or "")

    def _mapped(self, folder: str, mapping: Mapping[str, Any], wanted: str) -> str | None:
        for pattern in sorted(mapping, key=lambda key: (-len(key.partition("*")[0]), key)):
            held = _matched(pattern, wanted)
            targets = _targets(mapping[pattern]) if held is not None else ()
            if found := _best([self._source_of(folder, target.replace("*", held or "")) for target in targets]):
                return found
        return None

    def _source_of(self, folder: str, path: str) -> str | None:
        """A file that a package names; where it is built, the source of the same name."""
        built, _, inner = path.removeprefix("./").partition("/")
        stem = inner.removesuffix(".d.ts").rsplit(".", 1)[0]
        sources = [path, f"src/{stem}", stem] if built in _BUILT and stem else [path]
        return next(filter(None, (self._file(whole) for one in sources if (whole := join_path(folder, one)))), None)


def _best(paths: Iterable[str | None]) -> str | None:
    """The first file that is there, one that only declares after all others."""
    found = [path for path in paths if path is not None]
    return min(found, key=lambda path: path.endswith(".d.ts"), default=None)


def package_name(specifier: str) -> str:
    """The package that a specifier begins with."""
    parts = specifier.split("/")
    return "/".join(parts[:2]) if specifier.startswith("@") else parts[0]


def _extended(content: Mapping[str, Any]) -> list[str]:
    extended = content.get("extends")
    return [extended] if isinstance(extended, str) else list(reversed(texts_in(extended)))


def _matched(pattern: str, specifier: str) -> str | None:
    """The text that matches the `*` of a pattern; None if it does not match."""
    before, star, after = pattern.partition("*")
    if not star:
        return "" if specifier == pattern else None
    if len(specifier) < len(before) + len(after) or not specifier.startswith(before) or not specifier.endswith(after):
        return None
    return specifier[len(before) : len(specifier) - len(after)]


def _targets(content: Any) -> Iterator[str]:
    """The paths in a target of `exports`, those for source and types first."""
    waiting = [content]
    for _ in range(100):
        if not waiting:
            return
        here = waiting.pop(0)
        if isinstance(here, str):
            yield here
        elif isinstance(here, list):
            waiting[:0] = here
        elif isinstance(here, dict):
            waiting[:0] = [here[condition] for condition in _CONDITIONS if condition in here]
