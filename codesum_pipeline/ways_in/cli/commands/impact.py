"""`codesum impact`: what a change reaches before it is merged."""

from pathlib import Path
from typing import Literal

import typer
from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.answers.agent_tools.asked_definitions import report_uses
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.compared_versions import MissingCommits, VersionRange
from codesum_pipeline.answers.agent_tools.impact_report import ImpactLists, ImpactReport
from codesum_pipeline.answers.agent_tools.impact_tool import report_impact
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.source.git.locations import is_url
from codesum_pipeline.source.repositories.checkouts import checkout_of
from codesum_pipeline.ways_in.cli.document_views import catalogue_of
from codesum_pipeline.ways_in.cli.first_use import index_on_first_use
from codesum_pipeline.ways_in.cli.impact_markdown import impact_markdown
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import indent_part, print_json, show_parts, write_note

# Rows below the short text, unless more are asked for.
_ROWS = 40


# The forms in which an answer is printed.
ImpactFormat = Literal["text", "json", "markdown"]


def impact(
    invocation: Invocation,
    versions: str = "",
    of: list[str] | None = None,
    only: ImpactLists = ImpactLists.ALL,
    repo: str | None = None,
    tree: Path | None = None,
    steps: int = 0,
    top: int = _ROWS,
    format: ImpactFormat = "text",
) -> None:
    """Show what a change reaches: who uses what changed, and which tests, routes and commands run it.

    codesum impact main...HEAD --format markdown

    codesum impact --of Client.send --only tests
    """
    if of and versions:
        raise ConfigurationError(
            f"--of and the versions {versions!r} cannot be asked together: give either definitions with --of, "
            "or the versions to compare"
        )
    asked = VersionRange.parse(versions)
    folder = tree or Path.cwd()
    if tree is not None and checkout_of(tree) is None:
        raise ConfigurationError(f"--tree {tree} is in no git work tree: name a folder of a clone")
    if repo is None and (checkout := checkout_of(folder)) is not None:
        index_on_first_use(invocation, checkout, may_ask=True)
    call = ToolContext(catalogue_of(invocation), folder)
    if of:
        report = report_uses(call, repo or "", of, steps=steps or None, lists=only)
    else:
        report = _report(invocation, call, repo or "", asked, steps=steps or None, lists=only)
    _print(report, format, top)


def _print(report: ImpactReport, format: ImpactFormat, top: int) -> None:
    if format == "json":
        print_json(report.whole().model_dump(mode="json", exclude={"is_first"}))
        return
    page = report.part(0, top, None)
    for each in page.as_of:
        if each.of_tree or each.behind:
            write_note(f"as of {each}")
    for note in page.notes:
        write_note(note)
    if format == "markdown":
        typer.echo(impact_markdown(page))
    else:
        show_parts(*map(_indented, page.lines()))
        if page.total and page.shown < page.total:
            show_parts("", f"{page.shown:,} of {page.total:,} rows: --top shows more, --format json all")


def _indented(line: str) -> RenderableType:
    """A line that a narrow terminal breaks without losing its indentation."""
    text = line.lstrip(" ")
    return indent_part(Text(text), len(line) - len(text))


def _report(
    invocation: Invocation, call: ToolContext, repo: str, asked: VersionRange, *, steps: int | None, lists: ImpactLists
) -> ImpactReport:
    """The answer; a commit that is not here is fetched from the repository's URL, once."""
    try:
        return report_impact(call, repo, asked, steps=steps, lists=lists)
    except MissingCommits as error:
        entry = invocation.registry.get(error.repo)
        if not is_url(entry.location):
            raise
        if invocation.settings.offline:
            raise ConfigurationError(f"{error}; nothing is fetched with --offline") from error
        ids = {name: _fetched(invocation, entry, name) for name in error.names}
        found = VersionRange(ids.get(asked.base, asked.base), ids.get(asked.head, asked.head), asked.is_since_parting)
        return report_impact(ToolContext(call.catalogue, call.folder), repo, found, steps=steps, lists=lists)
    except ConfigurationError:
        # They may say why: such as that the repository of this folder is not indexed.
        for note in call.notes:
            write_note(note)
        raise


def _fetched(invocation: Invocation, entry: RepositoryEntry, name: str) -> str:
    """The id of a branch, a tag or a commit, which is fetched into the mirror while nobody else writes there."""
    # Only where a commit is missing, git is asked over the network.
    from msgspec.structs import replace

    from codesum_pipeline.foundation.store.lease import hold_unless_held
    from codesum_pipeline.source.git.mirror import Mirror

    write_note(f"fetching {name} of {entry.key}")
    mirror = Mirror(invocation.layout.mirror(entry.key), invocation.settings.git_timeout_s)
    with hold_unless_held(invocation.layout, entry.key, run_id="impact", here_only=True):
        return mirror.update(replace(entry, ref=name, worktree=False)).commit
