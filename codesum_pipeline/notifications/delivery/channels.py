"""The channels by the names that settings give them: which adapter sends, with which secret."""

from collections.abc import Mapping
from pathlib import Path

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.settings.channel_settings import (
    ChatSettings,
    DeliverySettings,
    EmailSettings,
    WebhookChannelSettings,
)
from codesum_pipeline.notifications.delivery.posts import Channel


def open_channel(name: str, settings: DeliverySettings, *, home: Path, environ: Mapping[str, str]) -> Channel:
    """The channel of a name; raises `ConfigurationError` for an unknown one, or one without its secret."""
    found = settings.channel(name)
    secret = found.secret(name, home=home, environ=environ)
    if not isinstance(found, ChatSettings) and found.ca_file and not (home / found.ca_file.expanduser()).is_file():
        raise ConfigurationError(f"channel {name!r}: ca_file {str(found.ca_file)!r}: there is no such file")
    # Only the adapter that is needed is loaded, with its libraries: httpx alone takes 0.2 s.
    if isinstance(found, EmailSettings):
        from codesum_pipeline.notifications.delivery.mail import MailChannel

        return MailChannel(found, password=secret, home=home)
    if isinstance(found, WebhookChannelSettings):
        from codesum_pipeline.notifications.delivery.webhook import WebhookChannel

        return WebhookChannel(name, found, secret=secret, home=home)
    from codesum_pipeline.notifications.delivery.chat import ChatChannel

    return ChatChannel(name, found, address=secret)
