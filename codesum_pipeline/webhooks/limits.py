"""What a sender may ask for: bounds in bytes, in time and in number, for strangers as for hosts."""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import ip_address, ip_network

from aiolimiter import AsyncLimiter
from msgspec import Struct, field

# Senders and deliveries that are remembered; older ones are forgotten for newer ones.
MOST_SENDERS = 4_096
MOST_DELIVERIES = 10_000
# As long as one that was sent twice is known again. A push back and forth within it is found by polling.
REMEMBERED_S = 600.0
_MINUTE_S = 60.0
# Of an IPv6 address, what one customer has.
_IPV6_CUSTOMER_BITS = 64


class SenderRates(Struct):
    """How many requests each address may still send in this minute."""

    max_per_minute: int
    _limiters: OrderedDict[str, AsyncLimiter] = field(default_factory=OrderedDict)

    async def allows(self, client: str) -> bool:
        """Whether there is room for one more, which is then counted."""
        limiter = self._limiter_of(_customer(client))
        if not limiter.has_capacity():
            return False
        await limiter.acquire()
        return True

    def _limiter_of(self, customer: str) -> AsyncLimiter:
        found = self._limiters.pop(customer, None) or AsyncLimiter(self.max_per_minute, _MINUTE_S)
        self._limiters[customer] = found
        while len(self._limiters) > MOST_SENDERS:
            self._limiters.popitem(last=False)
        return found


class SeenDeliveries(Struct):
    """Those that were accepted lately: by their id, and by their body, to which a stranger could give another id."""

    clock: Callable[[], float] = time.monotonic
    _seen: OrderedDict[bytes, float] = field(default_factory=OrderedDict)

    def is_new(self, delivery_id: str, body: bytes) -> bool:
        """Whether it was not accepted before; from now on it was."""
        now = self.clock()
        while self._seen and (len(self._seen) > MOST_DELIVERIES or self._oldest < now - REMEMBERED_S):
            self._seen.popitem(last=False)
        names = [hashlib.sha256(b"body" + body).digest()]
        if delivery_id:
            names.append(hashlib.sha256(b"id" + delivery_id.encode()).digest())
        is_new = not any(name in self._seen for name in names)
        if is_new:
            self._seen.update(dict.fromkeys(names, now))
        return is_new

    @property
    def _oldest(self) -> float:
        return next(iter(self._seen.values()))


def _customer(client: str) -> str:
    try:
        address = ip_address(client)
    except ValueError:
        return client[:100]
    if address.version == 4:
        return client
    return str(ip_network((address, _IPV6_CUSTOMER_BITS), strict=False))
