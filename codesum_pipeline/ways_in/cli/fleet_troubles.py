"""What `codesum doctor` says of the fleet: what failed too often, is behind, or waits for a part.

Only what a person has to see to has a way out: the daemon tries the rest again by itself.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from codesum_pipeline.answers.agent_tools.fleet_reading import behind_for, is_late, read_fleet, remark_of
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.steps.fleet_states import read_record
from codesum_pipeline.builds.steps.freshness import IndexState, allowed_lag
from codesum_pipeline.foundation.data_model.printable import count_noun, some_of
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.ways_in.cli.troubles import Problem

_ABOUT = "Fleet"
_NAMED = 10
_BEHIND = (IndexState.BEHIND, IndexState.CHANGED, IndexState.UPGRADED)


def fleet_troubles(home: Home, entries: Sequence[RepositoryEntry]) -> Iterator[Problem]:
    """Nothing where no daemon has looked at the home yet."""
    if read_record(home)[0] is None:
        return
    fleet = read_fleet(home, [entry for entry in entries if entry.enabled])
    for trouble in fleet.troubles:
        yield Problem(None, trouble, about=_ABOUT)
    if fleet.record and fleet.record.is_late:
        yield Problem(
            None, "no repository is built by itself now", f"start `codesum dev` on {fleet.record.host}", _ABOUT
        )
    in_time = []
    for each in fleet.repositories:
        if each.state == IndexState.FAILED:
            yield Problem(each.key, remark_of(each), f"codesum retry {each.key}, once what the run says is mended")
        elif each.state == IndexState.UNREADABLE:
            yield Problem(each.key, f"it cannot be read: {remark_of(each)}")
        elif each.state in (IndexState.STOPPED, IndexState.WAITING):
            yield Problem(each.key, f"{each.state}: {remark_of(each)}")
        elif each.state in _BEHIND and is_late(each, home.settings.checks):
            hours = allowed_lag(home.settings.checks, each.entry) / timedelta(hours=1)
            what = (
                f"behind for {behind_for(each)}, longer than the {hours:g} h of checks.behind_hours: {remark_of(each)}"
            )
            yield Problem(each.key, what, f"see what keeps it from being built: codesum status {each.key}")
        elif each.state in _BEHIND:
            in_time.append(each.key)
    if in_time:
        number = count_noun(len(in_time), "repository is", "repositories are")
        yield Problem(None, f"{number} behind, and will be built: {some_of(in_time, _NAMED)}", about=_ABOUT)
