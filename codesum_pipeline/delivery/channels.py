"""A channel takes one message, or says why not. Which one, the settings decide."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from codesum_pipeline.delivery.posts import Post
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.settings.delivery import ChatSettings, DeliverySettings, EmailSettings, WebhookChannelSettings


class OutgoingMessage(Struct, frozen=True):
    """A post on its way to one channel.

    `key` is the same whenever this post is sent there. `is_repeat`: an earlier try may have arrived.
    """

    post: Post
    key: str
    attempt: int
    is_repeat: bool


class Channel(Protocol):
    """Gives one message to somebody. Slow, and what happens is not always known."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must be in no log, message or table."""
        ...

    def send(self, message: OutgoingMessage) -> str:
        """What the channel answered. Raises `DeliveryFailed` or `DeliveryRefused`."""
        ...


def open_channel(name: str, settings: DeliverySettings, *, home: Path, environ: Mapping[str, str]) -> Channel:
    """The channel of a name; raises `ConfigurationError` for an unknown one, or one without its secret."""
    found = settings.channel(name)
    secret = found.secret(name, home=home, environ=environ)
    if not isinstance(found, ChatSettings) and found.ca_file and not (home / found.ca_file.expanduser()).is_file():
        raise ConfigurationError(f"channel {name!r}: ca_file {str(found.ca_file)!r}: there is no such file")
    if isinstance(found, EmailSettings):
        from codesum_pipeline.delivery.mail import MailChannel

        return MailChannel(found, password=secret, home=home)
    if isinstance(found, WebhookChannelSettings):
        from codesum_pipeline.delivery.webhook import WebhookChannel

        return WebhookChannel(name, found, secret=secret, home=home)
    from codesum_pipeline.delivery.chat import ChatChannel

    return ChatChannel(name, found, address=secret)
