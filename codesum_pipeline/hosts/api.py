"""What every host can be asked, and what its refusals mean."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from codesum_pipeline.model.errors import ConfigurationError, HostUnavailable
from codesum_pipeline.model.organisation import ListedRepository, Organisation
from codesum_pipeline.model.printable import one_line
from codesum_pipeline.source.organisations import token_variable

PAGE_SIZE = 100
_SHOWN = 200
# Longer than any header's number of seconds.
_LONGEST_NUMBER = 12


class OwnerNotFound(ConfigurationError):
    """The host has no account of that name, or does not show it to this token."""


class HostApi(Protocol):
    """One server's API, asked with one token."""

    def page(self, number: int) -> Sequence[ListedRepository]:
        """A page of the account's repositories, counted from 1; empty behind the last one.

        Raises `OwnerNotFound`, `ConfigurationError` for a token that may not, and `HostUnavailable` where the same
        request may go well later.
        """
        ...


class Access(Struct, frozen=True):
    """Whose repositories are asked for, and how."""

    organisation: Organisation
    token: str | None
    timeout_s: float

    def refusal(self, status: int, headers: Mapping[str, str], said: str) -> Exception:
        """The error that an answer with this status is."""
        told = one_line(said)[:_SHOWN]
        where = f"{self.organisation.name}: {self.organisation.url} answers {status}{f' ({told})' if told else ''}"
        lower = {name.lower(): value for name, value in headers.items()}
        is_limit = status == 429 or lower.get("x-ratelimit-remaining") == "0" or "retry-after" in lower
        if status >= 500 or status == 408 or (status in (403, 429) and (is_limit or "rate limit" in told.lower())):
            return HostUnavailable(where, retry_after_s=_wait_of(lower))
        if status == 404:
            return OwnerNotFound(f"{where}: it has no account {self.organisation.owner!r}, or none that it shows")
        return ConfigurationError(f"{where}: {self._way_out}")

    def unreachable(self, error: Exception) -> HostUnavailable:
        """The error where no answer came."""
        told = one_line(str(error))[:_SHOWN] or type(error).__name__
        return HostUnavailable(f"{self.organisation.name}: {self.organisation.url} cannot be reached: {told}")

    @property
    def _way_out(self) -> str:
        variable = token_variable(self.organisation)
        if variable is None:
            return "name the environment variable of its token: token_env"
        return f"give a token that may read it, in {variable}" + ("" if self.token else ", which is not set")


def _wait_of(headers: Mapping[str, str]) -> float | None:
    """After how many seconds a host wants to be asked again."""
    for name in ("retry-after", "x-ratelimit-reset", "ratelimit-reset"):
        said = headers.get(name, "")
        if said.isascii() and said.isdigit() and len(said) < _LONGEST_NUMBER:
            # GitHub gives the moment, others the seconds, and some either.
            return float(said) if name == "retry-after" else max(0.0, float(said) - time.time()) + 1
    return None


def list_repositories(
    api: HostApi, *, max_wait_s: float, sleep: Callable[[float], None] = time.sleep
) -> list[ListedRepository]:
    """All of an account's repositories, by their host's id.

    Where the host asks for patience, it gets `max_wait_s` in all. Raises what a page raises: half a list is none.
    """
    found: dict[str, ListedRepository] = {}
    patience = max_wait_s
    number = 1
    while True:
        try:
            page = api.page(number)
        except HostUnavailable as error:
            wait = error.retry_after_s
            if wait is None or wait > patience:
                raise
            patience -= max(wait, 1.0)
            sleep(wait)
            continue
        # What comes from outside and is not what the host documents.
        except (KeyError, TypeError, AttributeError, ValueError, AssertionError) as error:
            raise HostUnavailable(f"page {number} of the list is none of this kind of host: {error!r}") from error
        new = {each.host_id: each for each in page if each.host_id not in found}
        # A host that does not know pages gives the first one again and again.
        if not new:
            return [found[host_id] for host_id in sorted(found)]
        found |= new
        number += 1
