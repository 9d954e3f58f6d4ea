"""A receiver that takes what it is sent, and a home that is made once."""

from collections.abc import Iterator

import pytest

from codesum_pipeline_tests.support.digest_shop import Shop
from codesum_pipeline_tests.support.receivers import WebhookReceiver, webhook_receiver


@pytest.fixture
def hook() -> Iterator[WebhookReceiver]:
    with webhook_receiver(200) as found:
        yield found


@pytest.fixture(scope="session")
def shop_as_made(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """To be copied."""
    return Shop.at(tmp_path_factory.mktemp("shop"))
