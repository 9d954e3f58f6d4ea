"""Whose fault an error is, and how a failed run says so."""

import errno
import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest
import sqlalchemy
from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._utils import get_run_crash_explanation
from dagster._utils.error import serializable_error_info_from_exc_info
from sqlalchemy.pool import NullPool

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.builds.dagster.run_tags import FAULT_TAG, STATE_TAG, fault_of
from codesum_pipeline.builds.reports.faults import UNWRITTEN_END, Fault, sort_end, sort_fault
from codesum_pipeline.definitions import build_defs
from codesum_pipeline.foundation.data_model import errors
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.lease import hold_repository
from codesum_pipeline.foundation.store.object_storage.objects import open_objects
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.services import free_port


def caught(fail: Callable[[], object]) -> Exception:
    """The error that a call ends with."""
    try:
        fail()
    except Exception as error:
        return error
    raise AssertionError("nothing failed")


def on_full_disk() -> None:
    with Path("/dev/full").open("wb", buffering=0) as file:
        file.write(b"x")


def in_full_database() -> None:
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text("PRAGMA max_page_count = 2"))
        connection.execute(sqlalchemy.text("CREATE TABLE t (x)"))
        connection.execute(sqlalchemy.text("INSERT INTO t VALUES (zeroblob(1000000))"))


def in_locked_database() -> None:
    engine = sqlalchemy.create_engine("sqlite:////proc/no/such/file", poolclass=NullPool)
    with engine.connect():
        pass


def wrapped(error: Exception, inside: BaseException) -> Exception:
    """An error that another one was turned into."""
    try:
        raise error from inside
    except type(error) as both:
        return both


def numbered(number: int) -> OSError:
    return OSError(number, os.strerror(number))


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        pytest.param(caught(on_full_disk), "machine: disk", id="a full disk"),
        pytest.param(caught(in_full_database), "machine: disk", id="a database file on a full disk"),
        pytest.param(caught(in_locked_database), "machine: disk", id="a database file that cannot be made"),
        pytest.param(numbered(errno.EDQUOT), "machine: disk", id="a used up quota"),
        pytest.param(numbered(errno.EIO), "machine: disk", id="a broken disk"),
        pytest.param(numbered(errno.EROFS), "machine: disk", id="a disk that became read-only"),
        pytest.param(errors.CannotWrite("x"), "machine: disk", id="our own word for these"),
        pytest.param(
            wrapped(dg.Failure("x"), errors.OlderRelease("x")),
            "machine: an older release of codesum",
            id="a worker that nobody upgraded",
        ),
        pytest.param(MemoryError(), "machine: memory", id="no memory"),
        pytest.param(numbered(errno.ENOMEM), "machine: memory", id="no memory for the system"),
        pytest.param(numbered(errno.EMFILE), "machine: descriptors", id="no descriptors"),
        pytest.param(numbered(errno.ENFILE), "machine: descriptors", id="none of the whole machine"),
        pytest.param(
            errors.BucketUnavailable("the bucket cannot be reached now (Too many open files (os error 24))"),
            "machine: descriptors",
            id="a bucket that cannot be reached for want of descriptors",
        ),
        pytest.param(
            errors.BucketRefused("the bucket refuses this get (RequestTimeTooSkewed)"),
            "machine: clock",
            id="a clock that is wrong",
        ),
        pytest.param(
            wrapped(dg.Failure("x"), wrapped(errors.BrokenStore("x"), numbered(errno.ENOSPC))),
            "machine: disk",
            id="the disk behind other errors",
        ),
        pytest.param(errors.BucketUnavailable("x"), "shared part: bucket", id="a bucket that is away"),
        pytest.param(
            caught(lambda: open_objects(f"s3://b{os.getpid()}/h", retry_s=0).get("x")),
            "shared part: bucket",
            id="a bucket without credentials or server",
        ),
        pytest.param(
            errors.RepositoryUnavailable("x"), "shared part: host of the repository", id="a host that is away"
        ),
        pytest.param(errors.EmbedderUnavailable("x"), "shared part: provider of embeddings", id="a provider"),
        pytest.param(errors.LeaseLost("x"), "shared part: another build holds the repository", id="a lost lease"),
        pytest.param(errors.ObjectsMissing("x"), "repository", id="a repository that lacks a commit"),
        pytest.param(errors.UnusableVectors("x"), "repository", id="vectors that cannot be used"),
        pytest.param(errors.ConfigurationError("x"), "repository", id="an entry that cannot work"),
        pytest.param(ZeroDivisionError(), "repository", id="a defect of ours that this repository shows"),
        pytest.param(
            errors.RepositoryUnavailable(f"git fetch failed: remote: {os.strerror(errno.ENOSPC)}"),
            "shared part: host of the repository",
            id="what a host says of its own disk",
        ),
    ],
)
def test_an_error_has_one_fault(error: Exception, fault: str) -> None:
    assert str(sort_fault(error)) == fault
    assert Fault.parse(fault) == sort_fault(error)
    assert sort_fault(error).is_attempt == (fault == "repository")


def test_a_database_that_is_away_is_a_shared_part() -> None:
    pytest.importorskip("psycopg2")
    engine = sqlalchemy.create_engine(f"postgresql+psycopg2://a@127.0.0.1:{free_port()}/b")

    assert str(sort_fault(caught(engine.connect))) == "shared part: database"


def test_a_queue_that_is_away_is_a_shared_part() -> None:
    redis = pytest.importorskip("redis")

    assert str(sort_fault(caught(redis.Redis(port=free_port()).ping))) == "shared part: queue"


def test_errors_that_name_one_another_end() -> None:
    one, two = ValueError(), ValueError()
    one.__cause__, two.__cause__ = two, one

    assert str(sort_fault(one)) == "repository"


def test_what_no_version_wrote_counts_as_the_repositorys() -> None:
    assert Fault.parse("moon: full").is_attempt


@pytest.mark.parametrize(
    ("end", "fault"),
    [
        pytest.param(
            get_run_crash_explanation("Run execution process for 1", -signal.SIGKILL),
            "machine: its process was killed, as for want of memory",
            id="killed, as Dagster says it",
        ),
        pytest.param(
            "Worker exited prematurely: signal 9 (SIGKILL) Job: 3.",
            "machine: its process was killed, as for want of memory",
            id="killed, as Celery says it",
        ),
        pytest.param(
            "Container 'dagster' status: Terminated with exit code 137: OOMKilled",
            "machine: memory",
            id="killed, as Kubernetes says it",
        ),
        pytest.param(
            get_run_crash_explanation("Run execution process for 1", 1),
            "shared part: database",
            id="ended by itself without a record of it",
        ),
        pytest.param(UNWRITTEN_END, "shared part: database", id="ended by itself, as our launcher says it"),
        pytest.param(
            get_run_crash_explanation("Run execution process for 1", -signal.SIGSEGV), "repository", id="crashed"
        ),
        pytest.param("no worker carries it out any more", "repository", id="gone with its worker"),
    ],
)
def test_what_is_told_of_the_end_of_a_process_has_one_fault(end: str, fault: str) -> None:
    assert str(sort_end(["Started process for run (pid: 1).", end], [])) == fault


def told(error: Exception) -> list[str]:
    """An error and its causes as Dagster keeps them."""
    info, found = serializable_error_info_from_exc_info((type(error), error, error.__traceback__)), []
    while info:
        found.append(info.message)
        info = info.cause or info.context
    return found


def test_an_error_that_dagster_kept_is_sorted_by_its_name() -> None:
    pytest.importorskip("psycopg2")
    engine = sqlalchemy.create_engine(f"postgresql+psycopg2://a@127.0.0.1:{free_port()}/b")
    away = caught(engine.connect)

    assert str(sort_end([], told(away))) == "shared part: database"
    # The daemon gives a run up that it cannot hand to a code server which does not answer.
    unreachable = wrapped(DagsterUserCodeUnreachableError("no answer"), TimeoutError())
    assert str(sort_end([], told(unreachable))) == "shared part: code location"
    assert str(sort_end([], told(wrapped(dg.Failure("x"), away)))) == "shared part: database"
    assert str(sort_end([], told(wrapped(MemoryError(), KeyError())))) == "machine: memory"
    assert (
        str(sort_end([], told(wrapped(errors.BucketUnavailable("s3://a: away"), KeyError())))) == "shared part: bucket"
    )
    assert str(sort_end([], told(wrapped(errors.CannotWrite("/a: no space"), KeyError())))) == "machine: disk"
    assert (
        str(sort_end([], told(wrapped(ValueError("sqlalchemy.exc.OperationalError: x"), KeyError())))) == "repository"
    )


def last_run(instance: dg.DagsterInstance) -> dg.DagsterRun:
    (run,) = instance.get_runs(limit=1)
    return run


def test_a_run_says_which_state_it_builds(
    register: Callable[[str], GitRepo],
    run_job: Callable[..., dg.ExecuteInProcessResult],
    instance: dg.DagsterInstance,
    home: Home,
) -> None:
    commit = register("shop").git("rev-parse", "HEAD").strip()

    assert run_job("shop").success

    run = last_run(instance)
    assert run.tags[STATE_TAG] == home.fingerprint(home.registry.get("shop"), commit=commit)
    assert (fault_of(run), run.tags.get(FAULT_TAG)) == (None, None)


def test_a_run_that_fails_before_its_first_step_says_whose_fault_it_is(
    register: Callable[[str], GitRepo],
    run_job: Callable[..., dg.ExecuteInProcessResult],
    instance: dg.DagsterInstance,
    home: Home,
) -> None:
    register("shop")
    with hold_repository(home.layout, "shop", run_id="another", wait_s=0):
        assert not run_job("shop").success

    assert last_run(instance).tags[FAULT_TAG] == "shared part: another build holds the repository"


@pytest.mark.slow
def test_a_step_that_fails_says_whose_fault_it_is(
    run_job: Callable[..., dg.ExecuteInProcessResult], instance: dg.DagsterInstance, home: Home
) -> None:
    home.registry.add(RepositoryEntry("shop", f"https://127.0.0.1:{free_port()}/shop.git"))

    assert not run_job("shop").success

    run = last_run(instance)
    assert run.tags[FAULT_TAG] == "shared part: host of the repository"
    job = build_defs({"home": home.settings.home}).resolve_job_def("index_repository")
    again = instance.create_run_for_job(job, tags=run.tags)
    instance.report_run_failed(again)
    # Its tags are those of the run before it, whose fault says nothing about this one.
    assert str(fault_of(last_run(instance))) == "repository"


def test_sqlite_says_by_a_number_what_is_wrong() -> None:
    assert isinstance(caught(in_full_database).__cause__, sqlite3.OperationalError)
