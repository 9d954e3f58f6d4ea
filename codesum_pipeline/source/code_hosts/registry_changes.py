"""The changes that bring the registry to what a code host lists of an organisation; a pure function."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry, Retirement
from codesum_pipeline.source.git.git_addresses import named_location, take_apart
from codesum_pipeline.source.git.locations import address_of, free_key, is_url, key_base, parse_location
from codesum_pipeline.source.repositories.organisations import ListedRepository, Organisation

# So few may go at once whatever their share: of three repositories, one is a third.
ALWAYS_RETIRED = 2


class SyncPlan(Struct, frozen=True):
    """What changes: entries that are new, that have another address, that are back, and that are retired.

    `held` would be retired, and are not, because of `why_held`. `unusable` says of listed repositories why they cannot
    be registered; `left_out` counts why others are not.
    """

    added: tuple[RepositoryEntry, ...] = ()
    moved: tuple[RepositoryEntry, ...] = ()
    returned: tuple[RepositoryEntry, ...] = ()
    retired: tuple[RepositoryEntry, ...] = ()
    held: tuple[RepositoryEntry, ...] = ()
    why_held: str = ""
    unusable: tuple[str, ...] = ()
    left_out: tuple[tuple[str, int], ...] = ()
    kept: int = 0

    @property
    def written(self) -> tuple[RepositoryEntry, ...]:
        """The entries that the registry has to write."""
        return (*self.added, *self.moved, *self.returned, *self.retired)


class SyncRules(Struct, frozen=True):
    """When it is done, and how much it may do: `max_retired_share` of an organisation's entries, unless confirmed.
    Addresses at hosts in `over_http` may be http."""

    at: str
    max_retired_share: float
    is_confirmed: bool = False
    over_http: tuple[str, ...] = ()


def plan_sync(
    organisation: Organisation,
    listed: Sequence[ListedRepository],
    entries: Sequence[RepositoryEntry],
    taken: Collection[str],
    rules: SyncRules,
) -> SyncPlan:
    """Compare what is listed with what is registered. `taken` are all keys, in small letters.

    The host's id decides which repository is which, so that a new name or owner keeps its key. What is registered by
    hand, whole or by folders, stays as it is.
    """
    left_out = {one.host_id: why for one in listed if (why := why_left_out(organisation, one))}
    wanted = [one for one in listed if one.host_id not in left_out]
    usable, unusable = _located(organisation, wanted, rules.over_http)
    known = {entry.host_id: entry for entry in entries if entry.organisation and entry.host_id}
    by_hand = {address_of(entry.location) for entry in entries if not entry.organisation}
    new = {one: place for one, place in usable.items() if one.host_id not in known and address_of(place) not in by_hand}
    still = {one: place for one, place in usable.items() if one.host_id in known}
    brought = []
    for one, place in still.items():
        entry = known[one.host_id]
        # Whoever disabled it by hand keeps it so.
        is_enabled = entry.enabled or entry.retired is not None
        now = replace(entry, location=place, organisation=organisation.name, enabled=is_enabled, retired=None)
        brought.append((entry, now))
    gone = _gone(organisation, entries, {one.host_id for one in wanted}, left_out, rules.at)
    why_held = _why_held(gone, entries, organisation, is_empty=not listed, rules=rules)
    return SyncPlan(
        added=_sorted(_new_entries(organisation, new, taken)),
        moved=_sorted(after for before, after in brought if after != before and not before.retired),
        returned=_sorted(after for before, after in brought if before.retired),
        retired=() if why_held else gone,
        held=gone if why_held else (),
        why_held=why_held,
        unusable=tuple(sorted(unusable)),
        left_out=tuple(sorted(Counter(left_out.values()).items())),
        kept=sum(after == before for before, after in brought),
    )


def why_left_out(organisation: Organisation, one: ListedRepository) -> str:
    """Why a listed repository is not wanted; empty if it is."""
    if one.is_archived and not organisation.archived:
        return "archived"
    if one.is_fork and not organisation.forks:
        return "fork"
    if organisation.include and not _matches(one, organisation, organisation.include):
        return "not included"
    return "excluded" if _matches(one, organisation, organisation.exclude) else ""


def _matches(one: ListedRepository, organisation: Organisation, globs: Iterable[str]) -> bool:
    """A glob is for the name, or with a slash for the path below the account, in any case."""
    path = one.path.lower().removeprefix(f"{organisation.owner.lower()}/")
    return any(fnmatchcase(path if "/" in glob else path.rpartition("/")[2], glob.lower()) for glob in globs)


def _located(
    organisation: Organisation, wanted: Iterable[ListedRepository], over_http: Collection[str]
) -> tuple[dict[ListedRepository, str], list[str]]:
    """Where git fetches each from; a host may not name a folder of this machine, nor a password."""
    places: dict[ListedRepository, str] = {}
    unusable = []
    for one in wanted:
        url = one.ssh_url if organisation.ssh else one.https_url
        try:
            place = parse_location(url, base=Path("/"), over_http=over_http)
            address = take_apart(place) if is_url(place) else None
            if address is None or (address.scheme == "https" and address.environment):
                raise ConfigurationError(f"{named_location(url)}: give an https or ssh URL without a password")
            places[one] = place
        except (ConfigurationError, TypeError) as error:
            unusable.append(f"{one.path}: {error}")
    return places, unusable


def _new_entries(
    organisation: Organisation, new: dict[ListedRepository, str], taken: Collection[str]
) -> list[RepositoryEntry]:
    """Each under its name; where that is taken or two have it, under its whole path; then with a number.

    So the keys depend on what is listed, and not on its order.
    """
    names = Counter(key_base(place).lower() for place in new.values())
    used = set(taken)
    made = []
    for one in sorted(new, key=lambda each: (each.path.lower(), each.host_id)):
        name = key_base(new[one])
        if name.lower() in taken or names[name.lower()] > 1:
            name = key_base(one.path.replace("/", "-"))
        key = free_key(name, used)
        used.add(key.lower())
        made.append(RepositoryEntry(key, new[one], organisation=organisation.name, host_id=one.host_id))
    return made


def _gone(
    organisation: Organisation,
    entries: Iterable[RepositoryEntry],
    wanted: Collection[str],
    left_out: Mapping[str, str],
    at: str,
) -> tuple[RepositoryEntry, ...]:
    """The organisation's entries that are not wanted any more, retired."""
    unlisted = f"no longer listed by {organisation.name}"
    return _sorted(
        replace(entry, enabled=False, retired=Retirement(at, left_out.get(entry.host_id or "", unlisted)))
        for entry in entries
        if entry.organisation == organisation.name and entry.enabled and entry.host_id not in wanted
    )


def _why_held(
    gone: Sequence[RepositoryEntry],
    entries: Sequence[RepositoryEntry],
    organisation: Organisation,
    *,
    is_empty: bool,
    rules: SyncRules,
) -> str:
    """Why nothing is retired at all; empty if it may be."""
    active = sum(entry.enabled and entry.organisation == organisation.name for entry in entries)
    if not gone or rules.is_confirmed:
        return ""
    if is_empty:
        return "the host lists no repository at all"
    if len(gone) > max(ALWAYS_RETIRED, active * rules.max_retired_share):
        return f"{len(gone)} of {active} would be retired, more than {rules.max_retired_share:.0%}"
    return ""


def _sorted(entries: Iterable[RepositoryEntry]) -> tuple[RepositoryEntry, ...]:
    return tuple(sorted(entries, key=lambda entry: entry.key))
