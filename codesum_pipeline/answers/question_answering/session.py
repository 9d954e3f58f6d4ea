"""A question about the repositories of a home: a model answers it if one may be called, else the index does."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader, repositories_of
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue, Tell
from codesum_pipeline.answers.question_answering.calls import ModelTool, ToolResult, index_tools
from codesum_pipeline.answers.question_answering.citations import RepositoryFiles
from codesum_pipeline.answers.question_answering.question_store import AskStore, Notebook, closing_turn, open_store
from codesum_pipeline.answers.question_answering.turn import Turn, TurnAnswer, fitting_exchanges
from codesum_pipeline.answers.question_answering.turn_events import OnEvent
from codesum_pipeline.answers.question_answering.turn_paying import Payer
from codesum_pipeline.foundation.data_model.errors import CodesumError, ConfigurationError, ModelNotInAllowlist
from codesum_pipeline.foundation.data_model.printable import shorten_text
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.query import check_says_something
from codesum_pipeline.source.masking.secrets import mask_secrets
from codesum_pipeline.texts.llm.backend import check_models, why_no_calls
from codesum_pipeline.texts.llm.backends import build_backend
from codesum_pipeline.texts.llm.ledger import open_ledger
from codesum_pipeline.texts.llm.prices import find_listed_model, has_capability
from codesum_pipeline.texts.llm.templates import SYNTHESIS_NAME, TURN_NAME, render_system


def why_no_model(llm: LlmSettings, *, is_offline: bool) -> str | None:
    """Why no model may be called, by the first shut gate: offline, `llm.enabled`, the allowlist, the price."""
    if shut := why_no_calls(llm, is_offline=is_offline):
        return shut
    try:
        check_models(llm)
    except (ModelNotInAllowlist, ConfigurationError) as error:
        return str(error)
    for model in (llm.model, *llm.fallback_models):
        if find_listed_model(model) is not None and not has_capability(model, "supports_function_calling"):
            return f"{model} cannot call tools: choose one that can"
    return None


NOTHING = "The index has nothing to say to this question."
_SEARCH, _OVERVIEW = "search", "get_codebase_overview"
_EXCERPT_LINES = 3
_MOST_OVERVIEWS = 3
# The beginning of a long question says what it is about.
_LONGEST_QUERY = 1000


def best_without_model(question: str, *, tools: Mapping[str, ModelTool], repos: Sequence[str]) -> str:
    """The index's answer to a question: hits where they fit well, else overviews. It is never empty."""
    hits = _run(tools, _SEARCH, query=question[:_LONGEST_QUERY], excerpt=_EXCERPT_LINES)
    if hits and hits.structured is not None and hits.structured.fits_well:
        return hits.text
    # Those with the best hits: of many repositories the first by name have nothing to do with the question.
    found_in = (hit.repo for hit in hits.structured.hits) if hits and hits.structured is not None else ()
    nearest = [repo for repo in dict.fromkeys((*found_in, *repos)) if repo in repos]
    overviews = [_run(tools, _OVERVIEW, repo=repo) for repo in nearest[:_MOST_OVERVIEWS]]
    found = [result.text for result in overviews if result]
    return "\n\n".join(found) or (hits.text if hits and hits.text.strip() else NOTHING)


def _run(tools: Mapping[str, ModelTool], name: str, **arguments: object) -> ToolResult | None:
    """The result of a tool; None if there is no such tool, or it failed."""
    tool = tools.get(name)
    if tool is None:
        return None
    try:
        result = tool.run(tool.arguments.model_validate(arguments))
    except CodesumError:
        return None
    return None if result.is_error else result


# About 4,000 tokens. A longer text is material, which belongs into a repository.
LONGEST_QUESTION = 16_000
NO_MODEL = "no-model"
# Names the conversation about the same repositories with the latest question.
LATEST = "latest"
# Makes the tools from a call that has opened the indexes, and the keys of the question's repositories.
MakeTools = Callable[[ToolContext, Sequence[str]], Sequence[ModelTool]]


class AskedQuestion(Struct, frozen=True):
    """A question about some repositories: without names, those of the folder, else all."""

    text: str
    repos: Sequence[str]
    catalogue: IndexCatalogue
    folder: Path
    now: Callable[[], datetime]
    tell: Tell
    make_tools: MakeTools = index_tools
    # The id of the conversation that it continues, or `LATEST`; None begins a new one.
    conversation: str | None = None

    async def answer(self, on_event: OnEvent) -> TurnAnswer:
        """The answer, never empty; raises `ConfigurationError` for an empty or overlong question, and the errors of
        opening an index or the store."""
        if len(self.text) > LONGEST_QUESTION:
            size = f"the question has {len(self.text):,} characters, at most {LONGEST_QUESTION:,} are taken"
            raise ConfigurationError(f"{size}: shorten it")
        check_says_something(self.text)
        call = ToolContext(self.catalogue, self.folder, is_masked=True)
        indexes = call.current(self.repos)
        for note in call.notes:
            self.tell(note)
        answer = await self._answer(call, indexes, on_event)
        return replace(answer, as_of=tuple(await asyncio.to_thread(call.as_of, repositories_of(indexes))))

    async def _answer(self, call: ToolContext, indexes: Sequence[PublishedIndex], on_event: OnEvent) -> TurnAnswer:
        keys = repositories_of(indexes)
        tools = {tool.name: tool for tool in self.make_tools(call, keys)}
        settings = self.catalogue.settings
        shut = why_no_model(settings.llm, is_offline=settings.offline)
        if shut:
            text = best_without_model(self.text, tools=tools, repos=keys)
            return TurnAnswer(text=text, failed=NO_MODEL, detail=shut)
        # Malformed prompts raise here, before anything is stored.
        render_system(settings.prompts_dir, TURN_NAME, language=settings.llm.language)
        with open_store(self.catalogue.layout.home, now=self.now) as store:
            return await self._turn(store, indexes, tools, on_event)

    async def _turn(
        self, store: AskStore, indexes: Sequence[PublishedIndex], tools: dict[str, ModelTool], on_event: OnEvent
    ) -> TurnAnswer:
        settings = self.catalogue.settings
        keys = repositories_of(indexes)
        question = mask_secrets(self.text).text
        prompts = settings.prompts_dir
        with store.together():
            conversation = self._conversation(store, keys)
            exchanges = store.exchanges(conversation)
            turn = store.begin_turn(conversation, question, model=settings.llm.model)
        notebook = Notebook(store, turn)
        with closing_turn(notebook), open_ledger(store.path, run_id=turn, now=self.now) as ledger:
            payer = Payer(
                backend=build_backend(settings.llm, {}),
                ledger=ledger,
                llm=settings.llm,
                ask=settings.ask,
                turn=turn,
                is_one_of_many=bool(self.catalogue.holder),
            )
            try:
                answer = await Turn(
                    question=question,
                    earlier=fitting_exchanges(exchanges, max_prompt_chars=payer.backend.max_prompt_chars),
                    tools=tools,
                    sources=RepositoryFiles(
                        SourceReader(self.catalogue, indexes, lambda _: None, is_masked=True), self.catalogue.embedder
                    ),
                    payer=payer,
                    notebook=notebook,
                    system=render_system(prompts, TURN_NAME, language=settings.llm.language),
                    synthesis_system=render_system(prompts, SYNTHESIS_NAME, language=settings.llm.language),
                    on_event=on_event,
                    without_model=partial(best_without_model, tools=tools, repos=keys),
                ).run()
            finally:
                await payer.backend.aclose()
        return replace(answer, conversation=conversation)

    def _conversation(self, store: AskStore, repos: Sequence[str]) -> str:
        """The id of the turn's conversation; raises `ConfigurationError` if it does not exist."""
        asker = self.catalogue.holder or ""
        if self.conversation is None:
            return store.begin_conversation(repos, asker=asker)
        about = ", ".join(repos)
        if self.conversation == LATEST:
            latest = store.latest_conversation(repos, asker=asker)
            if latest is None:
                raise ConfigurationError(f"there is no conversation about {about} to continue: begin one")
            return latest
        known = store.repositories_of(self.conversation, asker=asker)
        # Who may no longer read a conversation's repositories does not hear of it.
        if known is None or not self.catalogue.opens_all(known):
            raise ConfigurationError(
                f"no conversation {shorten_text(self.conversation)!r}: its id is in the answer that `--json` gives"
            )
        if known != [*repos]:
            raise ConfigurationError(
                f"conversation {self.conversation} is about {', '.join(known)}, this question about {about}: "
                "name its repositories with --repo, or begin a new one"
            )
        return self.conversation
