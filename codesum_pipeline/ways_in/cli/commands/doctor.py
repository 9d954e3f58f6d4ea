"""`codesum doctor`: the problems of a home, each with its repair."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer
from rich.text import Text

from codesum_pipeline.builds.codesum_home.home_folders import check_may_be_own, layout_of_builds, record_home
from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.steps.fleet_states import read_record
from codesum_pipeline.foundation.data_model.errors import (
    BrokenStore,
    BucketUnavailable,
    CannotWrite,
    CodesumError,
    ConfigurationError,
    LeaseHeld,
    RecordsUnavailable,
    RetryLater,
)
from codesum_pipeline.foundation.data_model.printable import count_noun, one_line
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.layout import STATE
from codesum_pipeline.foundation.store.lease import current_holder, release_lease
from codesum_pipeline.foundation.store.object_storage.bucket_findings import broken_promises, examine_heads
from codesum_pipeline.foundation.store.object_storage.bucket_record import send_again
from codesum_pipeline.foundation.store.object_storage.heads import release_head
from codesum_pipeline.foundation.store.object_storage.opened_homes import OPENED_HOMES
from codesum_pipeline.indexes.publishing.verify import verify_index
from codesum_pipeline.ways_in.cli.entry_finding import NO_REPOSITORY
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import FAILED, indent_part, print_json, show_parts, style_text, write_note
from codesum_pipeline.ways_in.cli.troubles import Problem, digest_troubles, fleet_troubles, index_troubles

# One broken file can make every document wrong: the first ones are enough.
_SHOWN_PER_REPOSITORY = 20
# How long a request to the bucket is repeated: a person waits.
_BUCKET_RETRY_S = 5.0


def doctor(
    invocation: Invocation,
    key: str | None = None,
    release_lease: bool = False,
    trust: bool = False,
    llm: bool = False,
    as_json: bool = False,
) -> None:
    """Check published indexes, leases, runs, digests and Dagster's records, and say how to repair them.

    Every published index is compared with its manifest and with the tables. Repositories that failed too often or
    are behind are named, and so is data of repositories that are not registered. Runs whose process is gone are marked
    as failed, so that Dagster starts new ones. Broken records of Dagster are moved aside and begun anew.
    Standing questions and channels that cannot be used are named, and so are digests that could not be written or sent.
    For each compiler's index you see how many files use it, and how often it and the syntax disagree. For a home in a
    bucket, the check covers access, conditional writes, leases and missing parts; with KEY, the index of that
    repository is fetched and compared. The exit code is 1 where a person has to do something.
    """
    home = invocation.home
    if trust:
        _trust(home.settings.home)
        return
    if release_lease:
        _release(home, key)
    entries = [home.registry.get(key)] if key else home.registry.entries()
    # Nobody waits for the index of one that was removed before it had any.
    entries = [entry for entry in entries if key or entry.enabled or _is_built(home, entry)]
    problems = [
        *(() if key else _registry(home)),
        *_bucket(home, [entry.key for entry in entries] if key else []),
        *(problem for entry in entries for problem in _examine(home, entry, is_deep=bool(key))),
        *fleet_troubles(home, entries),
        *(() if key else (*digest_troubles(home), *_scattered(home))),
        *_dagsters_records(home),
        *(() if key else _workers(home)),
        *(_model(home) if llm else ()),
    ]
    if as_json:
        print_json(*({"repo": each.repo, "what": each.what, "way_out": each.way_out} for each in problems))
    else:
        _show(problems, [entry.key for entry in entries])
    if any(problem.way_out for problem in problems):
        raise typer.Exit(FAILED)


def _trust(home: Path) -> None:
    if not home.is_dir():
        raise ConfigurationError(f"there is no home at {home}: `codesum add` and `codesum index` make one")
    check_may_be_own(home)
    record_home(home)
    write_note(f"{home} is recorded as yours: it counts in {home.parent} and below without being named")


def _release(home: Home, key: str | None) -> None:
    if key is None:
        raise ConfigurationError(
            "--release-lease needs the KEY of one repository: `codesum doctor KEY --release-lease`"
        )
    entry, bucket = home.registry.get(key), home.layout.bucket
    if bucket:
        # Whoever it was can commit nothing any more.
        found = release_head(OPENED_HOMES.objects(bucket), entry.key)
        holder = f"run {found.run_id} on {found.host}" if found else ""
    else:
        holder = str(release_lease(home.layout.state(entry.key)) or "")
    write_note(f"{key}: the lease of {holder} is released" if holder else f"{key}: nobody holds the lease")


def _bucket(home: Home, keys: Sequence[str]) -> Iterator[Problem]:
    """Whether the bucket can be reached and swaps objects, who builds, and which states are not whole."""
    place = home.layout.bucket
    if place is None:
        return
    objects = OPENED_HOMES.objects(place, most_retry_s=_BUCKET_RETRY_S)
    try:
        for promise in broken_promises(objects):
            way_out = "keep the home in a store with conditional writes (If-None-Match and If-Match), or in a folder"
            yield Problem(None, f"{place.url}: {promise}", way_out, "Bucket")
        for key in keys:
            yield from _send_again(home, key)
        for found in examine_heads(objects, keys):
            yield Problem(found.key, found.what, _way_out(found.key) if found.is_broken else None, "Bucket")
    except BucketUnavailable as error:
        yield Problem(None, str(error), "see that the endpoint is right and can be reached from here", "Bucket")
    except ConfigurationError as error:
        yield Problem(None, str(error), "correct the address or the credentials", "Bucket")


def _send_again(home: Home, key: str) -> Iterator[Problem]:
    """Compares every object that a repository needs, and sends broken ones again if this machine built them last."""
    try:
        broken, is_sent = send_again(layout_of_builds(home.layout), key, run_id="doctor")
    except (LeaseHeld, BrokenStore) as error:
        yield Problem(key, str(error), None if isinstance(error, LeaseHeld) else _way_out(key), "Bucket")
        return
    for name, problem in broken:
        what = f"{name}: {problem}{'; this machine sent what it held again' if is_sent else ''}"
        yield Problem(key, what, None if is_sent else _way_out(key), "Bucket")


def _way_out(key: str) -> str:
    return f"codesum doctor {key} on the machine that built it last; if none has it: codesum index {key} --rebuild"


def _scattered(home: Home) -> Iterator[Problem]:
    """Digests are kept by each worker for itself."""
    if home.layout.bucket and home.settings.engine.launcher != "local" and home.intents.survey().intents:
        what = f"{home.intents.file.name}: each worker keeps what waits for a digest; no digest has it of all workers"
        way_out = (
            "build what the questions are about, and make their digests, on one worker; or keep the home in a folder"
        )
        yield Problem(None, what, way_out, "Bucket")


def _registry(home: Home) -> Iterator[Problem]:
    """Entries that cannot be used, and data of repositories that have none."""
    file = home.registry.file
    for key, error in home.registry.survey().problems.items():
        yield Problem(key, str(error), f"correct the entry in {file}")
    for key in home.unregistered_keys():
        yield Problem(key, f"it is not in {file.name}, but its data are kept", f"codesum remove {key} --purge")


def _is_built(home: Home, entry: RepositoryEntry) -> bool:
    """Whether a build came as far as an index, published or not."""
    is_published = os.path.lexists(home.layout.published(entry.key))
    return is_published or home.tables.readable_path("candidate", entry.key) is not None


def _examine(home: Home, entry: RepositoryEntry, *, is_deep: bool) -> Iterator[Problem]:
    key = entry.key
    try:
        holder = current_holder(home.layout.state(key))
        if holder and holder.is_gone():
            yield Problem(key, f"the last build was killed: {holder}", f"codesum index {key}")
    except BrokenStore as error:
        yield Problem(key, str(error), f"rm {home.layout.state(key)}")
    if not _is_built(home, entry):
        if entry.enabled:
            yield Problem(key, f"it waits for its first build; `codesum index {key}` builds it now")
        else:
            yield Problem(key, "it is removed, and has no index", f"codesum add {key}")
        return
    if home.layout.files.is_copy and not is_deep:
        # To compare them is to fetch them: that is for one repository at a time.
        return
    try:
        home.layout.files.bring(key, STATE)
    except BrokenStore as error:
        yield Problem(key, str(error), _way_out(key), "Bucket")
        return
    try:
        findings = verify_index(home.layout, key, tables=home.tables)
    except CodesumError as error:
        yield Problem(key, str(error), f"codesum index {key} --rebuild")
        return
    yield from index_troubles(home, key)
    way_out = f"codesum index {key} --force"
    for finding in findings[:_SHOWN_PER_REPOSITORY]:
        yield Problem(key, f"{finding.check}: {finding.subject}: {finding.detail}", way_out)
    if len(findings) > _SHOWN_PER_REPOSITORY:
        yield Problem(key, f"{len(findings) - _SHOWN_PER_REPOSITORY:,} more findings", way_out)


def _dagsters_records(home: Home) -> Iterator[Problem]:
    """Mends them, and marks runs as failed whose process is gone: Dagster would believe for hours that they go on."""
    if not home.layout.dagster_home.is_dir():
        return
    from codesum_pipeline.builds.dagster.control import end_vanished_runs, mend_records

    try:
        mended = mend_records(home)
        ended = end_vanished_runs(home)
    except (CannotWrite, RecordsUnavailable) as error:
        yield Problem(None, f"runs are not looked at: {error}")
        return
    if mended:
        mended = [*mended, "the indexes are not touched, and Dagster knows all repositories again"]
    for what in (*mended, *(f"run {run_id}: its process is gone; it is marked as failed now" for run_id in ended)):
        yield Problem(None, what)


def _workers(home: Home) -> Iterator[Problem]:
    """The queue of runs, and workers that take none of them."""
    if home.settings.engine.launcher == "local":
        return
    from codesum_pipeline.builds.dagster.control import workers_without_runs

    try:
        paused = workers_without_runs(home)
    except (RetryLater, ConfigurationError) as error:
        # Where a daemon looks at the home, what is said of the fleet has it.
        if read_record(home)[0] is None:
            yield Problem(None, str(error), about="Workers")
        return
    for worker in paused:
        yield Problem(None, str(worker), "correct that; what waits for it then goes on by itself", "Workers")


def _model(home: Home) -> Iterator[Problem]:
    """Whether a model can be reached. Raises `ConfigurationError` if none is set up.

    Keys are looked for and a server of one's own is called; no model is asked, so a wrong name is not noticed.
    """
    # Only --llm waits for what calls a model.
    from codesum_pipeline.texts.llm.backends import build_backend
    from codesum_pipeline.texts.summaries.by_model.choosing import templates_of

    llm = home.settings.llm
    if not llm.enabled:
        raise ConfigurationError(
            "--llm: no language model is set up (llm.enabled is false): set llm.enabled and llm.model"
        )
    if asyncio.run(build_backend(llm, templates_of(home.settings)).health()):
        write_note(f"{llm.model} can be reached; whether a model has this name shows with the first call")
        write_note(_describe_forms(home))
    elif llm.asks_nobody:
        way_out = "set llm.backend, or llm.recording to a recording"
        yield Problem(None, f"llm.backend = {llm.backend.value!r} cannot answer", way_out)
    else:
        server = f", and see that something listens at {llm.api_base}" if llm.api_base else ""
        way_out = f"put its key into {llm.api_key_env or 'the environment'}{server}"
        yield Problem(None, f"{llm.model} cannot be reached: its key is missing or nobody answers", way_out)


def _describe_forms(home: Home) -> str:
    """In which form each model gave its last text."""
    from codesum_pipeline.texts.llm.answer_forms import first_form
    from codesum_pipeline.texts.llm.ledger_readings import last_form

    llm, states = home.settings.llm, [home.layout.state(entry.key) for entry in home.registry.entries()]
    lines = []
    for model in dict.fromkeys((llm.model, *llm.fallback_models)):
        found = max(filter(None, (last_form(state, model) for state in states)), default=None)
        if found:
            lines.append(f"{model} gave its last text in the form {found[1]!r}, on {found[0][:10]}")
        else:
            first = first_form(llm, model).value
            lines.append(f"{model} has given no text in the last days; it is asked in the form {first!r} first")
    return "\n".join(lines)


def _show(problems: Sequence[Problem], keys: Sequence[str]) -> None:
    """The problems of one repository together, each way out once, below what it ends."""
    by_heading: dict[str, list[Problem]] = {}
    for problem in problems:
        by_heading.setdefault(problem.repo or problem.about, []).append(problem)
    for heading, here in by_heading.items():
        by_way_out: dict[str | None, list[str]] = {}
        for problem in here:
            by_way_out.setdefault(problem.way_out, []).append(problem.what)
        show_parts(Text(heading, style="bold"))
        for way_out, whats in by_way_out.items():
            show_parts(*(indent_part(Text(one_line(what)), 2) for what in whats))
            if way_out:
                show_parts(indent_part(Text.assemble("way out: ", (way_out, "cyan")), 2, below=1))
    open_ones = {problem.repo for problem in problems if problem.way_out}
    sound = [key for key in keys if key not in open_ones]
    if sound:
        show_parts(
            style_text(f"{count_noun(len(sound), 'repository', 'repositories')} in order: {', '.join(sound)}", "green")
        )
    if not keys:
        write_note(NO_REPOSITORY)
