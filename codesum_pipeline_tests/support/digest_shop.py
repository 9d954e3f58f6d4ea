"""A home whose repository has a history, a model server, and receivers that digests are sent to."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.standing_question import DocumentChange, DocumentState, Intent, IntentMatch
from codesum_pipeline.foundation.settings.channel_settings import DeliverySettings
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings, ModelPrice
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.notifications.delivery.outbox import open_outbox
from codesum_pipeline.notifications.delivery.sending import OutboxSender
from codesum_pipeline.notifications.digests.desk import DigestDesk, one_at_a_time
from codesum_pipeline.notifications.digests.digest_rows import DigestRow, TickRow
from codesum_pipeline.notifications.digests.digest_store import open_digests
from codesum_pipeline.notifications.digests.tick import make_tick
from codesum_pipeline.notifications.intents.intents_file import Intents
from codesum_pipeline.source.repositories.registry import Registry
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.settings import DEFAULTS, changed

MODEL = "openai/reporter-1"
INTENT = Intent(name="signing-in", text="How do users sign in?", threshold=0.5, channels=("hook",))
NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
OLD = "def sign(user, now):\n    expires = now + timedelta(days=30)\n    return Session(user, expires)\n"
NEW = OLD.replace("days=30", "hours=8")
QUOTE = "expires = now + timedelta(hours=8)"


def answer(*numbers: int, quote: str = QUOTE) -> str:
    """What a model says of these changes."""
    claims = [{"text": f"Sessions end after 8 hours, says {n}.", "citations": [n], "quote": quote} for n in numbers]
    return json.dumps({"claims": claims})


@dataclass
class Shop:
    """The home; what is in it can be changed before each tick."""

    home: Path
    commits: tuple[str, str]
    blobs: tuple[str, str]
    channels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    operator: tuple[str, ...] = ()
    settings: Settings = DEFAULTS
    moment: datetime = NOON
    is_offline: bool = False
    web_hosts: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def at(cls, home: Path) -> "Shop":
        """One whose repository changed once; no model is set up and there is no channel."""
        repo = GitRepo.create(home / "checkout", {"src/auth.py": OLD})
        before = repo.git("rev-parse", "HEAD").strip()
        after = repo.commit({"src/auth.py": NEW}, "Let sessions end on the same day")
        blobs = tuple(repo.git("rev-parse", f"{commit}:src/auth.py").strip() for commit in (before, after))
        layout = HomeLayout(home)
        layout.mirrors.mkdir(parents=True)
        repo.git("clone", "-q", "--bare", str(repo.path), str(layout.mirror("shop")))
        layout.repos_file.write_text("repositories:\n  shop:\n    url: https://github.com/acme/shop.git\n")
        return cls(home, (before, after), (blobs[0], blobs[1]))

    def copied(self, home: Path) -> "Shop":
        """The same at another place."""
        shutil.copytree(self.home, home, dirs_exist_ok=True)
        return replace(self, home=home)

    @property
    def desk(self) -> DigestDesk:
        layout = HomeLayout(self.home)
        return DigestDesk(
            layout, Registry(layout.repos_file), Intents(self.home / "intents.yaml"), self.settings, self.sender
        )

    @property
    def sender(self) -> OutboxSender:
        delivery = {"channels": self.channels, "operator_channels": self.operator, "web_hosts": self.web_hosts}
        return OutboxSender(self.home, DeliverySettings.model_validate(delivery), self.now, offline=self.is_offline)

    def now(self) -> datetime:
        return self.moment

    def pass_time(self, **units: float) -> None:
        self.moment += timedelta(**units)

    def ask(self, base: str, **llm: Any) -> None:
        """Have a model at this address write."""
        found = LlmSettings(
            enabled=True,
            model=MODEL,
            api_base=base,
            api_key_env="REPORTER_KEY",
            prices=(ModelPrice(model=MODEL, input=1.0, output=2.0),),
            max_retries=1,
            timeout_s=20.0,
        )
        self.settings = Settings(home=self.home, llm=changed(found, **llm))

    def change(self, name: str = "sign", *, date: str | None = "2026-11-20T09:00:00Z", **other: Any) -> DocumentChange:
        """The one that the repository's second commit made, as that of a function called `name`."""
        texts = ("Opens a session that lasts for thirty days.", "Opens a session that ends after eight hours.")
        before, after = (
            DocumentState(name, "src/auth.py", commit, blob, text, start_line=1, end_line=3, blob=blob)
            for commit, blob, text in zip(self.commits, self.blobs, texts, strict=True)
        )
        fields = {"repository": "shop", "document_id": f"src/auth.py::{name}", "before": before, "after": after}
        return DocumentChange(**{**fields, "level": Level.FUNCTION, "language": "python", "date": date, **other})

    def find(self, *changes: DocumentChange, intent: Intent = INTENT, scores: Sequence[float] = ()) -> None:
        """Keep matches of an intent; without any that of the one change."""
        found = changes or (self.change(),)
        with open_digests(self.desk.layout.digests, now=self.now) as store:
            store.add_matches(
                IntentMatch(intent.name, change, scores[place] if scores else 0.75)
                for place, change in enumerate(found)
            )

    def tick(self, intent: Intent = INTENT, **of: Any) -> TickRow:
        with open_digests(self.desk.layout.digests, now=self.now) as store, one_at_a_time(store, intent.name):
            return make_tick(self.desk, store, intent, **of)

    def pending(self, intent: Intent = INTENT) -> int:
        with open_digests(self.desk.layout.digests, now=self.now) as store:
            return len(store.pending(intent.name))

    def digests(self) -> list[DigestRow]:
        with open_digests(self.desk.layout.digests, now=self.now) as store:
            return store.digests()

    def ticks(self) -> list[TickRow]:
        with open_digests(self.desk.layout.digests, now=self.now) as store:
            return store.ticks()

    def posts(self) -> list[tuple[str, str, str]]:
        """Channel, subject and text of all that is in the outbox, the oldest first."""
        with open_outbox(self.home, now=self.now) as outbox:
            found = [(each.channel, outbox.post(each.post_id)) for each in outbox.deliveries()]
        return [(channel, post.subject, post.text) for channel, post in reversed(found)]

    def notices(self) -> list[tuple[str, str]]:
        """Subject and text of what the operator was told."""
        return [(subject, text) for channel, subject, text in self.posts() if channel in self.operator]

    def write_intents(self, text: str) -> None:
        (self.home / "intents.yaml").write_text(text)
