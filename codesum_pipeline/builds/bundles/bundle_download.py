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
# A server may be silent for so long.
_SILENCE_S = 30.0


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
    except (httpx.InvalidURL, httpx.TooManyRedirects) as error:
        raise BundleRefused(f"{called}: it cannot be fetched: {one_line(str(error))}") from error
    except httpx.HTTPError as error:
        reason = one_line(str(error)) or type(error).__name__
        raise RepositoryUnavailable(f"{called}: it cannot be fetched: {reason}: try again later") from error


async def _fetch(address: str, to: Path, settings: BundleSettings, *, called: str, progress: Progress) -> None:
    async def check(request: httpx.Request) -> None:
        """Called before each request, also that of a redirect."""
        url = request.url
        if url.scheme != "https" or not url.host or url.userinfo:
            leads = f"{url.scheme}://{url.host}"
            raise BundleRefused(f"{called}: only https addresses without a password are fetched, not one of {leads}")
        request.headers.pop("cookie", None)

    client = httpx.AsyncClient(
        timeout=_SILENCE_S,
        headers={"Accept-Encoding": "identity"},
        follow_redirects=True,
        max_redirects=MOST_REDIRECTS,
        event_hooks={"request": [check]},
    )
    async with asyncio.timeout(settings.timeout_s), client, client.stream("GET", address) as answer:
        if answer.status_code != httpx.codes.OK:
            raise BundleRefused(f"{called}: the server answers {answer.status_code}: no bundle is there")
        size, total = 0, int(answer.headers.get("content-length", 0))
        with explain_refused_writes(to), to.open("xb") as file:
            # As they come: parts of a fixed size would wait for a server that sends a byte now and then.
            async for part in answer.aiter_raw():
                size += len(part)
                if max(size, total) > settings.max_mb << 20:
                    raise BundleRefused(f"{called}: it has more than {settings.max_mb:,} MB: raise bundles.max_mb")
                file.write(part)
                progress("fetching the bundle", size, max(size, total))
