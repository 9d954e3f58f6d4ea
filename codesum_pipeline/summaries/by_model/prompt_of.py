"""The prompt that a model would get about one document now."""

from collections.abc import Mapping

from msgspec import Struct

from codesum_pipeline.llm.budgets import prompt_chars
from codesum_pipeline.model.documents import Level
from codesum_pipeline.model.errors import ConfigurationError, RetryLater
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries import shown as shows
from codesum_pipeline.summaries.by_model.contexts import Contexts
from codesum_pipeline.summaries.by_model.flow import in_order
from codesum_pipeline.summaries.by_model.prompting import ChildOrder, Prompt, Prompter
from codesum_pipeline.summaries.by_model.setup import templates_of
from codesum_pipeline.summaries.functions import choose_writers, shown_functions
from codesum_pipeline.summaries.inputs import UpperInput
from codesum_pipeline.summaries.outline import DocumentTree, read_outline
from codesum_pipeline.summaries.placeholder import is_empty
from codesum_pipeline.summaries.writers import PLACEHOLDER


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
    level, texts = outline.levels[id_], shows.Texts(workspace, *Level)
    children = outline.children.get(id_, ())
    if missing := [child.id for child in children if not texts.has(child.id)]:
        raise _unfinished(workspace, f"{id_!r} is shown with its children, and {missing[0]!r} has no text yet")
    head = next(head for head in _heads(workspace, outline, level) if head.id == id_)
    below = texts.heads(id_, outline)
    if is_empty(head, below):
        return None
    shown = shows.with_children(head, texts.children([id_], outline)[id_])
    return prompter.of_upper(level, in_order(shown, ChildOrder(workspace, outline)(below)))


def _unfinished(workspace: Workspace, found: str) -> RetryLater:
    return RetryLater(
        f"{found}: the tables are those of a build that is under way or was ended; "
        f"`codesum index {workspace.key}` brings them up to date"
    )


def _heads(workspace: Workspace, outline: DocumentTree, level: Level) -> list[UpperInput]:
    if level is Level.CLASS:
        return [*shows.read_classes(workspace)]
    if level is Level.FILE:
        return [*shows.read_files(workspace)]
    readmes = shows.read_readmes(workspace, outline)
    return [shows.module_head(path, workspace, readmes) for path in outline.modules]
