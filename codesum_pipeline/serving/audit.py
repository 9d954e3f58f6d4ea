"""What is written down of a request: who asked what kind of thing, and of which repositories the answer was made.

What was asked, in words, only where the operator wants that.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline.serving.audit_log import AuditLog, Line

ANSWERED, REFUSED, FAILED, CANCELLED = "answered", "refused", "failed", "cancelled"
# Of a question, as much as says what it was about.
_LONGEST_QUESTION = 2_000


@dataclass
class AuditedRequest:
    """A request while it is answered."""

    asked: str
    repos: set[str] = field(default_factory=set)
    hits: int | None = None
    outcome: str = ""
    question: str = ""

    def answered(self, repos: Iterable[str], hits: int | None = None) -> None:
        """A part of the answer; a page may have several."""
        self.repos.update(repos)
        if hits is not None:
            self.hits = (self.hits or 0) + hits


_NOW: ContextVar[AuditedRequest | None] = ContextVar("audited request", default=None)


def request_of_now() -> AuditedRequest:
    """That which is being answered; what is told of it is written nowhere where no audit log is kept."""
    return _NOW.get() or AuditedRequest("")


@dataclass(frozen=True, slots=True)
class Auditor:
    """Writes the lines of one entrance, of the holder of one token; without a `log`, none."""

    log: AuditLog | None
    entrance: str
    has_questions: bool = False
    holder: str = ""

    def of(self, holder: str) -> "Auditor":
        return replace(self, holder=holder)

    @contextmanager
    def auditing(self, asked: str) -> Iterator[AuditedRequest]:
        """A request is answered in the block; errors and cancellations are its outcome where nothing else is said."""
        request, began = AuditedRequest(asked), time.monotonic()
        token = _NOW.set(request)
        try:
            yield request
            request.outcome = request.outcome or ANSWERED
        except CodesumError:
            request.outcome = REFUSED
            raise
        except Exception:
            request.outcome = FAILED
            raise
        except BaseException:
            request.outcome = CANCELLED
            raise
        finally:
            _NOW.reset(token)
            self._write(request, duration_ms=round((time.monotonic() - began) * 1000))

    def was_refused(self, address: str) -> None:
        """Somebody said a token that is none."""
        if self.log:
            self.log.write({**self._head("", "a wrong token"), "outcome": REFUSED, "address": address})

    def close(self) -> None:
        if self.log:
            self.log.close()

    def _write(self, request: AuditedRequest, *, duration_ms: int) -> None:
        if self.log is None:
            return
        line: dict[str, object] = {
            **self._head(self.holder, request.asked),
            "repos": sorted(request.repos),
            "outcome": request.outcome,
            "duration_ms": duration_ms,
            "hits": request.hits,
        }
        if self.has_questions:
            line["question"] = request.question[:_LONGEST_QUESTION]
        self.log.write(line)

    def _head(self, holder: str, asked: str) -> Line:
        moment = datetime.now(UTC).isoformat(timespec="milliseconds")
        return {"time": moment.replace("+00:00", "Z"), "token": holder, "entrance": self.entrance, "asked": asked}
