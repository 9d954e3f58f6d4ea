"""Write many documents: at once as many as allowed, in order of importance, within the caps.

Whatever ends a run, the next goes on from there: what was paid is in the ledger
or in the cache, and what was not asked is asked then.
"""

import asyncio
import signal
from collections.abc import Callable, Sequence

from codesum_pipeline.llm.backend import SummaryBackend
from codesum_pipeline.llm.cache import AnswerCache
from codesum_pipeline.llm.conversation import WritingTask
from codesum_pipeline.llm.kept_texts import KeptText
from codesum_pipeline.llm.ledger import Ledger
from codesum_pipeline.llm.outcomes import Accepts, Caps, TaskOutcome, accept_any, found_text
from codesum_pipeline.llm.prices import Price
from codesum_pipeline.llm.writing_run import WritingRun
from codesum_pipeline.model.documents import Gate
from codesum_pipeline.model.progress import Progress, no_progress
from codesum_pipeline.settings.llm import LlmSettings


def write_all(
    tasks: Sequence[WritingTask],
    *,
    new_backend: Callable[[], SummaryBackend],
    ledger: Ledger,
    cache: AnswerCache,
    caps: Caps,
    price_of: Callable[[str], Price],
    settings: LlmSettings,
    accepts: Accepts = accept_any,
    progress: Progress = no_progress,
) -> list[TaskOutcome]:
    """The outcomes of the tasks, in their order, which is that of importance.

    `accepts` judges a text that may have been written with another context.
    `new_backend` is called where something is to be asked, and what it gives is
    closed at the end. The repository's lease must be held. Raises
    `ConfigurationError` where a model that would be asked has no known price,
    and `CannotWrite`.
    """
    ledger.recover()
    ledger.deliver(cache.put_many)
    found = find_texts(tasks, cache, accepts)
    missing = [task for task in tasks if task.id not in found]
    outcomes = {task.id: found_text(task, found[task.id]) for task in tasks if task.id in found}
    if missing and (settings.asks_nobody or caps.documents_left > 0):
        run = WritingRun(missing, new_backend(), ledger, cache, caps, price_of, settings, accepts, progress)
        outcomes |= _finished(run)
        ledger.deliver(cache.put_many)
    return [outcomes.get(task.id) or TaskOutcome(task.id, None, gate=Gate.CAP) for task in tasks]


def _finished(run: WritingRun) -> dict[str, TaskOutcome]:
    """The outcomes of a run; whoever ended it from outside gets what they wanted once the books are closed."""
    try:
        asyncio.run(run.all())
    except asyncio.CancelledError:
        if run.was_terminated:
            signal.raise_signal(signal.SIGTERM)
        raise
    return run.outcomes


def find_texts(tasks: Sequence[WritingTask], cache: AnswerCache, accepts: Accepts = accept_any) -> dict[str, KeptText]:
    """The texts that the cache has for some of the tasks, by id, noted as in use."""
    kept = cache.find_many((task.exact_key, task.body_key) for task in tasks)
    fitting = {
        task.id: next((text for text in kept.get(task.exact_key, ()) if accepts(task, text)), None) for task in tasks
    }
    found = {id_: text for id_, text in fitting.items() if text}
    if found:
        cache.touch([*found.values()])
    return found
