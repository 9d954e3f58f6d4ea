"""All tools, with their descriptions, arguments and answers; and the marks on files that changed since.

An answer of a work tree has that tree's lines. For other answers, the few files that they name are compared with the
repository as it is now: its work tree, the branch of its entry, or the last fetched commit.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from pydantic import BaseModel, ValidationError

from codesum_pipeline.ground.model.document import Level
from codesum_pipeline.ground.model.errors import CodesumError, ConfigurationError, RepositoryUnavailable
from codesum_pipeline.ground.model.printable import some_of
from codesum_pipeline.ground.model.repository import RepositoryEntry
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.source.files.work_trees import work_tree_state
from codesum_pipeline.source.git.folder_commits import scan_files
from codesum_pipeline.source.git.locations import is_url
from codesum_pipeline.source.git.remote import source_git_dir
from codesum_pipeline.source.git.trees import read_tree
from codesum_pipeline.source.repositories.checkouts import checkout_of
from codesum_pipeline.ways_in.tools.call import ToolContext
from codesum_pipeline.ways_in.tools.catalogue import IndexCatalogue
from codesum_pipeline.ways_in.tools.changes_tool import watch_changes
from codesum_pipeline.ways_in.tools.graph_tool import get_dependencies, get_file_analysis, get_symbol_info, graph
from codesum_pipeline.ways_in.tools.overview_tool import (
    FrameworkEntry,
    get_framework_analysis,
    get_semantic_neighborhoods,
    overview,
)
from codesum_pipeline.ways_in.tools.read_tool import read
from codesum_pipeline.ways_in.tools.search_tool import search, search_symbols
from codesum_pipeline.ways_in.tools.status_tool import status
from codesum_pipeline.ways_in.tools.tool_answers import AnswerPage, Arguments, DocumentRow, explain_invalid
from codesum_pipeline.ways_in.worktrees.opening import TreeIndex

_TIMEOUT_S = 10.0
T = TypeVar("T", bound=BaseModel)
# More threads than cores, since they wait for processes.
_READERS = 8
_NAMED = 5
_CHANGED = (
    "changed since the indexed commit of {repo}, lines may be others: {files}; "
    "`codesum index {repo}` brings them up to date"
)


def mark_changed(call: ToolContext, page: AnswerPage) -> AnswerPage:
    """Mark the rows and findings of a page whose files differ, and name these files in a note."""
    rows = [row for row in _all_in(page, DocumentRow) if row.kind != Level.MODULE]
    # Findings are those of the commit, also in an answer of a work tree, and of the answer's only repository.
    findings = [(page.as_of[0].repo, each.place.rpartition(":")[0], each) for each in _all_in(page, FrameworkEntry)]
    wanted: dict[str, set[str]] = defaultdict(set)
    for repo, path in [*((row.repo, row.path) for row in rows), *((repo, path) for repo, path, _ in findings)]:
        wanted[repo].add(path)
    changed = changed_files(call, wanted)
    for row in rows:
        row.changed_since = row.path in changed[row.repo]
    for repo, path, finding in findings:
        tree = call.trees.tree(call.index(repo))
        finding.changed_since = path in (changed[repo] if tree.found is None else tree.found.paths)
    page.notes = call.notes
    return page


def changed_files(call: ToolContext, wanted: Mapping[str, Collection[str]]) -> dict[str, frozenset[str]]:
    """The files that differ from the published index of their repository, among some; notes name them, and say where
    they could not be compared."""
    entries = {entry.key: entry for entry in call.catalogue.entries(lambda _: None)}
    indexes = {repo: call.index(repo) for repo in wanted}
    trees = {repo: call.trees.tree(index) for repo, index in indexes.items()}
    uncompared: list[str] = []

    def judged(repo: str) -> frozenset[str]:
        known = call.judged_files.setdefault(repo, {})
        new = sorted(path for path in wanted[repo] if path not in known)
        try:
            changed = _changed(call.catalogue, trees[repo], entries.get(repo), indexes[repo], new) if new else ()
            known.update((path, path in changed) for path in new)
            return frozenset(path for path in wanted[repo] if known[path])
        except (CodesumError, OSError) as error:
            uncompared.append(f"{repo}: it is not known whether line numbers are still right: {error}")
            return frozenset()

    with ThreadPoolExecutor(_READERS) as pool:
        found = dict(zip(wanted, pool.map(judged, wanted), strict=True))
    for note in sorted(
        [
            *uncompared,
            *(
                _CHANGED.format(repo=repo, files=some_of(sorted(paths), _NAMED))
                for repo, paths in found.items()
                if paths
            ),
        ]
    ):
        call.tell(note)
    return found


def _all_in(value: Any, kind: type[T]) -> Iterator[T]:
    """All values of a kind in an answer, however deep."""
    if isinstance(value, kind):
        yield value
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _all_in(getattr(value, name), kind)
    elif isinstance(value, list):
        for each in value:
            yield from _all_in(each, kind)


def _changed(
    catalogue: IndexCatalogue,
    tree: TreeIndex,
    entry: RepositoryEntry | None,
    index: PublishedIndex,
    paths: Sequence[str],
) -> frozenset[str]:
    if tree.found is not None:
        return tree.stale.intersection(paths)
    mirror = catalogue.layout.mirror(index.repo)
    before = _blobs(mirror, index.commit, paths)
    found = _blobs_of_tree(tree.root, paths, before) if tree.root else _blobs_now(mirror, entry, paths, before)
    return frozenset(path for path in paths if before.get(path) != found.get(path))


def _blobs_now(
    mirror: Path, entry: RepositoryEntry | None, paths: Sequence[str], before: Mapping[str, str]
) -> Mapping[str, str]:
    """The blobs of files at the present source of the entry's repository."""
    if entry is None:
        return before
    if is_url(entry.location):
        # Importing takes thirty milliseconds, for which answers about folders do not wait.
        from codesum_pipeline.source.git.mirror import Mirror

        head = Mirror(mirror, timeout_s=_TIMEOUT_S).head_commit(entry, offline=True)
        return _blobs(mirror, head, paths)
    folder = Path(entry.location)
    checkout = checkout_of(folder)
    if checkout is None and folder.is_dir() and (folder / "HEAD").is_file():
        return _blobs(folder, entry.ref or "HEAD", paths)
    if entry.ref not in (None, "HEAD") and checkout is not None:
        return _blobs(source_git_dir(checkout.root), str(entry.ref), paths)
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} does not exist")
    return _blobs_of_tree(checkout.root if checkout else folder, paths, before)


def _blobs_of_tree(root: Path, paths: Sequence[str], before: Mapping[str, str]) -> Mapping[str, str]:
    """The blobs of files in a folder. Where bytes differ, git is asked, since a filter may have changed them."""
    scan = scan_files(root, {path.encode() for path in paths})
    found = {path.decode(): file.blob for path, file in scan.files.items()}
    if all(found.get(path) == before.get(path) for path in paths) or not (root / ".git").exists():
        return found
    try:
        edited = set(work_tree_state(root).paths)
        committed = _blobs(root / ".git", "HEAD", paths)
    except RepositoryUnavailable:
        return found
    return {path: found[path] if path in edited else committed.get(path, found[path]) for path in found}


def _blobs(git_dir: Path, commit: str, paths: Sequence[str]) -> dict[str, str]:
    """The blobs of some files of a commit, without missing files."""
    if not paths:
        return {}
    files = read_tree(commit, *paths, git_dir=git_dir, timeout_s=_TIMEOUT_S)
    return {file.path.decode("utf-8", "replace"): file.blob for file in files}


class Tool(Struct, frozen=True):
    """The first sentence of `description` says when the tool is better than what an agent has anyway. `answer` takes a
    call and arguments, and returns a page."""

    name: str
    description: str
    answer: Callable[[ToolContext, Any], AnswerPage]
    is_default: bool = False

    @property
    def arguments(self) -> type[Arguments]:
        found: type[Arguments] = self.answer.__annotations__["arguments"]
        return found

    @property
    def page(self) -> type[AnswerPage]:
        found: type[AnswerPage] = self.answer.__annotations__["return"]
        return found

    def ask(self, call: ToolContext, arguments: Mapping[str, Any] | Arguments) -> AnswerPage:
        """The answer, with marks and notes where files changed since the commit that it is of. Raises
        `ConfigurationError` for arguments that the tool does not take."""
        parsed = arguments if isinstance(arguments, Arguments) else self.parse(arguments)
        return mark_changed(call, self.answer(call, parsed))

    def parse(self, arguments: Mapping[str, Any]) -> Arguments:
        try:
            return self.arguments.model_validate(arguments)
        except ValidationError as error:
            raise ConfigurationError(f"{self.name}: {explain_invalid(error, self.arguments)}") from error


TOOLS = (
    Tool(
        "search",
        "Find code by what it does, in words, when you do not know the name to grep for: ranked functions, classes, "
        "files and folders with path:line and a summary each, of one repository or all. Also finds names and "
        'quoted text ("failed to open %s"). Filters: repos, levels, languages, paths, tests.',
        search,
        is_default=True,
    ),
    Tool(
        "read",
        "Read exactly the function, class or lines you need instead of whole files: several ids, names or "
        "path:first-last in one call, 200 lines of each, with what is known of them; a folder gives its summary. "
        "With query and excerpt, only the lines that fit.",
        read,
        is_default=True,
    ),
    Tool(
        "graph",
        "See who calls, imports or inherits from something, and what it uses, resolved across files where grep "
        "finds only equal names: callers, callees, bases, subclasses, imports, external packages, members, and code "
        "that is similar, for a symbol, file or folder; depth follows them further.",
        graph,
        is_default=True,
    ),
    Tool(
        "overview",
        "Start here in a repository you do not know, before listing folders: what it is, its parts and languages, "
        "frameworks and entry points, and its most used files and definitions.",
        overview,
        is_default=True,
    ),
    Tool(
        "status",
        "Which repositories can be asked, at which commit each stands and how far behind HEAD; of one repository "
        "what changed last.",
        status,
        is_default=True,
    ),
    Tool(
        "get_codebase_overview",
        "What a repository is before you open any file: parts, languages, frameworks, entry points, most used code.",
        overview,
    ),
    Tool(
        "get_framework_analysis",
        "What a repository is built with and how it starts, from manifests, imports and entry points: web frameworks, "
        "ORMs, test runners, build systems, CI, deployment.",
        get_framework_analysis,
    ),
    Tool(
        "get_semantic_neighborhoods",
        "Code that belongs together whatever folder it is in: communities of the graph, and what is like a given "
        "function, class, file or folder.",
        get_semantic_neighborhoods,
    ),
    Tool(
        "search_symbols",
        "Find functions and classes by name or a part of it, also spelled nearly so, without the false hits of grep.",
        search_symbols,
    ),
    Tool(
        "get_symbol_info",
        "All about one function or class in one call: signature, place, what it is part of, members, callers, "
        "callees, bases and subclasses.",
        get_symbol_info,
    ),
    Tool(
        "get_dependencies",
        "What a file or folder imports, what imports it, and which packages from outside it rests on.",
        get_dependencies,
    ),
    Tool(
        "get_file_analysis", "What a file defines, imports and hands to others, without reading it.", get_file_analysis
    ),
    Tool(
        "watch_changes",
        "Which functions, classes, files and folders came, changed or went since a commit or your last look.",
        watch_changes,
    ),
)


def tools_by_name(*, every: bool = True) -> dict[str, Tool]:
    """All tools, or those that agents have by default."""
    return {tool.name: tool for tool in TOOLS if every or tool.is_default}
