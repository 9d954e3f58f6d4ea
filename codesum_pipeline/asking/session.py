"""A question to the repositories of a home: with a model, if one may be asked, else by what the index has."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from codesum_pipeline.asking.earlier import that_fit
from codesum_pipeline.asking.events import OnEvent
from codesum_pipeline.asking.gates import why_no_model
from codesum_pipeline.asking.index_tools import index_tools
from codesum_pipeline.asking.notebook import Notebook, closed_at_the_end
from codesum_pipeline.asking.paying import Payer
from codesum_pipeline.asking.repository_files import RepositoryFiles
from codesum_pipeline.asking.store import AskStore, open_store
from codesum_pipeline.asking.tool import ModelTool
from codesum_pipeline.asking.turn import Turn, TurnAnswer
from codesum_pipeline.asking.without_model import best_without_model
from codesum_pipeline.llm.factory import build_backend
from codesum_pipeline.llm.ledger import Ledger, open_ledger
from codesum_pipeline.llm.masking import mask_secrets
from codesum_pipeline.llm.prices import price_of
from codesum_pipeline.llm.templates import SYNTHESIS_NAME, TURN_NAME, render_system
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.retrieval.query import check_says_something
from codesum_pipeline.retrieval.reader import PublishedIndex
from codesum_pipeline.tools.answers import shortened
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.catalogue import IndexCatalogue, Tell
from codesum_pipeline.tools.trees import repositories

# About 4,000 tokens. What is longer is material, and belongs into a repository.
LONGEST_QUESTION = 16_000
NO_MODEL = "no-model"
# Of the conversations about the same repositories the one in which something was asked last.
LATEST = "latest"
# Of a call that has opened the indexes, and the keys of the repositories that the question is about.
MakeTools = Callable[[ToolContext, Sequence[str]], Sequence[ModelTool]]


@dataclass(frozen=True)
class AskedQuestion:
    """What is asked, of which repositories: none named are those of the folder, else all."""

    text: str
    repos: Sequence[str]
    catalogue: IndexCatalogue
    folder: Path
    now: Callable[[], datetime]
    tell: Tell
    make_tools: MakeTools = index_tools
    # The conversation that it goes on with: its id, or `LATEST`; None begins another.
    conversation: str | None = None

    async def answer(self, on_event: OnEvent) -> TurnAnswer:
        """The answer, never empty; raises `ConfigurationError` for a question that is none, and what opening an index
        or the store does."""
        _check(self.text)
        call = ToolContext(self.catalogue, self.folder)
        indexes = call.current(self.repos)
        for note in call.notes:
            self.tell(note)
        answer = await self._answer(call, indexes, on_event)
        return replace(answer, as_of=tuple(await asyncio.to_thread(call.as_of, repositories(indexes))))

    async def _answer(self, call: ToolContext, indexes: Sequence[PublishedIndex], on_event: OnEvent) -> TurnAnswer:
        keys = repositories(indexes)
        tools = {tool.name: tool for tool in self.make_tools(call, keys)}
        settings = self.catalogue.settings
        shut = why_no_model(settings.llm, is_offline=settings.offline)
        if shut:
            return _without_model(best_without_model(self.text, tools=tools, repos=keys), shut)
        # Where prompts cannot be used, nothing is written down.
        render_system(settings.prompts_dir, TURN_NAME, language=settings.llm.language)
        with open_store(self.catalogue.layout.home, now=self.now) as store:
            return await self._turn(store, indexes, tools, on_event)

    async def _turn(
        self, store: AskStore, indexes: Sequence[PublishedIndex], tools: dict[str, ModelTool], on_event: OnEvent
    ) -> TurnAnswer:
        settings = self.catalogue.settings
        keys = repositories(indexes)
        asked = mask_secrets(self.text).text
        prompts = settings.prompts_dir
        with store.together():
            conversation = self._conversation(store, keys)
            said = store.exchanges(conversation)
            turn = store.begin_turn(conversation, asked, model=settings.llm.model)
        notebook = Notebook(store, turn)
        with closed_at_the_end(notebook), open_ledger(store.path, run_id=turn, now=self.now) as ledger:
            payer = self._payer(turn, ledger)
            try:
                answer = await Turn(
                    question=asked,
                    earlier=that_fit(said, max_prompt_chars=payer.backend.max_prompt_chars),
                    tools=tools,
                    sources=self._sources(indexes),
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
        """The id of the one that this is a turn of; raises `ConfigurationError` where it is not there."""
        asker = self.catalogue.holder or ""
        if self.conversation is None:
            return store.begin_conversation(repos, asker=asker)
        about = ", ".join(repos)
        if self.conversation == LATEST:
            latest = store.latest_conversation(repos, asker=asker)
            if latest is None:
                raise ConfigurationError(f"there is no conversation about {about} to go on with: begin one")
            return latest
        known = store.repositories_of(self.conversation, asker=asker)
        # What one was about before is nothing for somebody who may not read it any more.
        if known is None or not self.catalogue.opens_all(known):
            raise ConfigurationError(
                f"no conversation {shortened(self.conversation)!r}: its id is in the answer that `--json` gives"
            )
        if known != [*repos]:
            raise ConfigurationError(
                f"conversation {self.conversation} is about {', '.join(known)}, this question about {about}: "
                "name its repositories with --repo, or begin another"
            )
        return self.conversation

    def _payer(self, turn: str, ledger: Ledger) -> Payer:
        settings = self.catalogue.settings
        return Payer(
            backend=build_backend(settings.llm, {}),
            ledger=ledger,
            price_of=lambda model: price_of(model, settings.llm),
            llm=settings.llm,
            ask=settings.ask,
            turn=turn,
            is_one_of_many=bool(self.catalogue.holder),
        )

    def _sources(self, indexes: Sequence[PublishedIndex]) -> RepositoryFiles:
        layout = self.catalogue.layout
        mirrors = {index.repo: layout.mirror(index.repo) for index in indexes}
        timeout_s = self.catalogue.settings.git_timeout_s
        return RepositoryFiles(indexes, mirrors, timeout_s, self.catalogue.embedder)


def _check(question: str) -> None:
    if len(question) > LONGEST_QUESTION:
        raise ConfigurationError(
            f"the question has {len(question):,} characters, at most {LONGEST_QUESTION:,} are taken: shorten it"
        )
    check_says_something(question)


def _without_model(text: str, why: str) -> TurnAnswer:
    return TurnAnswer(
        turn="",
        text=text,
        failed=NO_MODEL,
        detail=why,
        is_synthesis=False,
        citations=0,
        citations_dropped=0,
        steps=0,
        usd=0.0,
        prompt_tokens=0,
        completion_tokens=0,
        problems=(),
    )
