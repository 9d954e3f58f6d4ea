"""Sends everything that is due, with one thread for each channel, so that no channel waits for another."""

import hashlib
import logging
import os
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from uuid import uuid4

from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.digest_record import PostId
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, DeliveryFailed, DeliveryRefused
from codesum_pipeline.foundation.data_model.moments import iso_moment
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.settings.channel_settings import (
    ChatSettings,
    DeliverySettings,
    EmailSettings,
    WebhookChannelSettings,
)
from codesum_pipeline.notifications.delivery.outbox import Delivery, DeliveryState, Outbox, open_outbox
from codesum_pipeline.notifications.delivery.posts import Channel, OutgoingMessage, Post, notice_post
from codesum_pipeline.texts.llm.litellm_door import without_keys

_KEY_DOMAIN = "codesum.delivery/1"
_KEY_CHARS = 32
_THREADS = 8
_DETAIL_CHARS = 500
_log = logging.getLogger(__name__)


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


class SendingReport(Struct, frozen=True):
    """The result of one round: the state of each tried delivery, and why channels could not be used, by name."""

    tried: tuple[Delivery, ...] = ()
    unusable: Mapping[str, str] = field(default_factory=dict)


class OutboxSender(Struct, frozen=True):
    """The outbox of a home and its channels."""

    home: Path
    settings: DeliverySettings
    now: Callable[[], datetime]
    offline: bool = False
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def send_due(self) -> SendingReport:
        """Send what is due. Offline nothing is sent.

        A channel that cannot be used says why in the log and the outbox, and no try is spent.
        """
        with open_outbox(self.home, now=self.now) as outbox:
            for each in outbox.recover():
                _log.warning("%s on %s: the process that was sending it ended", each.post_id, each.channel)
            channels = [] if self.offline else outbox.due_channels()
            if not channels:
                return SendingReport()
            with outbox.holding() as holder, ThreadPoolExecutor(min(_THREADS, len(channels))) as pool:
                of_channels = list(pool.map(lambda name: self._send_channel(name, holder), channels))
        return SendingReport(
            tuple(each for report in of_channels for each in report.tried),
            {name: why for report in of_channels for name, why in report.unusable.items()},
        )

    def try_channel(self, name: str) -> str:
        """Send a notice that says what it is, past the outbox; what the channel answered.

        Raises `ConfigurationError`, `DeliveryFailed` or `DeliveryRefused`.
        """
        if self.offline:
            raise ConfigurationError("offline nothing is sent: leave out --offline, or set offline = false")
        channel = open_channel(name, self.settings, home=self.home, environ=self.environ)
        text = f"This message shows that the channel {name!r} of codesum works. Nothing else is meant by it."
        post = notice_post(f"A test of the channel {name}", text, created_at=iso_moment(self.now()))
        message = OutgoingMessage(post, key=f"codesum.test.{uuid4().hex}", attempt=1, is_repeat=False)
        try:
            return _safe(channel.send(message), channel)
        except (DeliveryFailed, DeliveryRefused) as error:
            raise type(error)(f"channel {name!r}: {_safe(str(error), channel)}") from None

    def notify_operator(self, subject: str, text: str) -> PostId:
        """Notify whoever runs codesum, through the same outbox; the same words once a day (UTC).

        Without a channel for it only the log says it.
        """
        post = notice_post(subject, text, created_at=iso_moment(self.now()))
        _log.error("%s: %s", one_line(subject), one_line(text))
        self.add(post, self.settings.operator_channels)
        return post.id

    def notify(self, channels: Collection[str], post: Post) -> None:
        """Have a notice sent on channels; the log says it in any case. What is in the outbox stays as it is."""
        _log.warning("%s: %s", post.subject, one_line(post.text))
        self.add(post, channels)

    def add(self, post: Post, channels: Collection[str]) -> None:
        """Have a post sent on channels, if there are any."""
        if channels:
            with open_outbox(self.home, now=self.now) as outbox:
                outbox.add(post, channels, tries=self.settings.max_attempts)

    def _send_channel(self, name: str, holder: str) -> SendingReport:
        with open_outbox(self.home, now=self.now) as outbox:
            try:
                channel = open_channel(name, self.settings, home=self.home, environ=self.environ)
            except ConfigurationError as error:
                _log.error("%s", error)
                outbox.say_why_it_waits(name, str(error))
                return SendingReport(unusable={name: str(error)})
            tried: list[Delivery] = []
            while claimed := outbox.claim(name, holder):
                post, delivery = claimed
                key = delivery_key(post.id, name)
                message = OutgoingMessage(post, key, delivery.tries, is_repeat=delivery.may_have_arrived)
                tried.append(send_one(outbox, channel, delivery, message))
            return SendingReport(tuple(tried))


def send_one(outbox: Outbox, channel: Channel, claimed: Delivery, message: OutgoingMessage) -> Delivery:
    """Send a claimed delivery and record the outcome; returns its new state."""
    try:
        answer = channel.send(message)
    except DeliveryRefused as error:
        outbox.end_try(claimed, DeliveryState.GIVEN_UP, _safe(str(error), channel))
    except DeliveryFailed as error:
        outbox.mark_failed(
            claimed,
            _safe(str(error), channel),
            may_have_arrived=error.may_have_arrived,
            retry_after_s=error.retry_after_s,
        )
    except Exception as error:
        # The one guard of a delivery: the others go on. The traceback may hold a key, the words are cleaned.
        _log.error(
            "%s on %s: %s: %s", claimed.post_id, claimed.channel, type(error).__name__, _safe(str(error), channel)
        )
        outbox.mark_failed(claimed, _safe(f"{type(error).__name__}: {error}", channel), may_have_arrived=True)
    else:
        outbox.end_try(claimed, DeliveryState.SENT, _safe(answer, channel))
    (now,) = outbox.deliveries(post=claimed.post_id, channel=claimed.channel)
    level = {DeliveryState.SENT: logging.INFO, DeliveryState.GIVEN_UP: logging.ERROR}.get(now.state, logging.WARNING)
    outcome = (now.post_id, now.channel, now.state.value, now.tries, now.detail)
    _log.log(level, "%s on %s: %s after %d tries: %s", *outcome)
    return now


def _safe(text: str, channel: Channel) -> str:
    return one_line(without_keys(text, channel.secrets))[:_DETAIL_CHARS]


def delivery_key(post: PostId, channel: str) -> str:
    """A key that is the same for each try of a post on a channel, by which a receiver knows a repeat."""
    identity = "\0".join((_KEY_DOMAIN, post, channel))
    return f"codesum.{hashlib.sha256(identity.encode()).hexdigest()[:_KEY_CHARS]}"
