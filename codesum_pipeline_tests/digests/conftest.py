"""A receiver that takes what it is sent."""

from collections.abc import Iterator

import pytest

from codesum_pipeline_tests.delivery.receivers import WebhookReceiver, webhook_receiver


@pytest.fixture
def hook() -> Iterator[WebhookReceiver]:
    with webhook_receiver(200) as found:
        yield found
