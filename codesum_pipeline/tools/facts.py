"""What a build found out of a whole repository, as far as it is of the version that answers."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from codesum_pipeline.model.errors import ConfigurationError, MissingTable
from codesum_pipeline.overlays.opening import TreeIndex
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.tools.as_of import SHORT_COMMIT
from codesum_pipeline.tools.call import ToolContext

Facts = dict[str, Any]
_NAMED = 5


def one_index(call: ToolContext, repo: str) -> PublishedIndex:
    """The index of a repository; without a name that of the caller's folder, or the only one."""
    indexes = call.indexes([repo] if repo else [])
    if len(indexes) != 1:
        raise ConfigurationError(f"name one repository: repo is one of {', '.join(index.repo for index in indexes)}")
    return indexes[0]


def read_facts(call: ToolContext, index: PublishedIndex) -> Facts | None:
    """None where they are of another version, or were never found out; the reason is told."""
    # A third of a second, which answers without facts do not wait for.
    from codesum_pipeline.store.tables import TableStore

    rows = TableStore(call.catalogue.layout.warehouse).read_or_empty("overviews", index.repo).to_pylist()
    version = index.version.manifest
    for row in rows:
        if (row["commit"], row["content_digest"]) == (version["commit"], version["content_digest"]):
            facts: Facts = json.loads(row["facts"])
            tell_differing(call, index, facts)
            return facts
    if rows:
        call.tell(
            f"frameworks, entry points and neighbourhoods are known of commit {rows[0]['commit'][:SHORT_COMMIT]} and "
            f"not of this version: `codesum index {index.repo}` finds them out"
        )
    else:
        call.tell(
            f"frameworks, entry points and neighbourhoods are not known: `codesum index {index.repo}` finds them out"
        )
    return None


def files_differing(tree: TreeIndex, facts: Facts) -> list[str]:
    """The files of a work tree that differ from the commit, and that the facts name or other facts would be read in."""
    if not tree.found:
        return []
    # Its parsers take a tenth of a second, which an answer about a commit does not wait for.
    from codesum_pipeline.overviews.manifests.reading import manifest_paths

    named = {facts["opening"].get("path"), *(each["place"].rpartition(":")[0] for each in _placed(facts))}
    return sorted(named.intersection(tree.found.paths) | set(manifest_paths(tree.found.paths)))


def _placed(facts: Facts) -> Iterator[Mapping[str, Any]]:
    yield from facts["entry_points"]
    for framework in facts["frameworks"]:
        yield from framework["evidence"]


def tell_differing(call: ToolContext, index: PublishedIndex, facts: Facts) -> None:
    """Which files of the caller's work tree would give other facts, perhaps."""
    differing = files_differing(call.tree(index), facts)
    if differing:
        more = f" and {len(differing) - _NAMED:,} more" if len(differing) > _NAMED else ""
        call.tell(
            f"frameworks and entry points are those of commit {facts['commit'][:SHORT_COMMIT]}; of the files that they "
            f"are read in, the work tree has others: {', '.join(differing[:_NAMED])}{more}"
        )


def read_overview(layout: HomeLayout, key: str) -> dict[str, Any]:
    """The row of a repository's overview: its page, its facts, and the commit that they are of."""
    from codesum_pipeline.store.tables import TableStore

    rows: list[dict[str, Any]] = TableStore(layout.warehouse).read_or_empty("overviews", key).to_pylist()
    if not rows:
        raise MissingTable(f"repository {key!r} has no overview yet: run `codesum index {key}`")
    return rows[0]
