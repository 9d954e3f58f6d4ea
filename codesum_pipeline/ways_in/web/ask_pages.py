"""Asking a model from the page: the form, the answer while it is written, and earlier questions.

A question may cost money, so it is accepted only from our own form: by POST, with a token that only pages of this
server process have. Turns run in a thread with an event loop of their own: they open indexes, read sources and write to
disk, and the loop that serves pages does not wait for that. Places in an answer are links to our pages.
"""

import asyncio
import hmac
import json
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from msgspec import Struct, field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.question_answering.past_questions import PastStep, PastTurn, PastTurns
from codesum_pipeline.answers.question_answering.question_store import STORE_FILE, PartKind, Status
from codesum_pipeline.answers.question_answering.session import LONGEST_QUESTION, NO_MODEL, AskedQuestion, why_no_model
from codesum_pipeline.answers.question_answering.turn import TurnAnswer
from codesum_pipeline.answers.question_answering.turn_events import (
    BlockWritten,
    Event,
    MessageEnded,
    OnEvent,
    SynthesisBegan,
    TextAdded,
    TextVoided,
    ToolAnswered,
    ToolCalled,
    call_line,
    synthesis_line,
)
from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.data_model.printable import clean_text, count_noun, one_line
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.texts.llm.ledger_readings import spent_today
from codesum_pipeline.ways_in.http_serving.audit_log import current_request
from codesum_pipeline.ways_in.web.rendering import (
    Link,
    as_html,
    format_usd,
    link_to,
    plain_as_html,
    render_template,
    respond_with,
)

# An event of a turn for the page's script: its kind, and text or HTML.
Happening = dict[str, str]
Tell = Callable[[Happening], None]


class TurnView(Struct, frozen=True):
    """`html` is safe; `notes` are what a reader must know, `took` is the cost, `as_of` the commits."""

    html: str
    is_plain: bool
    notes: Sequence[str]
    took: Sequence[str]
    as_of: Sequence[str]
    steps: Sequence[str]
    id: str
    conversation: str = ""


def places_in(indexes: Sequence[PublishedIndex]) -> Link:
    """Links to the pages of places, each in the first repository that has it."""

    def link(path: str, place: str) -> str | None:
        bare = path.rstrip("/").removeprefix("./")
        index = next((each for each in indexes if each.row(bare) is not None), None)
        if index is None:
            return None
        line = place.rpartition(":")[2].partition("-")[0] if ":" in place else ""
        return link_to("/document", repo=index.repo, id=place.removeprefix("./")) + (f"#L{line}" if line else "")

    return link


def view_of(answer: TurnAnswer, *, model: str, link: Link, notes: Iterable[str], steps: Sequence[str]) -> TurnView:
    remarks = [*notes, *filter(None, answer.problems)]
    if answer.is_fallback:
        remarks.insert(0, f"no answer by a model: {answer.detail}; this is what the index has")
    if answer.dropped:
        remarks.append(answer.dropped)
    took = []
    if answer.failed != NO_MODEL:
        read = f"{answer.prompt_tokens:,} tokens read, {answer.completion_tokens:,} written"
        took = [f"{model}: {format_usd(answer.usd)}", count_noun(answer.steps, "step"), read]
    if answer.citations:
        took.append(f"{count_noun(answer.citations, 'citation')} found in the sources")
    return TurnView(
        html=plain_as_html(answer.text, link) if answer.is_fallback else as_html(answer.text, link),
        is_plain=answer.is_fallback,
        notes=remarks,
        took=took,
        as_of=[str(each) for each in answer.as_of],
        steps=steps,
        id=answer.turn,
        conversation="" if answer.is_fallback else answer.conversation or "",
    )


def view_of_past(turn: PastTurn, steps: Iterable[PastStep], link: Link) -> TurnView:
    is_model = turn.status is Status.COMPLETE
    text = turn.answer or ""
    return TurnView(
        html=as_html(text, link) if is_model else plain_as_html(text, link),
        is_plain=not is_model,
        notes=[] if is_model else [state_of(turn)],
        took=[f"{turn.model}: {format_usd(turn.usd)}"] if turn.model else [],
        as_of=["as it was answered then: lines may have moved since"],
        steps=[line for step in steps if (line := _step_line(step))],
        id="",
    )


def state_of(turn: PastTurn) -> str:
    """The outcome of a question in words."""
    if turn.status is Status.COMPLETE:
        return "answered"
    return f"no answer by a model: {turn.reason}" if turn.status is Status.FAILED else "being answered"


class TurnListener(Struct):
    """Passes the events of a turn on to the page, and keeps the steps for its end."""

    link: Link
    tell: Tell
    steps: list[str] = field(default_factory=list)
    _calls: list[int] = field(default_factory=list)

    def hear(self, event: Event) -> None:
        match event:
            case TextAdded(text):
                self.tell({"kind": "text", "said": clean_text(text)})
            case BlockWritten(text):
                self.tell({"kind": "block", "said": as_html(text, self.link)})
            case TextVoided(reason):
                self.tell({"kind": "void", "said": ""})
                self._step(reason)
            case MessageEnded(False):
                self.tell({"kind": "aside", "said": ""})
            case ToolCalled(name, arguments):
                self._calls.append(len(self.steps))
                self._step(call_line(name, arguments))
            case ToolAnswered(_, characters, is_error):
                # Tools answer in the order of their calls.
                at = self._calls.pop(0)
                self.steps[at] += " → an error" if is_error else f" → {count_noun(characters, 'character')}"
                self.tell({"kind": "step", "at": str(at), "said": self.steps[at]})
            case SynthesisBegan(tool, files):
                self._step(synthesis_line(tool, files))

    def _step(self, line: str) -> None:
        self.steps.append(one_line(line))
        self.tell({"kind": "step", "at": str(len(self.steps) - 1), "said": self.steps[-1]})


def _step_line(step: PastStep) -> str:
    content = step.content
    match step.kind:
        case PartKind.TOOL_CALL:
            return one_line(call_line(content["name"], content["arguments"]))
        case PartKind.SYNTHESIS if "files" in content:
            return one_line(synthesis_line(content["tool"], content["files"]))
        case _:
            return ""


class Turns:
    """The running turns of a server, whose thread begins with the first. At its end they are cancelled, and closed as
    cancelled."""

    _loop: asyncio.AbstractEventLoop
    _thread: threading.Thread | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            if self._thread:
                self._loop.call_soon_threadsafe(self._loop.stop)
                await asyncio.to_thread(self._thread.join)

    def answer(self, question: AskedQuestion, on_event: OnEvent) -> "asyncio.Future[TurnAnswer]":
        """Begin a turn. Cancelling the answer cancels the turn; `on_event` is called from the other thread."""
        if self._thread is None:
            began = threading.Event()
            self._thread = threading.Thread(target=self._live, args=(began,), name="questions", daemon=True)
            self._thread.start()
            began.wait()
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(question.answer(on_event), self._loop))

    def _live(self, began: threading.Event) -> None:
        # The end of the block cancels running turns and waits for them.
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            began.set()
            self._loop.run_forever()


ASK = "/ask"
STREAM = "application/x-ndjson"
_LARGEST_BODY = 1 << 20
_MOST_FIELDS = 10
_FIELDS = ("question", "repo", "token", "conversation")
_EARLIER = 20
# Proxies take a stream for dead where nothing happens for long.
_HEARTBEAT_S = 15.0


class AskFields(Struct, frozen=True):
    """The fields of the form."""

    question: str = ""
    repo: str = ""
    token: str = ""
    conversation: str = ""

    @classmethod
    async def of(cls, request: Request) -> "AskFields":
        # The server bounds it, too.
        body = await request.body()
        if len(body) > _LARGEST_BODY:
            raise HTTPException(413, f"The question is too long: at most {LONGEST_QUESTION:,} characters are taken.")
        try:
            values = parse_qs(body.decode("utf-8", "replace"), max_num_fields=_MOST_FIELDS)
        except ValueError as error:
            raise HTTPException(400, "What was sent is not this page's form.") from error
        return cls(*(values.get(name, [""])[0].strip() for name in _FIELDS))


class AskPages(Struct, frozen=True):
    """The pages of one server process; `token` is in each of its forms. Questions are about all repositories; that of
    `folder`, where the server was started, is read as its work tree is."""

    catalogue: IndexCatalogue
    folder: Path
    turns: Turns
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    def form(self, request: Request) -> Response:
        """The form, the possible cost of an answer, and earlier questions."""
        query = request.query_params
        fields = AskFields(
            query.get("q", "").strip(), query.get("repo", ""), conversation=query.get("conversation", "")
        )
        return HTMLResponse(self._page(fields, before=query.get("before", "")))

    def earlier(self, request: Request) -> Response:
        """One earlier question with its answer."""
        id_ = request.query_params.get("id", "")
        past = self._past()
        turn = past.one(utc_now(), id_)
        if turn is None:
            raise HTTPException(404, f"There is no question {one_line(id_)[:100]!r}: it may have been deleted since.")
        current_request().answered(turn.repositories)
        view = view_of_past(turn, past.steps(id_), self._link(list(turn.repositories)))
        repo = turn.repositories[0] if len(turn.repositories) == 1 else ""
        return respond_with("earlier.html", turn=turn, view=view, repo=repo)

    async def ask(self, request: Request) -> Response:
        """An answer: as a stream for the page's script, else as a page once it is complete."""
        fields = await AskFields.of(request)
        if not hmac.compare_digest(fields.token.encode(), self.token.encode()):
            message = "This form is not of the server that runs now: look at the question, and ask again."
            return HTMLResponse(await run_in_threadpool(self._page, fields, message=message), 403)
        link = await run_in_threadpool(self._link, [fields.repo] if fields.repo else [])
        if STREAM in request.headers.get("accept", ""):
            happenings = self._happenings(fields, link)
            return StreamingResponse(happenings, media_type=STREAM, headers={"X-Accel-Buffering": "no"})
        view = await _until_gone(request, self._answer(fields, TurnListener(link, lambda _: None)))
        return HTMLResponse(await run_in_threadpool(self._page, fields, view=view))

    async def _happenings(self, fields: AskFields, link: Link) -> AsyncIterator[str]:
        """A line of JSON for each happening; the last has the whole answer, or the error. Closing the stream ends the
        turn."""
        loop = asyncio.get_running_loop()
        happened: asyncio.Queue[Happening | None] = asyncio.Queue()

        def tell(each: Happening) -> None:
            loop.call_soon_threadsafe(happened.put_nowait, each)

        async def written() -> str:
            try:
                return render_template("answer.html", view=await self._answer(fields, TurnListener(link, tell)))
            except CodesumError as error:
                return render_template("message.html", message=one_line(str(error)))

        answer = asyncio.create_task(written())
        answer.add_done_callback(lambda _: happened.put_nowait(None))
        try:
            is_under_way = True
            while is_under_way:
                try:
                    each = await asyncio.wait_for(happened.get(), _HEARTBEAT_S)
                except TimeoutError:
                    yield "\n"
                    continue
                is_under_way = each is not None
                yield f"{json.dumps(each or {'kind': 'end', 'said': await answer})}\n"
        finally:
            answer.cancel()

    async def _answer(self, fields: AskFields, listener: TurnListener) -> TurnView:
        notes: list[str] = []
        question = AskedQuestion(
            text=fields.question,
            repos=[fields.repo] if fields.repo else await run_in_threadpool(self._every_key),
            catalogue=self.catalogue,
            folder=self.folder,
            now=utc_now,
            tell=notes.append,
            conversation=fields.conversation or None,
        )
        request = current_request()
        request.question = fields.question
        answer = await self.turns.answer(question, listener.hear)
        request.answered(each.repo for each in answer.as_of)
        model = self.catalogue.settings.llm.model
        return await run_in_threadpool(
            view_of, answer, model=model, link=listener.link, notes=map(one_line, notes), steps=listener.steps
        )

    def _every_key(self) -> list[str]:
        """All published repositories: without names, a question would be about the checkout of `folder` alone."""
        keys = [entry.key for entry in self.catalogue.entries(lambda _: None)]
        return [key for key in keys if self.catalogue.is_published(key)]

    def _past(self) -> PastTurns:
        catalogue = self.catalogue
        keys = [entry.key for entry in catalogue.entries(lambda _: None)] if catalogue.is_limited else None
        return PastTurns(catalogue.layout.home, keys, catalogue.holder or "")

    def _link(self, repos: list[str]) -> Link:
        try:
            return places_in(ToolContext(self.catalogue, self.folder, is_everywhere=True).current(repos))
        except CodesumError:
            return lambda _path, _place: None

    def _page(self, fields: AskFields, *, view: TurnView | None = None, message: str = "", before: str = "") -> str:
        settings = self.catalogue.settings
        problems, turns = list[str](), list[PastTurn]()
        try:
            turns = self._past().newest(utc_now(), before=before, limit=_EARLIER + 1)
        except CodesumError as error:
            problems.append(one_line(str(error)))
        # The holder of a token must not see the costs of others.
        is_shown = not problems and not self.catalogue.holder
        spent = spent_today(self.catalogue.layout.home / STORE_FILE, now=utc_now()) if is_shown else None
        return render_template(
            "ask.html",
            fields=fields,
            token=self.token,
            keys=[entry.key for entry in self.catalogue.entries(problems.append)],
            longest=LONGEST_QUESTION,
            shut=why_no_model(settings.llm, is_offline=settings.offline),
            model=settings.llm.model,
            caps=settings.ask,
            spent=spent,
            view=view,
            message=message,
            problems=problems,
            turns=turns[:_EARLIER],
            before=turns[_EARLIER - 1].started_at if len(turns) > _EARLIER else "",
            state_of=state_of,
        )


async def _until_gone(request: Request, answering: Coroutine[Any, Any, TurnView]) -> TurnView | None:
    """The answer; None, with its turn cancelled, where the client has gone."""
    answer, gone = asyncio.create_task(answering), asyncio.create_task(_gone(request))
    try:
        await asyncio.wait([answer, gone], return_when=asyncio.FIRST_COMPLETED)
        return answer.result() if answer.done() else None
    finally:
        answer.cancel()
        gone.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
