"""A bundle is fetched from an https address: without the user's passwords, within a size and a time."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from codesum_pipeline.foundation.data_model.errors import BundleRefused, RepositoryUnavailable
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.data_model.progress import Progress, no_progress
from codesum_pipeline.foundation.settings.operation_settings import BundleSettings
from codesum_pipeline.foundation.store.atomic import explain_refused_writes
from codesum_pipeline.source.git.git_addresses import shown_location

MOST_REDIRECTS = 5
_MB = 1 << 20
_PART = 1 << 20
_CONNECT_S = 30.0


def is_address(text: str) -> bool:
    """Whether a bundle is to be fetched, and not read from a file."""
    return "://" in text


def fetch_bundle(address: str, to: Path, settings: BundleSettings, *, progress: Progress = no_progress) -> None:
    """Write what an address has into the new file `to`; raises `BundleRefused`, `RepositoryUnavailable`,
    `CannotWrite`."""
    called = shown_location(address)
    deadline = time.monotonic() + settings.timeout_s
    # No cookies, no `.netrc`: whoever needs a password fetches the file with a tool that knows it.
    client = httpx.Client(timeout=min(_CONNECT_S, settings.timeout_s), headers={"Accept-Encoding": "identity"})
    try:
        with client, _answered(client, address, called) as answer:
            _receive(answer, to, settings, called=called, deadline=deadline, progress=progress)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = one_line(str(error)) or type(error).__name__
        raise RepositoryUnavailable(f"{called}: it cannot be fetched: {reason}: try again later") from error


@contextmanager
def _answered(client: httpx.Client, address: str, called: str) -> Iterator[httpx.Response]:
    """The answer behind all redirects."""
    url = httpx.URL(address)
    for _ in range(MOST_REDIRECTS + 1):
        if url.scheme != "https" or not url.host:
            raise BundleRefused(
                f"{called}: only https addresses are fetched, and this leads to {url.scheme}://{url.host}"
            )
        if url.userinfo:
            raise BundleRefused(
                f"{called}: an address with a password is not fetched: fetch the file with another tool, then import it"
            )
        with client.stream("GET", url) as answer:
            if not answer.has_redirect_location:
                if answer.status_code != httpx.codes.OK:
                    raise BundleRefused(
                        f"{called}: the server answers {answer.status_code}: there is no bundle to fetch"
                    )
                yield answer
                return
            url = url.join(answer.headers["location"])
    raise BundleRefused(f"{called}: it redirects more than {MOST_REDIRECTS} times")


def _receive(
    answer: httpx.Response, to: Path, settings: BundleSettings, *, called: str, deadline: float, progress: Progress
) -> None:
    most, size = settings.max_mb * _MB, 0
    said = answer.headers.get("content-length", "")
    total = int(said) if said.isascii() and said.isdigit() and len(said) < len(str(most)) + 2 else 0
    with explain_refused_writes(to), to.open("xb") as file:
        for part in answer.iter_raw(_PART):
            size += len(part)
            if max(size, total) > most:
                raise BundleRefused(
                    f"{called}: it has more than the {settings.max_mb:,} MB that are taken (bundles.max_mb)"
                )
            if time.monotonic() > deadline:
                raise BundleRefused(
                    f"{called}: its download took more than {settings.timeout_s:g} s (bundles.timeout_s): fetch the "
                    "file with another tool, then import it"
                )
            file.write(part)
            progress("fetching the bundle", size, max(size, total))
