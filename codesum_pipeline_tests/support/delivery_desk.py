"""A digest, an outbox with a clock that is set by hand, and channels."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from codesum_pipeline.foundation.data_model.digest_record import DigestCitation, PostId, SummaryResult
from codesum_pipeline.foundation.settings.channel_settings import DeliverySettings
from codesum_pipeline.notifications.delivery.outbox import Delivery, DeliveryAttempt, open_outbox
from codesum_pipeline.notifications.delivery.posts import digest_post
from codesum_pipeline.notifications.delivery.sending import OutboxSender
from codesum_pipeline_tests.support.settings import changed

COMMIT = "0123456789abcdef0123456789abcdef01234567"
DIGEST = PostId("digest-1")
SIGNED = DigestCitation(
    document_id="src/auth.py::Login::sign",
    name="Login.sign",
    place=f"src/auth.py#L10-24@{COMMIT}",
    repository="shop",
    date="2026-11-20T09:00:00Z",
    source_name="shop",
    score=0.83,
)
REMOVED = DigestCitation(
    document_id="src/old.py", name="old.py", place=f"src/old.py#L1@{COMMIT}", repository="shop", date=None
)
RESULT = SummaryResult(
    intent_name="how we authenticate",
    summary="Sessions are now signed with **Ed25519** [1].\n\n- `sign` takes a key\n- the old module is gone [2]\n",
    citations=(SIGNED, REMOVED),
)
LINK = f"https://github.com/acme/shop/blob/{COMMIT}/src/auth.py#L10-L24"
MAIL = {"kind": "email", "host": "127.0.0.1", "security": "none", "from": "codesum <codesum@example.com>"}


@dataclass
class Desk:
    """A home with an outbox."""

    home: Path
    channels: Mapping[str, Mapping[str, Any]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    moment: datetime = datetime(2026, 11, 23, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def pass_time(self, **units: float) -> None:
        self.moment += timedelta(**units)

    def sender(self, **changes: Any) -> OutboxSender:
        settings = changed(DeliverySettings.model_validate({"channels": self.channels}), **self.settings)
        return OutboxSender(self.home, settings, self.now, environ=self.environ, **changes)

    def add(self, result: SummaryResult = RESULT, *, id_: PostId = DIGEST, links: tuple[str | None, ...] = ()) -> bool:
        post = digest_post(
            id_,
            result,
            links=links or (LINK, None)[: len(result.citations)],
            created_at=self.moment.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        )
        with open_outbox(self.home, now=self.now) as outbox:
            return outbox.add(post, self.channels, tries=int(self.settings.get("max_attempts", 8)))

    def send(self, **changes: Any) -> list[tuple[str, str]]:
        """Channel and state of each delivery that was tried."""
        return [(each.channel, each.state.value) for each in self.sender(**changes).send_due().tried]

    def delivery(self, channel: str, id_: PostId = DIGEST) -> Delivery:
        with open_outbox(self.home, now=self.now) as outbox:
            return outbox.deliveries(post=id_, channel=channel)[0]

    def attempts(self, channel: str, id_: PostId = DIGEST) -> list[DeliveryAttempt]:
        with open_outbox(self.home, now=self.now) as outbox:
            return outbox.attempts(id_, channel)
