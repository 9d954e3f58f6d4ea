"""How often an address may say a wrong token.

Ten at once, then ten a minute. Until it may again, nothing that it says is compared, except with tokens that were right
from there before: else whoever shares an address with one who guesses would be shut out.
"""

import ipaddress
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

_AT_ONCE = 10
_FORGOTTEN_AFTER_S = 6.0
# What is known of addresses stays small, however many ask.
_MOST_ADDRESSES = 10_000
_MOST_RIGHT = 100
# A customer of a provider has at least as many addresses of IPv6.
_PREFIX_OF_V6 = 64


@dataclass(slots=True)
class _Record:
    """`wrong` is as of the moment `at`, in seconds; `right` are digests."""

    wrong: float = 0.0
    at: float = 0.0
    right: OrderedDict[bytes, None] = field(default_factory=OrderedDict)


@dataclass
class Attempts:
    """What addresses said; `now` are seconds that only grow."""

    now: Callable[[], float]
    _records: OrderedDict[str, _Record] = field(default_factory=OrderedDict)

    def wait_s(self, address: str, digest: bytes) -> float:
        """How long nothing is compared of what this address says; 0 where it is."""
        record = self._records.get(_group(address))
        if record is None or digest in record.right:
            return 0.0
        return max(0.0, (self._wrong(record) - _AT_ONCE + 1) * _FORGOTTEN_AFTER_S)

    def was_wrong(self, address: str) -> None:
        record = self._record(address)
        record.wrong, record.at = self._wrong(record) + 1, self.now()

    def was_right(self, address: str, digest: bytes) -> None:
        right = self._record(address).right
        right[digest] = None
        right.move_to_end(digest)
        while len(right) > _MOST_RIGHT:
            right.popitem(last=False)

    def _wrong(self, record: _Record) -> float:
        return max(0.0, record.wrong - (self.now() - record.at) / _FORGOTTEN_AFTER_S)

    def _record(self, address: str) -> _Record:
        group = _group(address)
        record = self._records.setdefault(group, _Record(at=self.now()))
        self._records.move_to_end(group)
        while len(self._records) > _MOST_ADDRESSES:
            self._records.popitem(last=False)
        return record


def _group(address: str) -> str:
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if found.version == 4:
        return address
    return str(found.ipv4_mapped or ipaddress.ip_network((int(found), _PREFIX_OF_V6), strict=False))
