"""The page of the fleet: one row for each repository that the caller may read, sorted and filtered by its address."""

import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.fleet_reading import behind_for, is_late, read_fleet, remark_of
from codesum_pipeline.builds.steps.fleet_states import RepositoryState
from codesum_pipeline.builds.steps.freshness import IndexState
from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.moments import age_in_words
from codesum_pipeline.foundation.settings.operation_settings import CheckSettings
from codesum_pipeline.ways_in.web.rendering import link_to, respond_with

FLEET = "/fleet"
_ROWS = 200
_SHORT_COMMIT = 10
# The class of each state in the page's styles, in the order of what a person wants to see first.
_CLASSES = convert(
    tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")), dict[IndexState, str]
)
_URGENCY = {state: place for place, state in enumerate(_CLASSES)}


# Ties are broken by the name. Moments are compared as they are written.
_ORDERS: Mapping[str, Callable[[RepositoryState], Any]] = {
    "state": lambda each: _URGENCY[IndexState(each.state)],
    "repository": lambda each: "",
    "behind": lambda each: each.behind_since or "~",
    "published": lambda each: -(each.published_at or 0.0),
    "failed": lambda each: -each.failures,
}


class FleetPage(Struct, frozen=True):
    catalogue: IndexCatalogue

    def show(self, request: Request) -> Response:
        """The rows that the form asks for; each column's head sorts by it."""
        query = request.query_params
        order, wanted, part = query.get("sort", "state"), query.get("state", ""), query.get("q", "").strip()
        if order not in _ORDERS:
            raise ConfigurationError(f"sort={order!r} is no column of this page: {', '.join(_ORDERS)}")
        first = _whole_number(query.get("from", ""))
        # Only this page reads what builds need.
        from codesum_pipeline.builds.codesum_home.wiring import Home

        notes: list[str] = []
        entries = self.catalogue.entries(notes.append)
        home = Home(self.catalogue.settings)
        fleet = read_fleet(home, entries)
        counts = Counter(each.state for each in fleet.repositories)
        found = [
            each for each in fleet.repositories if wanted in ("", each.state) and part.casefold() in each.key.casefold()
        ]
        found.sort(key=lambda each: (_ORDERS[order](each), each.key))
        following = first + _ROWS
        fields = {"state": wanted, "q": part}
        return respond_with(
            "fleet.html",
            rows=[_row(each, home.settings.checks) for each in found[first:following]],
            total=len(found),
            first=first,
            counts=sorted(counts.items()),
            all=len(entries),
            form={"sort": order, **fields},
            heads={name: link_to(FLEET, sort=name, **fields) for name in _ORDERS},
            next=link_to(FLEET, sort=order, **fields, **{"from": following}) if following < len(found) else "",
            # They name hosts and addresses, which concern whoever may see everything.
            notes=[*notes, *(() if self.catalogue.is_limited else fleet.troubles)],
            looked=fleet.record and f"the daemon's last look was {age_in_words(fleet.record.at)} ago",
        )


def _row(each: RepositoryState, checks: CheckSettings) -> Mapping[str, Any]:
    """One repository as the page shows it."""
    return {
        "repo": each.key, "state": each.state, "css": _CLASSES[IndexState(each.state)],
        "commit": (each.commit or "")[:_SHORT_COMMIT], "head": (each.head or "")[:_SHORT_COMMIT],
        "behind": behind_for(each) or "", "is_late": is_late(each, checks), "remark": remark_of(each),
        "published": f"{age_in_words(each.published_at)} ago" if each.published_at else "",
    }  # fmt: skip


def _whole_number(text: str) -> int:
    if text and not (text.isascii() and text.isdigit() and len(text) < 9):
        raise ConfigurationError(f"from={text!r} is no place in the list: give a number from 0")
    return int(text or 0)
