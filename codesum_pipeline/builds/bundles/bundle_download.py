"""A bundle is fetched from an https address: without the user's passwords, within a size and a time."""

import asyncio
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
# A server may be silent for so long.
_SILENCE_S = 30.0
_LONGEST_NUMBER = 20


def is_address(text: str) -> bool:
    """Whether a bundle is to be fetched, and not read from a file."""
    return "://" in text


def fetch_bundle(address: str, to: Path, settings: BundleSettings, *, progress: Progress = no_progress) -> None:
    """Write what an address has into the new file `to`; raises `BundleRefused`, `RepositoryUnavailable`,
    `CannotWrite`."""
    called = shown_location(address)
    try:
        asyncio.run(_fetch(address, to, settings, called=called, progress=progress))
    except TimeoutError as error:
        raise BundleRefused(
            f"{called}: its download took more than {settings.timeout_s:g} s: fetch the file with "
            "another tool, then import it"
        ) from error
    except httpx.InvalidURL as error:
        raise BundleRefused(f"{called}: it is no https address: {one_line(str(error))}") from error
    except httpx.HTTPError as error:
        reason = one_line(str(error)) or type(error).__name__
        raise RepositoryUnavailable(f"{called}: it cannot be fetched: {reason}: try again later") from error


async def _fetch(address: str, to: Path, settings: BundleSettings, *, called: str, progress: Progress) -> None:
    # No cookies, no `.netrc`: whoever needs a password fetches the file with a tool that knows it.
    client = httpx.AsyncClient(timeout=_SILENCE_S, headers={"Accept-Encoding": "identity"})
    async with asyncio.timeout(settings.timeout_s), client:
        url = httpx.URL(address)
        for _ in range(MOST_REDIRECTS + 1):
            _check_address(url, called)
            async with client.stream("GET", url) as answer:
                if not answer.has_redirect_location:
                    await _receive(answer, to, settings, called=called, progress=progress)
                    return
                url = url.join(answer.headers["location"])
                client.cookies.clear()
    raise BundleRefused(f"{called}: it redirects more than {MOST_REDIRECTS} times")


def _check_address(url: httpx.URL, called: str) -> None:
    if url.scheme != "https" or not url.host:
        raise BundleRefused(f"{called}: only https addresses are fetched, and this leads to {url.scheme}://{url.host}")
    if url.userinfo:
        raise BundleRefused(
            f"{called}: an address with a password is not fetched: fetch the file with another tool, then import it"
        )


async def _receive(
    answer: httpx.Response, to: Path, settings: BundleSettings, *, called: str, progress: Progress
) -> None:
    if answer.status_code != httpx.codes.OK:
        raise BundleRefused(f"{called}: the server answers {answer.status_code}: no bundle is there")
    most, size = settings.max_mb * _MB, 0
    said = answer.headers.get("content-length", "")
    total = int(said) if said.isascii() and said.isdigit() and len(said) <= _LONGEST_NUMBER else 0
    with explain_refused_writes(to), to.open("xb") as file:
        if total > most:
            raise _too_large(called, settings)
        # As they come: parts of a fixed size would wait for a server that sends a byte now and then.
        async for part in answer.aiter_raw():
            size += len(part)
            if size > most:
                raise _too_large(called, settings)
            file.write(part)
            progress("fetching the bundle", size, max(size, total))


def _too_large(called: str, settings: BundleSettings) -> BundleRefused:
    return BundleRefused(f"{called}: it has more than {settings.max_mb:,} MB (bundles.max_mb)")
