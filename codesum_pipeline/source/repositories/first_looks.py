"""Looks at repositories on servers when they are registered, so that a wrong address or ref is known at once."""

import time
from collections.abc import Sequence

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.source.git.locations import is_url
from codesum_pipeline.source.repositories.poll_state import open_poll_state
from codesum_pipeline.source.repositories.polling import Poller

# A person waits: no look begins later, and one asks git twice at most.
_BEGIN_WITHIN_S = 25.0
_ONE_S = 10.0


def look_at_remotes(
    entries: Sequence[RepositoryEntry], layout: HomeLayout, settings: Settings
) -> tuple[dict[str, str], list[str]]:
    """Why repositories on servers cannot be read, by key, and the keys of those for which there was no time.

    What was seen counts for the sensor of this machine, too. With `offline` nothing is looked at.
    """
    remote = [entry for entry in entries if is_url(entry.location) and entry.enabled]
    if settings.offline or not remote:
        return {}, []
    policy = settings.planner.model_copy(
        update={
            "polls_per_tick": len(remote),
            "ls_remote_timeout_s": min(settings.planner.ls_remote_timeout_s, _ONE_S),
        }
    )
    keys = [entry.key for entry in remote]
    with open_poll_state(layout) as state:
        looks = Poller(layout, policy).look_at_due(
            remote, state, now_due=keys, give_up_at=time.monotonic() + _BEGIN_WITHIN_S
        )
    complaints = {key: poll.complaint for key in looks.looked_at if (poll := looks.polls.get(key)) and poll.complaint}
    return complaints, [key for key in keys if key not in looks.looked_at]
