"""The second pass over a repository's overview: a model writes an answer from it and from its grounds, the files that
it names and the project's own documents.

Where a budget of tokens is exceeded, pieces are left out in this order: the further files, the first one, documents
about plans and state, AGENTS.md. The primary document may be cut but is never left out.

The synthesis replaces the model's next message. Where it fails, its message is closed as failed, also when the caller
cancels, and the turn continues without it.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.answers.question_answering.answer_endings import FinalText, NoAnswer, read_final, reason_of
from codesum_pipeline.answers.question_answering.calls import CapturedCall
from codesum_pipeline.answers.question_answering.citations import FileRef, MessageBlocks, RepositoryFiles
from codesum_pipeline.answers.question_answering.mentioned_files import rank_mentioned
from codesum_pipeline.answers.question_answering.question_store import (
    CANCELLED,
    Exchange,
    MessagePart,
    Notebook,
    PartKind,
    Speaker,
)
from codesum_pipeline.answers.question_answering.turn_events import OnEvent, SynthesisBegan, TextVoided
from codesum_pipeline.answers.question_answering.turn_paying import Payer
from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.source.masking.secrets import mask_secrets
from codesum_pipeline.texts.llm.budgets import cut_to_fit
from codesum_pipeline.texts.llm.marking import enclose, number_lines
from codesum_pipeline.texts.llm.pins import AnswerEnd, ChatRequest, ChatResponse
from codesum_pipeline.texts.llm.prices import CHARS_PER_TOKEN, predict_tokens
from codesum_pipeline.texts.llm.sent_parameters import changes_of

MAX_FILES = 5
FILE_LINES = 200
DOCUMENT_LINES = 500
BUDGET_TOKENS = 32_000
# A monorepo may have many roadmaps; those nearest to the root are taken.
_MAX_OF_A_KIND = 2
_AGENTS = "agents.md"
_DIGITS = re.compile(r"\d{1,9}")
_STATE = ("*roadmap*.md", "context.md")
# Where a project keeps its plans.
_FOLDERS = ("", "docs/", "doc/", ".github/")
_log = logging.getLogger(__name__)


class ShownFile(Struct, frozen=True):
    """The first lines of a file. A piece with a lower `rank` is left out first; one without a rank never."""

    file: FileRef
    text: str
    rank: int | None
    is_document: bool


class Material(Struct, frozen=True):
    """The pieces that fit, most important first, and the files that were left out."""

    pieces: tuple[ShownFile, ...]
    left_out: tuple[FileRef, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of the sources."""
        return tuple(piece.file.path for piece in self.pieces if not piece.is_document)

    @property
    def documents(self) -> tuple[str, ...]:
        """The paths of the project's documents."""
        return tuple(piece.file.path for piece in self.pieces if piece.is_document)

    @property
    def characters(self) -> int:
        return sum(len(piece.text) for piece in self.pieces)


def gather_material(
    overview: str, sources: RepositoryFiles, *, question: str, repos: Sequence[str], primary: str, taken_tokens: int
) -> Material:
    """The material beside the text of an overview; `taken_tokens` are the tokens of the rest of the prompt."""
    known = {file: facts for file, facts in sources.indexed_files().items() if file.repo in repos}
    documents = [piece for repo in repos for piece in _documents(sources, repo, primary)]
    shown = {piece.file for piece in documents}
    mentioned = rank_mentioned(overview, known, fitting=sources.fitting(question))
    files = [file for file in mentioned if file not in shown]
    pieces = [
        replace(piece, text=number_lines(mask_secrets(piece.text).text))
        for piece in (*documents, *_sources(sources, files))
    ]
    return fit_material(pieces, BUDGET_TOKENS - taken_tokens)


def fit_material(pieces: Sequence[ShownFile], budget_tokens: int) -> Material:
    """The pieces that fit into a budget; where only those without a rank are left, they are cut evenly."""
    kept = sorted(pieces, key=lambda piece: (piece.rank is not None, -(piece.rank or 0)))
    left_out = []
    while _tokens(kept) > budget_tokens and kept and kept[-1].rank is not None:
        left_out.append(kept.pop())
    if _tokens(kept) > budget_tokens:
        each = int(budget_tokens * CHARS_PER_TOKEN / len(kept))
        kept = [replace(piece, text=cut_to_fit(piece.text, each)) for piece in kept]
    if left_out:
        _log.info("left out of a synthesis: %s", ", ".join(piece.file.path for piece in left_out))
    return Material(tuple(kept), tuple(piece.file for piece in left_out))


def _sources(sources: RepositoryFiles, files: Sequence[FileRef]) -> list[ShownFile]:
    found: list[ShownFile] = []
    for file in files:
        text = sources.text(file)
        if text is not None and len(found) < MAX_FILES:
            found.append(ShownFile(file, _head(text, FILE_LINES), MAX_FILES - len(found), is_document=False))
    return found


def _documents(sources: RepositoryFiles, repo: str, primary: str) -> list[ShownFile]:
    """The documents of a repository."""
    found: list[ShownFile] = []
    root = sources.root(repo)
    inside = [path.removeprefix(root) for path in sources.paths(repo)]
    for names, rank in (((primary.lower(),), None), ((_AGENTS,), MAX_FILES + 2), (_STATE, MAX_FILES + 1)):
        for name in names:
            for path in _named(inside, name)[: 1 if rank is None else _MAX_OF_A_KIND]:
                file = FileRef(repo, f"{root}{path}")
                text = sources.text(file)
                if text and file not in {piece.file for piece in found}:
                    found.append(ShownFile(file, _head(text, DOCUMENT_LINES), rank, is_document=True))
    return found


def _named(paths: Sequence[str], pattern: str) -> list[str]:
    """The paths that match a pattern in any case: as a path, as a name, or as a name without its ending."""
    found = [path for path in paths if path.lower() == pattern]
    for path in paths:
        folder, name = path[: path.rfind("/") + 1].lower(), PurePosixPath(path).name.lower()
        is_meant = fnmatchcase(name, pattern) or PurePosixPath(name).stem == pattern
        if folder in _FOLDERS and is_meant:
            found.append(path)
    return sorted(dict.fromkeys(found), key=_standing_of)


def _standing_of(path: str) -> tuple[object, ...]:
    """Documents near the root first, then those in Markdown, with shorter names, and of later years and versions."""
    name = PurePosixPath(path).name
    return path.count("/"), not name.endswith(".md"), len(name), [-int(number) for number in _DIGITS.findall(name)]


def _head(text: str, lines: int) -> str:
    return "\n".join(text.split("\n", lines)[:lines]).rstrip("\n")


def _tokens(pieces: Sequence[ShownFile]) -> float:
    return sum(len(piece.text) for piece in pieces) / CHARS_PER_TOKEN


class Synthesiser(Struct, frozen=True):
    """Writes the synthesis of an overview."""

    system: str
    payer: Payer
    notebook: Notebook
    sources: RepositoryFiles
    on_event: OnEvent
    earlier: Sequence[Exchange] = ()

    async def write(self, question: str, overview: CapturedCall) -> FinalText | None:
        """The answer, or None if the synthesis fails; raises `CancelledError` when the caller cancels."""
        message = self.notebook.begin(Speaker.ASSISTANT)
        failed, why = CANCELLED, ""
        try:
            async with asyncio.timeout(self.payer.ask.synthesis_timeout_s):
                response, material = await self._write(question, overview)
            final = await asyncio.to_thread(read_final, response, self.sources, self.payer.ask)
            self._keep(message, overview, response, material)
            return final
        except Exception as error:
            failed, why = reason_of(error), f": {error.detail}" if isinstance(error, NoAnswer) else ""
            told = f"{failed}: {error}", "the turn goes on without it"
            is_known = isinstance(error, NoAnswer | TimeoutError | CodesumError | OSError)
            _log.warning(
                "synthesis %s of %s failed (%s): %s", message, overview.call.name, *told, exc_info=not is_known
            )
        finally:
            # This does not change a message that is complete already.
            self.notebook.end(message, failed=failed)
        self.on_event(TextVoided(f"the overview was not written up: {failed}{why}"))
        return None

    async def _write(self, question: str, overview: CapturedCall) -> tuple[ChatResponse, Material]:
        earlier = (text for exchange in self.earlier for text in (exchange.question, exchange.answer))
        taken = predict_tokens(self.system, question, overview.head, *earlier)
        repos = _repos_of(overview, self.sources)
        material = await asyncio.to_thread(
            gather_material,
            overview.result.text,
            self.sources,
            question=question,
            repos=repos,
            primary=self.payer.ask.primary_document,
            taken_tokens=taken,
        )
        self.on_event(SynthesisBegan(overview.call.name, (*material.documents, *material.files)))
        prompt = _prompt(question, overview, material)
        blocks = MessageBlocks(self.sources, self.on_event)
        response = await self.payer.next_message(
            self._request(prompt),
            blocks.hear,
            timeout_s=self.payer.ask.synthesis_timeout_s,
            retries=0,
            on_discard=lambda: blocks.void("asking the next model"),
        )
        blocks.end(is_cut=response.ended is AnswerEnd.LENGTH)
        return response, material

    def _request(self, prompt: str) -> Callable[[str], ChatRequest]:
        messages = (
            {"role": "system", "content": self.system},
            *(message for exchange in self.earlier for message in exchange.messages),
            {"role": "user", "content": prompt},
        )
        llm, max_tokens = self.payer.llm, self.payer.ask.max_tokens
        return lambda model: ChatRequest(model, messages, max_tokens=max_tokens, changes=changes_of(llm, model))

    def _keep(self, message: str, overview: CapturedCall, response: ChatResponse, material: Material) -> None:
        usage = response.usage
        passed = {
            "turn": self.notebook.turn,
            "message": message,
            "tool": overview.call.name,
            "call": overview.call.id,
            "files": list(material.files),
            "documents": list(material.documents),
            "left_out": [file.path for file in material.left_out],
            "characters": len(response.text),
            "material_characters": material.characters,
            "prompt_tokens": usage.prompt_tokens if usage else None,
            "completion_tokens": usage.completion_tokens if usage else None,
        }
        self.notebook.add(message, MessagePart(PartKind.SYNTHESIS, {**passed, "text": response.text}))
        self.notebook.end(message)
        _log.info("synthesis complete: %s", passed)


def _repos_of(overview: CapturedCall, sources: RepositoryFiles) -> Sequence[str]:
    """The repositories that an overview's arguments name, else all."""
    repos = sources.repos
    named = [repo for repo in repos if f'"{repo}"' in overview.call.arguments]
    return named or repos


def _prompt(question: str, overview: CapturedCall, material: Material) -> str:
    pieces = [
        f"{'Document' if piece.is_document else 'Source'} `{piece.file.path}` of {piece.file.repo}:\n"
        f"{enclose(piece.text, 'document' if piece.is_document else 'source')}"
        for piece in material.pieces
    ]
    return "\n\n".join(
        [
            f"The question:\n{mask_secrets(question).text}",
            f"The overview, as the tool {overview.call.name} gave it:\n{enclose(overview.head, 'overview')}",
            *pieces,
        ]
    )
