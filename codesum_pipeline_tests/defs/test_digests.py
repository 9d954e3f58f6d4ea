"""From commit to digest: the job that builds an index tells those who asked for it."""

from collections.abc import Callable, Iterator
from typing import Any

import dagster as dg
import pytest

from codesum_pipeline.wiring import Home
from codesum_pipeline_tests.building import open_home
from codesum_pipeline_tests.defs.conftest import _run_job
from codesum_pipeline_tests.defs.digest_home import FILES, SHORTER, SIGN_IN, DigestHome
from codesum_pipeline_tests.delivery.receivers import WebhookReceiver, webhook_receiver
from codesum_pipeline_tests.repositories import GitRepo

RunJob = Callable[..., dg.ExecuteInProcessResult]


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    with webhook_receiver() as found:
        yield found


@pytest.fixture
def shop(home: Home, git_repo: Callable[..., GitRepo], receiver: WebhookReceiver) -> DigestHome:
    """A repository that was never built, and one question about it."""
    found = DigestHome.at(home, git_repo(FILES, name="shop"), hook=receiver.url)
    found.ask(auth=SIGN_IN)
    return found


@pytest.fixture
def run(home: Home, instance: dg.DagsterInstance) -> RunJob:
    """`run()`: the job, by a process that reads its settings from the home, as Dagster's do."""
    return lambda **options: _run_job(open_home(home.layout.home, lease_wait_s=0), instance, "shop", **options)


def metadata(result: dg.ExecuteInProcessResult, asset: str) -> dict[str, Any]:
    (found,) = result.asset_materializations_for_node(asset)
    return {name: value.value for name, value in found.metadata.items()}


def told(receiver: WebhookReceiver) -> list[str]:
    """The questions that digests came about."""
    return [each.json["intent"] for each in receiver.received]


def test_a_change_that_concerns_a_question_is_told_once(
    shop: DigestHome, run: RunJob, receiver: WebhookReceiver
) -> None:
    assert run().success
    assert told(receiver) == [], "the first build has nothing to compare with"

    shop.repo.commit(SHORTER)
    second = run()
    assert second.success
    assert told(receiver) == ["auth"]
    assert metadata(second, "intent_digests")["digests"] == 1
    (digest,) = shop.digests
    assert digest.repositories == ("shop",)
    assert [cited.document_id for cited in digest.result.citations] == ["shop/auth.py::sign_in"]

    assert run().success
    assert told(receiver) == ["auth"], "the same commit again has nothing to tell"
    assert len(shop.ticks) == 1
