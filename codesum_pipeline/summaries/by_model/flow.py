"""How a level is written where a model writes: what the model does not write is left to the other writers."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from codesum_pipeline.model.documents import Gate, TextRow, WrittenBy
from codesum_pipeline.summaries import shown as shows
from codesum_pipeline.summaries.by_model.choosing import Choice
from codesum_pipeline.summaries.by_model.level import Job, ModelLevel, Results
from codesum_pipeline.summaries.by_model.prompting import ChildOrder, TextSource, function_source, upper_source
from codesum_pipeline.summaries.decide import Rewrite
from codesum_pipeline.summaries.functions import shown_functions, want_functions
from codesum_pipeline.summaries.inputs import ChildText, TextFileInput, UpperInput, children_of
from codesum_pipeline.summaries.outline import DocumentTree
from codesum_pipeline.summaries.placeholder import is_empty
from codesum_pipeline.summaries.writers import EXTRACTIVE

if TYPE_CHECKING:
    from codesum_pipeline.summaries.level_build import LevelBuild


def functions_by_model(
    build: "LevelBuild", model: ModelLevel, writers: Mapping[str, str], rewrites: Sequence[Rewrite]
) -> tuple[dict[str, str], list[Rewrite]]:
    """Write the functions that the plan gives to the model; returns the writers and rewrites of the others."""
    mine = {rewrite.id: rewrite for rewrite in rewrites if writers[rewrite.id].startswith(f"{WrittenBy.LLM}/")}
    shown = shown_functions(build.workspace, mine)
    choices = model.choose([function_source(id_, *found) for id_, found in shown.items()])
    before = build.rows_before(mine.keys())
    jobs = [_function_job(model, choice, mine, shown, before) for choice in choices]
    results = model.write(jobs, build.progress)
    written = _take(build, mine, results) | _functions_beyond_the_plan(build, model)
    stopped = mine.keys() - written.keys() - {choice.wanted.id for choice in choices if choice.leftover}
    plain = want_functions(build.workspace, dict.fromkeys(stopped, EXTRACTIVE), stopped) if stopped else []
    again = build.last.decide(plain, force=False)
    others = {id_: writer for id_, writer in writers.items() if id_ not in written and id_ not in stopped}
    left = [found for found in rewrites if found.id not in mine and found.id not in written]
    return {**others, **dict.fromkeys(stopped, EXTRACTIVE)}, [*left, *again]


def _functions_beyond_the_plan(build: "LevelBuild", model: ModelLevel) -> dict[str, TextRow]:
    """Write functions for which the plan had no room, where the planned ones left some."""
    ids = model.beyond_the_plan()
    shown = shown_functions(build.workspace, ids) if ids else {}
    choices = [
        c
        for c in model.choose([function_source(id_, *found) for id_, found in shown.items()])
        if not c.stands and model.may_be_written(c)
    ]
    rewrites = _rewrites(build, choices)
    before = build.rows_before([choice.wanted.id for choice in choices])
    jobs = [_function_job(model, choice, rewrites, shown, before) for choice in choices]
    return _take(build, rewrites, model.write(jobs, build.progress))


def _function_job(
    model: ModelLevel,
    choice: Choice,
    rewrites: Mapping[str, Rewrite],
    shown: Mapping[str, tuple[str, str, str]],
    before: Mapping[str, TextRow],
) -> Job:
    id_ = choice.wanted.id
    return Job(choice, rewrites[id_], partial(model.prompt_of_function, id_, *shown[id_]), before.get(id_))


def layer_by_model(
    build: "LevelBuild", model: ModelLevel, heads: Sequence[UpperInput], outline: DocumentTree, texts: shows.Texts
) -> list[UpperInput]:
    """Write classes, files or folders that do not depend on one another; returns those that other writers write."""
    order = ChildOrder(build.workspace, outline)
    below = {head.id: order(texts.heads(head.id, outline)) for head in heads}
    asked: dict[str, UpperInput] = {}
    sources: list[TextSource] = []
    for head in heads:
        with build.guard.item(head.id):
            if model.is_trusted(head.id) and not is_empty(head, below[head.id]):
                sources.append(upper_source(head, below[head.id]))
                asked[head.id] = head
    choices = {choice.wanted.id: choice for choice in model.choose(sources)}
    build.gates.stopped.update(dict.fromkeys(model.left_to_later([*choices.values()]), Gate.CAP))
    open_ones = [c for c in choices.values() if not c.stands and model.may_be_written(c)]
    rewrites = _rewrites(build, open_ones)
    children = texts.children([choice.wanted.id for choice in open_ones], outline)
    before = build.rows_before([choice.wanted.id for choice in open_ones])
    jobs = []
    for choice in open_ones:
        id_ = choice.wanted.id
        with build.guard.item(id_):
            shown = in_order(shows.with_children(asked[id_], children[id_]), below[id_])
            prompt = partial(model.prompter.of_upper, build.level, shown)
            jobs.append(Job(choice, rewrites[id_], prompt, before.get(id_)))
    results = model.write(jobs, build.progress)
    written = _take(build, rewrites, results)
    texts.add(results.rows)
    stay = [id_ for id_, choice in choices.items() if id_ not in written and (choice.stands or choice.leftover)]
    build.kept.extend(stay)
    done = {*written, *stay}
    return [head for head in heads if head.id not in done]


def _take(build: "LevelBuild", rewrites: Mapping[str, Rewrite], results: Results) -> dict[str, TextRow]:
    written = {row.id: row for row in results.rows}
    build.take([rewrites[id_] for id_ in written], results.rows)
    build.gates.stopped.update(results.stopped)
    build.gates.failures.update(results.failures)
    return written


def _rewrites(build: "LevelBuild", choices: Sequence[Choice]) -> dict[str, Rewrite]:
    """Why each is written; where its hashes are unchanged, the choice says why."""
    decided = build.last.decide([choice.wanted for choice in choices], force=build.workspace.force)
    causes = {c.wanted.id: Rewrite(c.wanted.id, *c.cause) for c in choices if c.cause}
    return {**causes, **{rewrite.id: rewrite for rewrite in decided}}


def in_order(shown: UpperInput, order: Sequence[ChildText]) -> UpperInput:
    if isinstance(shown, TextFileInput):
        return shown
    by_id: Mapping[str, ChildText] = {child.id: child for child in children_of(shown)}
    return replace(shown, children=tuple(by_id[head.id] for head in order))
