"""How a level is written where a model writes: what the model does not write is left to the other writers.

Also the prompt that a model would get about one document now.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from codesum_pipeline.evidence.inputs import ChildText, UpperInput
from codesum_pipeline.foundation.data_model.document import Level, TextRow, WrittenBy
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, RetryLater
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.texts.llm.budgets import prompt_chars
from codesum_pipeline.texts.summaries.by_model.choosing import Choice, templates_of
from codesum_pipeline.texts.summaries.by_model.model_level import ModelLevel
from codesum_pipeline.texts.summaries.by_model.prompting import (
    ChildOrder,
    Prompt,
    Prompter,
    TextSource,
    function_source,
    upper_source,
)
from codesum_pipeline.texts.summaries.by_model.shown_contexts import Contexts
from codesum_pipeline.texts.summaries.decide import Rewrite, kind_of_writer
from codesum_pipeline.texts.summaries.function_texts import choose_writers, shown_functions, want_functions
from codesum_pipeline.texts.summaries.outline import DocumentTree, head_layers, read_outline, with_children
from codesum_pipeline.texts.summaries.placeholders import is_empty
from codesum_pipeline.texts.summaries.texts_below import Texts
from codesum_pipeline.texts.summaries.wanted_texts import EXTRACTIVE, PLACEHOLDER


def write_functions_by_model(
    model: ModelLevel, writers: Mapping[str, str], rewrites: Sequence[Rewrite]
) -> tuple[dict[str, str], list[Rewrite]]:
    """Write the functions that the plan gives to the model; returns the writers and rewrites of the others."""
    build = model.build
    mine = {rewrite.id: rewrite for rewrite in rewrites if kind_of_writer(writers[rewrite.id]) is WrittenBy.LLM}
    functions = shown_functions(build.workspace, mine)
    choices = model.choose([function_source(id_, *rewrite) for id_, rewrite in functions.items()])
    written = model.write(choices, mine, lambda id_: model.prompt_of_function(id_, *functions[id_]))
    written |= _functions_beyond_the_plan(model)
    stopped = mine.keys() - written.keys() - {choice.id for choice in choices if choice.leftover}
    files = {id_.partition(SEPARATOR)[0] for id_ in stopped}
    plain = want_functions(build.workspace, dict.fromkeys(stopped, EXTRACTIVE), files)
    again = build.last.decide([one for one in plain if one.id in stopped], force=False)
    others = {id_: writer for id_, writer in writers.items() if id_ not in written and id_ not in stopped}
    others_rewrites = [rewrite for rewrite in rewrites if rewrite.id not in mine and rewrite.id not in written]
    return {**others, **dict.fromkeys(stopped, EXTRACTIVE)}, [*others_rewrites, *again]


def _functions_beyond_the_plan(model: ModelLevel) -> dict[str, TextRow]:
    """Write functions for which the plan had no room, where the planned ones left some."""
    ids = model.beyond_the_plan()
    functions = shown_functions(model.build.workspace, ids) if ids else {}
    choices = model.choose([function_source(id_, *found) for id_, found in functions.items()])
    return _write(model, model.open_ones(choices), lambda id_: model.prompt_of_function(id_, *functions[id_]))


def _write(model: ModelLevel, open_ones: Sequence[Choice], prompt_of: Callable[[str], Prompt]) -> dict[str, TextRow]:
    """Write documents; where the hashes of one are unchanged, its choice says why."""
    build = model.build
    decided = build.last.decide([choice.wanted for choice in open_ones], force=build.workspace.force)
    rewrites = {rewrite.id: rewrite for rewrite in (*(c.rewrite for c in open_ones if c.rewrite), *decided)}
    return model.write(open_ones, rewrites, prompt_of)


def write_layer_by_model(
    model: ModelLevel, heads: Sequence[UpperInput], outline: DocumentTree, texts: Texts
) -> list[UpperInput]:
    """Write classes, files or folders that do not depend on one another; returns those that other writers write."""
    build = model.build
    order = ChildOrder(build.workspace, outline)
    below = {head.id: order(texts.heads(head.id, outline)) for head in heads}
    open_heads: dict[str, UpperInput] = {}
    sources: list[TextSource] = []
    for head in heads:
        with build.guard.item(head.id):
            if model.is_trusted(head.id) and not is_empty(head, below[head.id]):
                sources.append(upper_source(head, below[head.id]))
                open_heads[head.id] = head
    choices = {choice.id: choice for choice in model.choose(sources)}
    model.leave_to_later(choices.values())
    open_ones = model.open_ones(choices.values())
    children = texts.children([choice.id for choice in open_ones], outline)

    def prompt_of(id_: str) -> Prompt:
        return model.prompter.of_upper(build.level, order_children(open_heads[id_], children[id_], below[id_]))

    written = _write(model, open_ones, prompt_of)
    texts.add_written(written.values())
    stay = [id_ for id_, choice in choices.items() if id_ not in written and (choice.stands or choice.leftover)]
    build.kept.extend(stay)
    done = {*written, *stay}
    return [head for head in heads if head.id not in done]


def order_children(head: UpperInput, children: Sequence[ChildText], order: Sequence[ChildText]) -> UpperInput:
    """A document with its children as a model is shown them."""
    by_id = {child.id: child for child in children}
    return with_children(head, tuple(by_id[child.id] for child in order))


class PromptTurns(Struct, frozen=True):
    """Both turns as they are sent, the names of their templates, and how many secrets of each kind were masked."""

    templates: tuple[str, ...]
    system: str
    user: str
    masked: Mapping[str, int]


def prompt_of(workspace: Workspace, id_: str, level: Level) -> PromptTurns:
    """What a model would be shown of a document of the last build, whether or not a gate stops it.

    Raises `ConfigurationError` for a placeholder, and `RetryLater` where an unfinished build has left the tables
    incomplete.
    """
    settings = workspace.settings
    outline = read_outline(workspace)
    if outline.levels.get(id_) is not level:
        raise _unfinished(workspace, f"{id_!r} is published, and not in the tables as they are now")
    prompter = Prompter(templates_of(settings)[level], prompt_chars(settings.llm))
    if level is Level.FUNCTION:
        prompt = _of_function(workspace, prompter, id_)
    else:
        prompt = _of_upper(workspace, prompter, outline, id_)
    if prompt is None:
        raise ConfigurationError(f"{id_!r} is a placeholder: it has nothing that a model could be asked about")
    template = prompter.template
    return PromptTurns(template.names, template.system, prompt.text, dict(prompter.masked))


def _of_function(workspace: Workspace, prompter: Prompter, id_: str) -> Prompt | None:
    if choose_writers(workspace).get(id_, PLACEHOLDER) == PLACEHOLDER:
        return None
    return prompter.of_function(*shown_functions(workspace, [id_])[id_], Contexts(workspace).shown(id_))


def _of_upper(workspace: Workspace, prompter: Prompter, outline: DocumentTree, id_: str) -> Prompt | None:
    level, texts = outline.levels[id_], Texts(workspace, *Level)
    if missing := [child.id for child in outline.children.get(id_, ()) if not texts.has_text(child.id)]:
        raise _unfinished(workspace, f"{id_!r} is shown with its children, and {missing[0]!r} has no text yet")
    layers = head_layers(workspace, level, outline)
    head = next(head for layer in layers for head in layer if head.id == id_)
    below = texts.heads(id_, outline)
    if is_empty(head, below):
        return None
    children = texts.children([id_], outline)[id_]
    return prompter.of_upper(level, order_children(head, children, ChildOrder(workspace, outline)(below)))


def _unfinished(workspace: Workspace, clause: str) -> RetryLater:
    return RetryLater(
        f"{clause}: the tables are those of a build that is under way or was ended; "
        f"`codesum index {workspace.key}` brings them up to date"
    )
