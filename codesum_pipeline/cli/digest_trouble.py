"""What keeps digests from being written or sent, and the way out of each."""

import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codesum_pipeline.delivery.channels import open_channel
from codesum_pipeline.delivery.outbox import OUTBOX_FILE, open_outbox
from codesum_pipeline.delivery.schema import DeliveryState
from codesum_pipeline.digests.rows import TickOutcome
from codesum_pipeline.digests.store import open_digests
from codesum_pipeline.intents.file import Intents, IntentSurvey
from codesum_pipeline.model.errors import CodesumError, ConfigurationError
from codesum_pipeline.settings import Settings
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.wiring import utc_now


@dataclass(frozen=True, slots=True)
class DigestTrouble:
    """What is wrong, and the command or file that mends it."""

    what: str
    way_out: str


def digest_troubles(settings: Settings) -> Iterator[DigestTrouble]:
    """Broken intents, channels that cannot be used, digests that could not be written, and such as were not sent."""
    file = Path(settings.options.digests.intents_file)
    survey = Intents(file).survey()
    for problem in survey.problems.values():
        yield DigestTrouble(str(problem), f"correct it in {file}")
    yield from _unusable_channels(settings, survey)
    try:
        yield from _held(settings, survey)
        yield from _given_up(settings)
    except (CodesumError, sqlite3.Error) as error:
        yield DigestTrouble(str(error), "look at the file that is named")


def _unusable_channels(settings: Settings, survey: IntentSurvey) -> Iterator[DigestTrouble]:
    asked = {name for intent in survey.intents if intent.enabled for name in intent.channels}
    for name in sorted(asked | {*settings.delivery.operator_channels}):
        try:
            open_channel(name, settings.delivery, home=settings.home, environ=os.environ)
        except ConfigurationError as error:
            yield DigestTrouble(str(error), f"codesum digest try {name}")


def _held(settings: Settings, survey: IntentSurvey) -> Iterator[DigestTrouble]:
    """Intents whose last tick wrote nothing, though there was something to tell."""
    path = HomeLayout(settings.home).digests
    if not path.exists():
        return
    with open_digests(path, now=utc_now) as store:
        for intent in survey.intents:
            last = next(iter(store.ticks(intent.name, limit=1)), None)
            if last is not None and last.outcome is TickOutcome.HELD:
                yield DigestTrouble(
                    f"intent {intent.name!r}: its digest could not be written at {last.ended_at}: {last.reason}",
                    "mend what is named: the next build or look of the schedule tries again",
                )


def _given_up(settings: Settings) -> Iterator[DigestTrouble]:
    if not (settings.home / OUTBOX_FILE).exists():
        return
    with open_outbox(settings.home, now=utc_now) as outbox:
        for each in outbox.deliveries(states=(DeliveryState.GIVEN_UP,)):
            yield DigestTrouble(
                f"{each.post_id} on {each.channel}: given up after {each.tries} tries: {each.detail}",
                f"codesum digest retry {each.post_id}",
            )
