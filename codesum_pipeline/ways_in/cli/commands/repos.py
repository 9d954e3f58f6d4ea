"""`codesum repos`: the registered repositories."""

from msgspec import to_builtins

from codesum_pipeline.foundation.data_model.moments import age_in_words, moment_at
from codesum_pipeline.indexes.file_formats.version_folder import read_published
from codesum_pipeline.source.git.git_addresses import shown_location, with_shown_locations
from codesum_pipeline.ways_in.cli.entry_finding import NO_REPOSITORY, place_of
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import SHORT_COMMIT, make_table, present_rows, show_parts


def repos(invocation: Invocation, as_json: bool = False) -> None:
    """List the registered repositories.

    They are kept in repos.yaml in the home, which can also be edited by hand.
    """
    rows, values, indexes = [], [], []
    for entry in invocation.entries():
        out = read_published(invocation.layout, entry.key)
        ref = "work tree" if entry.worktree else entry.ref or "HEAD"
        state = "retired" if entry.retired else entry.enabled
        built = (out.commit, out.count("documents"), moment_at(out.published_at)) if out else None
        commit, documents, published_at = built or (None, None, None)
        ago = f"{age_in_words(out.published_at)} ago" if out else None
        rows.append((entry.key, place_of(entry), ref, state, commit and commit[:SHORT_COMMIT], documents, ago))
        published = built and {"commit": commit, "documents": documents, "published_at": published_at}
        shown = {"location": shown_location(entry.location), "scip_command": with_shown_locations(entry.scip_command)}
        values.append(to_builtins(entry) | shown | {"published": published})
        indexes += [f"{entry.key}: compiler's index {place}" for place in entry.scip]
        if entry.scip_command:
            indexes.append(f"{entry.key}: compiler's index made by {with_shown_locations(entry.scip_command)}")
    columns = ("key", "location", "ref", "enabled", "commit", "documents", "published")
    present_rows(
        values, lambda: make_table(columns, rows, right=("documents",)), as_json=as_json, otherwise=NO_REPOSITORY
    )
    if not as_json:
        show_parts(*indexes)
