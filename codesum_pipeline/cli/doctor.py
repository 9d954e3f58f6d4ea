"""`codesum doctor`: what is wrong in a home, and the way out of each."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct
from rich.text import Text

from codesum_pipeline.cli.failures import FAILED
from codesum_pipeline.cli.invocation import invocation
from codesum_pipeline.cli.options import argument, complete_keys, switch
from codesum_pipeline.cli.render import indented, note, safe_json, show, styled
from codesum_pipeline.cli.troubles import digest_troubles, index_troubles
from codesum_pipeline.homes.folders import check_may_be_own, record_home
from codesum_pipeline.indexes.verify import verify_index
from codesum_pipeline.model.errors import BrokenStore, BucketUnavailable, CannotWrite, CodesumError, ConfigurationError
from codesum_pipeline.model.printable import counted, one_line
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.store.heads import broken_promises, examine_heads, release_head
from codesum_pipeline.store.layout import BucketPlace, reading_copy
from codesum_pipeline.store.lease import current_holder, release_lease
from codesum_pipeline.wiring import Home

# One broken file can make every document wrong: the first ones tell enough.
_SHOWN_PER_REPOSITORY = 20


class Problem(Struct, frozen=True):
    """Something about one repository, or else what it is `about`, and the way out; None: nothing is left to do."""

    repo: str | None
    what: str
    way_out: str | None
    about: str = "Dagster"

    @property
    def heading(self) -> str:
        return self.repo or self.about


def doctor(
    ctx: typer.Context,
    key: Annotated[str | None, argument("KEY", "Look at this repository alone.", autocompletion=complete_keys)] = None,
    release_lease: Annotated[
        bool,
        switch(
            "--release-lease",
            "Take the lease of KEY away from whoever holds it. Only for a holder on a machine that is gone: "
            "two builds of one repository at a time can break its index.",
        ),
    ] = False,
    trust: Annotated[
        bool,
        switch(
            "--trust",
            "Record that the home is yours, so that it counts without being named. Only for one whose settings "
            "you know: they can run code, and send sources and keys to any address.",
        ),
    ] = False,
    llm: Annotated[
        bool,
        switch(
            "--llm",
            "Look whether the language model could be asked now: its key is there, its server listens. Costs "
            "nothing, and does not tell whether the model's name is right.",
        ),
    ] = False,
    as_json: Annotated[bool, switch("--json", "Print one JSON object per problem.")] = False,
) -> None:
    """Check published indexes, leases, runs, digests and Dagster's records, and say how to repair them.

    Every published index is compared with its manifest and with the tables; a registered repository without one is
    named, and data of one that is not registered; runs whose process is gone are marked as failed, so that Dagster
    starts new ones; broken records of Dagster are mended, or kept aside and begun anew. Of digests it names standing
    questions and channels that cannot be used, and what could not be written or sent. Of a compiler's index it says for
    how many files it counts, and how often it and the syntax differ. Of a home in a bucket it looks whether the bucket
    can be reached and swaps objects, who holds repositories, and whether all parts are there; with KEY the index of one
    is fetched and compared. Ends with exit code 1 when anything is to be done.
    """
    called = invocation(ctx)
    if trust:
        _trust(called.settings.home)
        return
    home = Home(called.settings)
    if release_lease:
        _release(home, key)
    entries = (
        [home.registry.get(key)] if key else [entry for entry in home.registry.entries() if _concerns(home, entry)]
    )
    problems = [
        *(() if key else _misconfigured(home)),
        *_bucket(home, [entry.key for entry in entries] if key else []),
        *(problem for entry in entries for problem in _examine(home, entry, is_deep=bool(key))),
        *(() if key else _unregistered(home)),
        *(() if key else _digests(home)),
        *(() if key else _scattered(home)),
        *_dagsters_records(home),
        *(_model(home) if llm else ()),
    ]
    if as_json:
        for problem in problems:
            typer.echo(safe_json({"repo": problem.repo, "what": problem.what, "way_out": problem.way_out}))
    else:
        _show(problems, [entry.key for entry in entries])
    if any(problem.way_out for problem in problems):
        raise typer.Exit(FAILED)


def _trust(home: Path) -> None:
    if not home.is_dir():
        raise ConfigurationError(f"there is no home at {home}: `codesum add` and `codesum index` make one")
    check_may_be_own(home)
    record_home(home)
    note(f"{home} is recorded as yours: it counts in {home.parent} and below without being named")


def _release(home: Home, key: str | None) -> None:
    if key is None:
        raise ConfigurationError("--release-lease needs the KEY of one repository")
    entry, bucket = home.registry.get(key), home.layout.bucket
    holder = _release_in_bucket(bucket, entry.key) if bucket else release_lease(home.layout.state(entry.key))
    note(f"{key}: the lease of {holder} is released" if holder else f"{key}: nobody holds the lease")


def _bucket(home: Home, keys: Sequence[str]) -> Iterator[Problem]:
    if home.layout.bucket:
        for key, what, way_out in _bucket_troubles(home.layout.bucket, keys):
            yield Problem(key, what, way_out, about="Bucket")


def _bucket_troubles(place: BucketPlace, keys: Sequence[str]) -> Iterator[tuple[str | None, str, str | None]]:
    """Whether the bucket can be reached and swaps objects, who builds, and which states are not whole: each with its
    repository, what is wrong, and the way out."""
    objects = place.objects()
    try:
        for promise in broken_promises(objects):
            way_out = "keep the home in a store with conditional writes (If-None-Match and If-Match), or in a folder"
            yield None, f"{place.url}: {promise}", way_out
        for found in examine_heads(objects, keys):
            yield found.key, found.what, f"codesum index {found.key} --rebuild" if found.is_broken else None
    except BucketUnavailable as error:
        yield None, str(error), "see that the endpoint is right and can be reached from here"
    except ConfigurationError as error:
        yield None, str(error), "correct the address or the credentials"


def _release_in_bucket(place: BucketPlace, key: str) -> str | None:
    """Who held the lease of a repository; whoever it was can commit nothing any more."""
    holder = release_head(place.objects(), key)
    return f"run {holder.run_id} on {holder.host}" if holder else None


def _scattered(home: Home) -> Iterator[Problem]:
    """Digests are kept by each worker for itself."""
    if home.layout.bucket and home.settings.engine.launcher != "local" and home.intents.survey().intents:
        what = f"{home.intents.file.name}: each worker keeps what waits for a digest; no digest has it of all workers"
        way_out = (
            "build what the questions are about, and make their digests, on one worker; or keep the home in a folder"
        )
        yield Problem(None, what, way_out, about="Bucket")


def _misconfigured(home: Home) -> Iterator[Problem]:
    for key, error in home.registry.survey().problems.items():
        yield Problem(key, str(error), f"correct the entry in {home.registry.file}")


def _unregistered(home: Home) -> Iterator[Problem]:
    for key in home.unregistered_keys():
        what = f"it is not in {home.registry.file.name}, but its data are kept"
        yield Problem(key, what, f"codesum remove {key} --purge")


def _concerns(home: Home, entry: RepositoryEntry) -> bool:
    """Not where a repository was removed before it had an index: nobody waits for one."""
    return entry.enabled or _is_built(home, entry)


def _is_built(home: Home, entry: RepositoryEntry) -> bool:
    """Whether a build came as far as an index, published or not."""
    is_published = os.path.lexists(home.layout.published(entry.key))
    return is_published or home.tables.readable_path("candidate", entry.key) is not None


def _examine(home: Home, entry: RepositoryEntry, *, is_deep: bool) -> Iterator[Problem]:
    try:
        yield from _lease(home, entry)
    except BrokenStore as error:
        yield Problem(entry.key, str(error), f"rm {home.layout.state(entry.key)}")
    if not _is_built(home, entry):
        way_out = f"codesum index {entry.key}" if entry.enabled else f"codesum add {entry.key}"
        yield Problem(entry.key, "it has no index yet" if entry.enabled else "it is removed, and has no index", way_out)
        return
    if copy := reading_copy(home.layout.home):
        if not is_deep:
            # To compare them is to fetch them: that is for one repository at a time.
            return
        copy.bring_state(entry.key)
    try:
        findings = verify_index(home.layout, entry.key, tables=home.tables)
    except CodesumError as error:
        yield Problem(entry.key, str(error), f"codesum index {entry.key} --rebuild")
        return
    for what, way in index_troubles(home, entry.key):
        yield Problem(entry.key, what, way)
    way_out = f"codesum index {entry.key} --force"
    for finding in findings[:_SHOWN_PER_REPOSITORY]:
        yield Problem(entry.key, f"{finding.check}: {finding.subject}: {finding.detail}", way_out)
    if len(findings) > _SHOWN_PER_REPOSITORY:
        yield Problem(entry.key, f"{len(findings) - _SHOWN_PER_REPOSITORY:,} more findings", way_out)


def _lease(home: Home, entry: RepositoryEntry) -> Iterator[Problem]:
    holder = current_holder(home.layout.state(entry.key))
    if holder and holder.is_gone():
        yield Problem(entry.key, f"the last build was killed: {holder}", f"codesum index {entry.key}")


def _dagsters_records(home: Home) -> Iterator[Problem]:
    """Mends them, and marks runs as failed whose process is gone: Dagster would believe for hours that they go on."""
    if not home.layout.dagster_home.is_dir():
        return
    from codesum_pipeline.defs.control import end_vanished_runs, mend_records

    try:
        mended = mend_records(home)
        ended = end_vanished_runs(home)
    except CannotWrite as error:
        yield Problem(None, f"runs are not looked at: {error}", None)
        return
    for what in mended:
        yield Problem(None, what, None)
    if mended:
        yield Problem(None, "the indexes are not touched, and Dagster knows all repositories again", None)
    for run_id in ended:
        yield Problem(None, f"run {run_id}: its process is gone; it is marked as failed now", None)


def _digests(home: Home) -> Iterator[Problem]:
    for trouble in digest_troubles(home):
        yield Problem(None, trouble.what, trouble.way_out, about="Digests")


def _model(home: Home) -> Iterator[Problem]:
    found, way_out = _reach_model(home)
    if way_out:
        yield Problem(None, found, way_out)
    else:
        note(found)


def _reach_model(home: Home) -> tuple[str, str | None]:
    """What is found, and the way out where it cannot be reached. Raises `ConfigurationError` where none is set up.

    Keys are looked for and a server of one's own is called; no model is asked, so a wrong name is not noticed.
    """
    from codesum_pipeline.llm.factory import build_backend
    from codesum_pipeline.summaries.by_model.setup import templates_of

    llm = home.settings.llm
    if not llm.enabled:
        raise ConfigurationError("--llm: no language model is set up (llm.enabled is false)")
    if asyncio.run(build_backend(llm, templates_of(home.settings)).health()):
        return f"{llm.model} can be reached; whether a model has this name shows with the first call", None
    if llm.asks_nobody:
        return f"llm.backend = {llm.backend.value!r} cannot answer", "set llm.backend, or llm.recording to a recording"
    key = f"put its key into {llm.api_key_env}" if llm.api_key_env else "put its key into the environment"
    server = f", and see that something listens at {llm.api_base}" if llm.api_base else ""
    return f"{llm.model} cannot be reached: its key is missing or nobody answers", f"{key}{server}"


def _show(problems: Sequence[Problem], keys: Sequence[str]) -> None:
    """The problems of one repository together, each way out once."""
    for heading in dict.fromkeys(problem.heading for problem in problems):
        here = [problem for problem in problems if problem.heading == heading]
        show(Text(heading, style="bold"))
        for problem in here:
            show(indented(Text(one_line(problem.what)), 2))
        for way_out in dict.fromkeys(problem.way_out for problem in here):
            if way_out:
                show(indented(Text.assemble("way out: ", (way_out, "cyan")), 2, below=1))
    open_ones = {problem.repo for problem in problems if problem.way_out}
    sound = [key for key in keys if key not in open_ones]
    if sound:
        show(styled(f"{counted(len(sound), 'repository', 'repositories')} in order: {', '.join(sound)}", "green"))
    if not keys:
        note("no repository is registered: `codesum index PATH|URL` registers and indexes one")
