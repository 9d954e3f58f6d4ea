"""The second pass over a repository's overview: a model writes an answer from it and from the sources that it names.

The synthesis replaces the model's next message. Where it fails, its message is closed as failed, also when the caller
cancels, and the turn continues without it.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence

from msgspec import Struct

from codesum_pipeline.asking.calls import CapturedCall
from codesum_pipeline.asking.citations import MessageBlocks
from codesum_pipeline.asking.conversation import Exchange
from codesum_pipeline.asking.events import OnEvent, SynthesisBegan, TextVoided
from codesum_pipeline.asking.grounding import Material, gather
from codesum_pipeline.asking.notebook import Notebook
from codesum_pipeline.asking.paying import CostCapReached, Payer
from codesum_pipeline.asking.repository_files import RepositoryFiles
from codesum_pipeline.asking.store import MessagePart, PartKind, Speaker
from codesum_pipeline.llm.attempts import failure_kind
from codesum_pipeline.llm.chat import ChatRequest, ChatResponse
from codesum_pipeline.llm.marking import enclose
from codesum_pipeline.llm.masking import mask_secrets
from codesum_pipeline.llm.prices import predict_tokens
from codesum_pipeline.model.errors import CodesumError, SummaryError

CANCELLED = "cancelled"
TIMEOUT = "timeout"
_log = logging.getLogger(__name__)


class Synthesiser(Struct, frozen=True):
    """Writes the synthesis of an overview."""

    system: str
    payer: Payer
    notebook: Notebook
    sources: RepositoryFiles
    on_event: OnEvent
    earlier: Sequence[Exchange] = ()

    async def write(self, question: str, overview: CapturedCall, tool_message: str) -> str | None:
        """The answer, or None where the synthesis fails; raises `CancelledError` when the caller cancels."""
        message = self.notebook.begin(Speaker.ASSISTANT)
        failed = "error"
        try:
            async with asyncio.timeout(self.payer.ask.synthesis_timeout_s):
                response, material = await self._write(question, overview, tool_message)
            if response.text.strip():
                self._keep(message, overview, response, material)
                return response.text
            failed = "empty"
        except TimeoutError:
            failed = TIMEOUT
        except asyncio.CancelledError:
            failed = CANCELLED
            raise
        except CostCapReached:
            failed = "cost-cap"
        except SummaryError as error:
            failed = failure_kind(error)
            _log.warning("synthesis %s of %s: %s", message, overview.call.name, error)
        except (CodesumError, OSError) as error:
            _log.warning("synthesis %s of %s: %s", message, overview.call.name, error)
        except Exception:
            _log.exception("synthesis %s of %s", message, overview.call.name)
        finally:
            # This does not change a message that is complete already.
            self.notebook.end(message, failed=failed)
        _log.warning("synthesis %s of %s failed (%s): the turn goes on without it", message, overview.call.name, failed)
        self.on_event(TextVoided(f"the overview was not written up: {failed}"))
        return None

    async def _write(self, question: str, overview: CapturedCall, tool_message: str) -> tuple[ChatResponse, Material]:
        whole = self._whole(overview, tool_message)
        said = (text for exchange in self.earlier for text in (exchange.question, exchange.answer))
        taken = predict_tokens(self.system, question, overview.head, *said)
        repos = _repos_of(overview, self.sources)
        material = await asyncio.to_thread(
            gather,
            whole,
            self.sources,
            question=question,
            repos=repos,
            primary=self.payer.ask.primary_document,
            taken_tokens=taken,
            mask=_mask,
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
        blocks.end()
        return response, material

    def _request(self, prompt: str) -> Callable[[str], ChatRequest]:
        messages = (
            {"role": "system", "content": self.system},
            *(message for exchange in self.earlier for message in exchange.messages),
            {"role": "user", "content": prompt},
        )
        return lambda model: ChatRequest(model, messages, max_tokens=self.payer.ask.max_tokens)

    def _whole(self, overview: CapturedCall, tool_message: str) -> str:
        """The whole result, which names the files; its head where the whole cannot be read."""
        if not overview.is_cut:
            return overview.result.text
        whole = self.notebook.read_whole(tool_message, overview.call.id)
        if whole is None:
            _log.warning("%s: its whole result cannot be read: files are taken from its head", overview.call.name)
            return overview.head
        return whole

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
            f"The question:\n{_mask(question)}",
            f"The overview, as the tool {overview.call.name} gave it:\n{enclose(overview.head, 'overview')}",
            *pieces,
        ]
    )


def _mask(text: str) -> str:
    return mask_secrets(text).text
