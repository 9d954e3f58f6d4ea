"""`codesum intent test`: what an intent would have matched in the last commits."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer
from msgspec.structs import replace
from rich.text import Text

from codesum_pipeline.cli.failures import complain
from codesum_pipeline.cli.invocation import Invocation, invocation
from codesum_pipeline.cli.options import argument, complete_intents, complete_keys, option, switch
from codesum_pipeline.cli.progress_bar import progress_bar
from codesum_pipeline.cli.render import SHORT_COMMIT, indented, note, safe_json, show
from codesum_pipeline.indexes.embedders.named import embedder_of
from codesum_pipeline.intents.fields import FieldProblem, intent_of
from codesum_pipeline.intents.file import Intents
from codesum_pipeline.matching.past import PastMatches, past_matches
from codesum_pipeline.matching.scores import score_of
from codesum_pipeline.model.errors import ConfigurationError, MissingTable
from codesum_pipeline.model.intents import Intent, IntentMatch
from codesum_pipeline.model.printable import counted, one_line
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.wiring import Home

# What a text is called that is no intent yet.
_NOT_SAVED = "text"
_COMMITS = 20
# Of one commit, and of what is below the line.
_SHOWN = 8
_SHOWN_BELOW = 5
_DAY = 10


def test(
    ctx: typer.Context,
    name: Annotated[str | None, argument("[NAME]", "An intent.", autocompletion=complete_intents)] = None,
    text: Annotated[str | None, option("TEXT", "A text in place of an intent that is written down.")] = None,
    threshold: Annotated[
        float | None, option(None, "How well a change has to fit, in place of what the intent says.")
    ] = None,
    commits: Annotated[int, typer.Option(min=1, metavar="N", help="How many commits to look at.")] = _COMMITS,
    repo: Annotated[
        list[str] | None,
        option(
            "KEY",
            "Only this repository. Can be repeated. Default: those that the intent is about.",
            autocompletion=complete_keys,
        ),
    ] = None,
    as_json: Annotated[
        bool, switch("--json", "Print one JSON object per repository, with all that was looked at.")
    ] = False,
) -> None:
    """Show what an intent would have matched in the last commits, commit by commit. Nothing is changed or paid for.

    codesum intent test login --commits 50

    codesum intent test --text "how users log in" --repo shop
    """
    called = invocation(ctx)
    asked = _asked(called, name, text, threshold)
    keys = _repositories(called, asked, repo)
    for key in keys:
        try:
            index = PublishedIndex.open(called.layout.published(key))
        except MissingTable as error:
            complain(f"left out: {error}")
            continue
        found = _look_back(called, asked, index, commits)
        if as_json:
            typer.echo(safe_json(_row(asked, key, found)))
        else:
            show(*_told(asked, key, found))


def _asked(called: Invocation, name: str | None, text: str | None, threshold: float | None) -> Intent:
    if (name is None) == (text is None):
        raise ConfigurationError('give the NAME of an intent, or --text "…"')
    if name is not None:
        asked = Intents(called.settings.digests.intents_file).survey().named(name)
    else:
        asked = _intent(_NOT_SAVED, {"text": text})
    if threshold is None:
        return asked
    checked = _intent(asked.name, {"text": asked.text, "threshold": threshold})
    return replace(asked, threshold=checked.threshold, top_k=None)


def _intent(name: str, fields: dict[str, Any]) -> Intent:
    try:
        return intent_of(name, fields)
    except FieldProblem as error:
        raise ConfigurationError(f"{name}: {error}") from error


def _repositories(called: Invocation, asked: Intent, named: Sequence[str] | None) -> list[str]:
    if named:
        return [called.registry.get(key).key for key in dict.fromkeys(named)]
    covered = [entry.key for entry in called.entries() if entry.enabled and asked.covers(entry.key)]
    if not covered:
        note(f"{asked.name}: no registered repository is one of {', '.join(asked.repositories)}")
    return covered


def _look_back(called: Invocation, asked: Intent, index: PublishedIndex, commits: int) -> list[PastMatches]:
    workspace = Home(called.settings).workspace(index.repo, run_id="intent test")
    embedder = embedder_of(called.settings)
    found = []
    with progress_bar() as report:
        for past in past_matches(workspace, asked, index, embedder, commits=commits):
            found.append(past)
            report(f"looking at {index.repo}", len(found), commits)
    return found


def _row(asked: Intent, key: str, found: Sequence[PastMatches]) -> dict[str, Any]:
    return {
        "intent": asked.name,
        "text": asked.text,
        "repo": key,
        "threshold": asked.threshold,
        "top_k": asked.top_k,
        "commits": [
            {
                "commit": past.commit.id,
                "committed_at": past.commit.committed_at,
                "subject": past.commit.subject,
                "matched": [_document(match) for match in past.matched],
                "others": [_document(match) for match in past.others],
            }
            for past in found
        ],
    }


def _document(match: IntentMatch) -> dict[str, Any]:
    change = match.change
    return {
        "id": change.document_id,
        "level": change.level,
        "change": change.kind,
        "renamed_from": change.renamed_from,
        "score": match.score,
    }


def _told(asked: Intent, key: str, found: Sequence[PastMatches]) -> Iterator[Any]:
    """The commits that match, what was nearly matched, and a last line that sums up."""
    matching = [past for past in found if past.matched]
    for past in matching:
        yield _head(past)
        yield from (_line(match) for match in past.matched[:_SHOWN])
        if (left := len(past.matched) - _SHOWN) > 0:
            yield indented(Text(f"and {counted(left, 'more document')}", style="dim"), 2)
    below = _best_of_each_document(found)
    if below:
        yield Text(f"below the line ({_line_of(asked)}), the best:", style="dim")
        yield from (_line(match, of=past) for match, past in below[:_SHOWN_BELOW])
    documents = sum(len(past.matched) for past in matching)
    yield Text(
        one_line(
            f"{asked.name}: {counted(documents, 'document')} in {len(matching):,} of "
            f"{counted(len(found), 'commit')} of {key}, {_line_of(asked)}"
        ),
        style="bold",
    )


def _best_of_each_document(found: Sequence[PastMatches]) -> list[tuple[IntentMatch, PastMatches]]:
    """The best of what does not match, each document at its best and latest."""
    best: dict[str, tuple[IntentMatch, PastMatches]] = {}
    for past in found:
        for match in past.others:
            known = best.get(match.change.document_id)
            if known is None or score_of(known[0]) < score_of(match):
                best[match.change.document_id] = match, past
    return sorted(best.values(), key=lambda pair: (-score_of(pair[0]), pair[0].change.document_id))


def _line_of(asked: Intent) -> str:
    if asked.threshold is not None:
        return f"threshold {asked.threshold:g}"
    return f"the best {asked.top_k} of each commit"


def _head(past: PastMatches) -> Text:
    commit = past.commit
    line = Text(commit.id[:SHORT_COMMIT], style="yellow")
    line.append(f" {commit.committed_at[:_DAY]}", style="dim")
    line.append(f" {one_line(commit.subject)}", style="bold not dim")
    return line


def _line(match: IntentMatch, *, of: PastMatches | None = None) -> Any:
    change = match.change
    line = Text(f"{score_of(match):.2f}", style="cyan")
    line.append(f" {'moved' if change.renamed_from else change.kind}", style="dim")
    line.append(f" {one_line(change.document_id)}", style="default")
    if of is not None:
        line.append(f" {of.commit.id[:SHORT_COMMIT]} {of.commit.committed_at[:_DAY]}", style="dim")
    return indented(line, 2)
