"""`codesum export` and `codesum import`: the index of a commit as a file, for other homes to build on."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import to_builtins
from rich.filesize import decimal

from codesum_pipeline.builds.bundles.bundle_download import fetch_bundle
from codesum_pipeline.builds.bundles.bundle_file import OpenedBundle, opened_bundle
from codesum_pipeline.builds.bundles.bundle_import import import_bundle
from codesum_pipeline.builds.bundles.bundle_trust import BundleTrust, read_pin
from codesum_pipeline.builds.bundles.exporting import export_bundle
from codesum_pipeline.foundation.data_model.errors import BundleRefused, ConfigurationError
from codesum_pipeline.foundation.data_model.ids import check_repository_key
from codesum_pipeline.foundation.data_model.printable import count_noun
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.lease import hold_repository
from codesum_pipeline.source.git.git_addresses import shown_location
from codesum_pipeline.ways_in.cli.entry_finding import EntryOptions, find_entry, place_of
from codesum_pipeline.ways_in.cli.invocation import Invocation, make_home
from codesum_pipeline.ways_in.cli.progress_bar import show_progress
from codesum_pipeline.ways_in.cli.render import print_json, show_parts, write_note

if TYPE_CHECKING:
    from codesum_pipeline.builds.bundles.bundle_import import ImportReport


def export(invocation: Invocation, key: str, file: Path, sign: Path | None = None, as_json: bool = False) -> None:
    """Write a repository's index as a file, for other machines to build on.

    [bold]codesum import[/] reads the file. It holds the index and nothing else of this home: no keys, tokens, costs,
    runs or paths. The command prints the file's digest, which whoever imports the file can pin with --sha256.

    codesum export shop shop.codesum --sign ~/.ssh/id_ed25519
    """
    home = invocation.home
    if file.exists() and not file.is_file():
        # A folder, a device as /dev/stdout, or a pipe: its place would be taken.
        raise ConfigurationError(f"{file} is no file: name the file to write, as in {key}.codesum")
    workspace = home.workspace(key, run_id="export")
    wait_s = home.settings.lease_wait_s
    with (
        hold_repository(home.layout, key, run_id="export", wait_s=wait_s),
        invocation.with_modes_of_the_caller(),
    ):
        done = export_bundle(workspace, file, key=sign)
    if as_json:
        print_json(to_builtins(done))
        return
    show_parts(f"{key}: commit {done.commit}, {count_noun(done.documents, 'document')}, {decimal(done.bytes)}")
    show_parts(f"sha256 {done.digest}")
    if not done.is_signed:
        write_note("it is not signed: whoever imports it pins the digest above by --sha256")


def import_(
    invocation: Invocation,
    bundle: str,
    location: str | None = None,
    key: str | None = None,
    sha256: str | None = None,
    signers: Path | None = None,
    unsigned: bool = False,
    verify: bool = False,
    as_json: bool = False,
) -> None:
    """Take over an index that another machine exported; the next build makes only what differs.

    A bundle is taken if one of the allowed signers signed it, or if you give its digest. It is taken as a whole or not
    at all; until then searches see the old index.

    codesum import shop.codesum ~/src/shop
    """
    if unsigned and "://" in bundle:
        raise ConfigurationError("--unsigned is for files of this machine: pin what is fetched by --sha256")
    pinned = read_pin(sha256) if sha256 is not None else None
    settings = invocation.settings.bundles
    trust = BundleTrust(signers or settings.allowed_signers, pinned, is_unsigned_allowed=unsigned)
    with _opened(invocation, bundle) as opened:
        why = trust.check(opened)
        entry = _entry_of(invocation, opened, location, key)
        make_home(invocation.settings)
        with show_progress() as progress:
            done = import_bundle(invocation.home, opened, entry, is_verified=verify, progress=progress)
    # Where Dagster has no records yet, its first build or look at the repositories makes them.
    if done.is_new and invocation.layout.dagster_home.exists():
        # It imports Dagster, which takes as long as a small import.
        from codesum_pipeline.builds.dagster.control import register_partitions

        register_partitions(invocation.home, [done.key])
    if as_json:
        print_json({**to_builtins(done), "trust": why})
        return
    _show(done, entry, why)


def _show(done: "ImportReport", entry: RepositoryEntry, why: str) -> None:
    if done.is_new:
        write_note(f"{done.key}: registered, {place_of(entry)}")
    made = f"{done.parsed:,} parsed, {done.written:,} written, {done.embedded:,} embedded"
    show_parts(
        f"{done.key}: commit {done.commit[:12]} imported: {count_noun(done.documents, 'document')} of "
        f"{count_noun(done.files, 'file')}; made here: {made}; {why}"
    )
    if done.confirmed:
        show_parts(f"a build from scratch gives the same tables: {', '.join(done.confirmed)}")
    if done.head is not None and done.head != done.commit:
        write_note(f"{done.key}: HEAD is {done.head[:12]}: `codesum index {done.key}` builds what differs")


@contextmanager
def _opened(invocation: Invocation, bundle: str) -> Iterator[OpenedBundle]:
    """A bundle of this machine, or one that is fetched first."""
    settings = invocation.settings
    if not bundle.strip():
        raise ConfigurationError("the name of the bundle is empty: name a file that `codesum export` wrote")
    with tempfile.TemporaryDirectory(prefix="codesum-import-") as folder:
        file, called = Path(bundle).expanduser(), bundle
        if "://" in bundle:
            file, called = Path(folder) / "bundle", shown_location(bundle)
            if settings.offline:
                raise ConfigurationError(f"{called}: nothing is fetched offline: name a file of this machine")
            with show_progress() as progress:
                fetch_bundle(bundle, file, settings.bundles, progress=progress)
        with opened_bundle(file, called=called, max_mb=settings.bundles.max_mb) as opened:
            yield opened


def _entry_of(invocation: Invocation, bundle: OpenedBundle, location: str | None, key: str | None) -> RepositoryEntry:
    """The entry that a bundle becomes the index of: registered, or new."""
    wanted = check_repository_key(key or bundle.header.key)
    known = {entry.key: entry for entry in invocation.registry.entries()}
    if location is None:
        if wanted not in known:
            raise ConfigurationError(
                f"{bundle.called}: no repository {wanted!r} is registered here: name its clone or URL, as in "
                f"`codesum import {bundle.called} LOCATION`"
            )
        return known[wanted]
    entry, is_known = find_entry(invocation.registry, location, EntryOptions(key=key))
    if is_known:
        return entry
    entry = RepositoryEntry(key=wanted, location=entry.location, subdir=entry.subdir)
    if wanted in known:
        raise BundleRefused(
            f"{bundle.called}: repository {wanted!r} is registered here with {place_of(known[wanted])}, not with "
            f"{place_of(entry)}: choose another key with --key"
        )
    return entry
