"""What keeps digests from being written or sent, and the way out of each."""

import os
import sqlite3
from collections.abc import Iterator

from msgspec import Struct

from codesum_pipeline.delivery.channels import open_channel
from codesum_pipeline.delivery.outbox import OUTBOX_FILE, DeliveryState, open_outbox
from codesum_pipeline.digests.rows import TickOutcome
from codesum_pipeline.digests.store import open_digests
from codesum_pipeline.model.errors import CodesumError, ConfigurationError
from codesum_pipeline.model.intents import Intent
from codesum_pipeline.model.moments import utc_now
from codesum_pipeline.wiring import Home


class DigestTrouble(Struct, frozen=True):
    """What is wrong, and the command or file that mends it."""

    what: str
    way_out: str


def digest_troubles(home: Home) -> Iterator[DigestTrouble]:
    """Standing questions and channels that cannot be used, digests that were not written, and such as were not sent."""
    try:
        survey = home.intents.survey()
    except ConfigurationError as error:
        yield DigestTrouble(str(error), f"correct {home.intents.file}")
        return
    for problem in survey.problems.values():
        yield DigestTrouble(str(problem), f"correct it in {home.intents.file}")
    enabled = [intent for intent in survey.intents if intent.enabled]
    yield from _unusable_channels(home, enabled)
    for look, file in ((_held, home.layout.digests), (_given_up, home.settings.home / OUTBOX_FILE)):
        try:
            yield from look(home, enabled) if file.exists() else ()
        except (CodesumError, sqlite3.Error) as error:
            yield DigestTrouble(str(error), f"mv {file} {file}.broken")


def _unusable_channels(home: Home, enabled: list[Intent]) -> Iterator[DigestTrouble]:
    delivery = home.settings.delivery
    asked = {name for intent in enabled for name in intent.channels} | {*delivery.operator_channels}
    for name in sorted(asked):
        try:
            open_channel(name, delivery, home=home.settings.home, environ=os.environ)
        except ConfigurationError as error:
            yield DigestTrouble(str(error), f"codesum digest try {name}")


def _held(home: Home, enabled: list[Intent]) -> Iterator[DigestTrouble]:
    """Questions whose last tick wrote nothing, though there was something to tell."""
    with open_digests(home.layout.digests, now=utc_now) as store:
        for intent in enabled:
            for last in store.ticks(intent.name, limit=1):
                if last.outcome is TickOutcome.HELD:
                    what = f"intent {intent.name!r}: no digest could be written at {last.ended_at}: {last.reason}"
                    yield DigestTrouble(what, f"codesum digest run --intent {intent.name}")


def _given_up(home: Home, _enabled: list[Intent]) -> Iterator[DigestTrouble]:
    with open_outbox(home.settings.home, now=utc_now) as outbox:
        for each in outbox.deliveries(states=(DeliveryState.GIVEN_UP,)):
            what = f"{each.post_id} on {each.channel}: given up after {each.tries} tries: {each.detail}"
            yield DigestTrouble(what, f"codesum digest retry {each.post_id}")
