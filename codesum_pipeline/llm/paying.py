"""One attempt, paid for: caps and ledger before the call, ledger after it.

The worst price is reserved in the same transaction that checks the caps, so
that two calls at once cannot pass a cap together.
"""

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from msgspec import Struct

from codesum_pipeline.llm.attempts import settled_by
from codesum_pipeline.llm.ledger import AttemptResult, CallAttempt, Ledger
from codesum_pipeline.model.errors import CodesumError

Answer = TypeVar("Answer")


class Cap(Struct, frozen=True):
    """A cap in US dollars by its setting, and what is spent of it; a refusal names the amounts only with `is_told`."""

    setting: str
    most_usd: float
    spent: Callable[[], float]
    is_told: bool = True


class Till(Struct, frozen=True):
    """Pays for the attempts of one job. `refusal` makes an error from a message about a cap that a call could pass;
    `way_out` is what can be done instead of raising the cap."""

    ledger: Ledger
    caps: tuple[Cap, ...]
    refusal: Callable[[str], CodesumError]
    way_out: str

    async def pay(
        self,
        attempt: CallAttempt,
        call: Callable[[], Awaitable[Answer]],
        settled: Callable[[Answer, float], AttemptResult],
        on_settled: Callable[[AttemptResult], None] = lambda _settled: None,
    ) -> Answer:
        """The answer of `call`; raises what it does, and `refusal`. `settled` gives the attempt's result from an answer
        and the seconds that it took."""
        sequence = self._reserve(attempt)
        started = time.monotonic()
        try:
            answer = await call()
        except BaseException as error:
            self._settle(sequence, settled_by(error, time.monotonic() - started), on_settled)
            raise
        self._settle(sequence, settled(answer, time.monotonic() - started), on_settled)
        return answer

    def _reserve(self, attempt: CallAttempt) -> int:
        worst = attempt.reserved_usd
        with self.ledger.together():
            for cap in self.caps:
                so_far = cap.spent()
                if so_far + worst > cap.most_usd and not cap.is_told:
                    raise self.refusal(f"{cap.setting} = {cap.most_usd:g}: the next call could pass it")
                if so_far + worst > cap.most_usd:
                    raise self.refusal(
                        f"{cap.setting} = {cap.most_usd:g}: ${so_far:.4f} are spent, and the next call could cost "
                        f"${worst:.4f}: raise {cap.setting}, or {self.way_out}"
                    )
            return self.ledger.reserve(attempt)

    def _settle(self, sequence: int, settled: AttemptResult, on_settled: Callable[[AttemptResult], None]) -> None:
        self.ledger.settle(sequence, settled)
        on_settled(settled)
