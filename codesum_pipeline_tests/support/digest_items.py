"""Items of digests as `material.items_of` makes them, and a model's answers about them."""

import json
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.digest_record import DigestCitation
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.standing_question import DocumentChange, DocumentState, Intent
from codesum_pipeline.notifications.digests.digest_items import Item
from codesum_pipeline.notifications.digests.hunks import hunk_of

INTENT = Intent(name="sign-in", text="How do users sign in?")
COMMIT = "c0ffee" * 6 + "c0ff"
OLD_LINES = "def open_session(user, now):\n    expires = now + timedelta(days=30)\n    return Session(user, expires)\n"
NEW_LINES = "def open_session(user, now):\n    expires = now + timedelta(hours=8)\n    return Session(user, expires)\n"


def item(
    number: int = 1,
    *,
    name: str | None = None,
    before: str | None = "Opens a session that lasts for thirty days.",
    after: str | None = "Opens a session that ends after eight hours.",
    lines: tuple[str | None, str | None] = (OLD_LINES, NEW_LINES),
    subjects: tuple[str, ...] = ("Let sessions end on the same day",),
    is_test: bool = False,
) -> Item:
    """A function that changed."""
    name = name or f"open_session_{number}"
    path = f"shop/sign_in_{number}.py"
    change = DocumentChange(
        repository="shop",
        document_id=f"{path}::{name}",
        level=Level.FUNCTION,
        language="python",
        before=None if before is None else state(name, path, before, "old"),
        after=None if after is None else state(name, path, after, "new"),
        date=f"2026-03-{1 + number % 28:02d}T10:00:00Z",
        is_test=is_test,
    )
    citation = DigestCitation(
        change.document_id, name, f"{path}#L3-5@{COMMIT}", "shop", change.date, source_name="shop", score=0.5
    )
    return Item(citation, change, before, after, hunk_of(*lines, path), subjects)


def many(count: int) -> list[Item]:
    """The same change in so many functions."""
    one = item()
    return [replace(one, citation=replace(one.citation, name=f"open_session_{n}")) for n in range(1, count + 1)]


def state(name: str, path: str, summary: str, content_hash: str) -> DocumentState:
    return DocumentState(name, path, COMMIT, content_hash, summary, start_line=3, end_line=5)


def claim(text: str, *numbers: int, quote: str) -> dict[str, Any]:
    return {"text": text, "citations": list(numbers), "quote": quote}


GOOD_QUOTE = "expires = now + timedelta(hours=8)"
GOOD = claim("Sessions made by `open_session` now end after 8 hours.", 1, quote=GOOD_QUOTE)


def answer(*claims: Mapping[str, Any]) -> str:
    """The JSON of an answer; without claims a good one."""
    return json.dumps({"claims": list(claims or (GOOD,))})
