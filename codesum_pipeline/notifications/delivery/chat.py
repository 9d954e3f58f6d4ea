"""Chats through Apprise, which knows each service's address and dialect.

It says whether a service took a message, and for most also by which status; it
has no key by which a service could recognise a repeat. So a chat gets a post at
least once, and a repeat says that it may be one.
"""

import logging
import re
from typing import TYPE_CHECKING, Any

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, DeliveryFailed, DeliveryRefused
from codesum_pipeline.foundation.data_model.extras import way_to_install
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.settings.channel_settings import ChatSettings
from codesum_pipeline.notifications.delivery.dialects import CHAT, HTML_CHAT, make_inert, write_body
from codesum_pipeline.notifications.delivery.posts import OutgoingMessage

if TYPE_CHECKING:
    from apprise import NotifyBase

# By the names that Apprise gives its services.
_SERVICES = {
    "slack": ("Slack",),
    "teams": ("Power Automate / Workflows (for MSTeams)",),
    "discord": ("Discord",),
    "mattermost": ("Mattermost",),
    "telegram": ("Telegram",),
}
# A dialect may need more characters than the Markdown that it is made of.
_ROOM_SHARE = 0.85
_LEAST_CHARS = 200
_STATUS = re.compile(r"\berror\s*[=:]\s*(\d{3})\b")
_PASSING = frozenset((408, 425, 429))


class ChatChannel:
    """One address of one service."""

    def __init__(self, name: str, settings: ChatSettings, *, address: str) -> None:
        self._settings = settings
        self._service = _service_of(name, settings.kind, address, timeout_s=settings.timeout_s)
        # The parts that hold the keys, too: a message of the library may name one alone.
        self.secrets = (address, *(part for part in re.split(r"[/:@?&=]", address) if len(part) >= 8))

    def send(self, message: OutgoingMessage) -> str:
        from apprise import Apprise, NotifyFormat

        title = make_inert(message.post.subject)
        limit = max(_LEAST_CHARS, int(self._service.body_maxlen * _ROOM_SHARE) - len(title))
        is_html = self._service.service_name == "Telegram"
        caller = Apprise(asset=self._service.asset)
        caller.add(self._service)
        with caller.notify(
            title=title,
            body=write_body(message.post, HTML_CHAT if is_html else CHAT, limit=limit, is_repeat=message.is_repeat),
            body_format=NotifyFormat.HTML if is_html else NotifyFormat.MARKDOWN,
            timeout=self._settings.timeout_s,
        ) as result:
            answer = one_line("; ".join(entry.message for entry in result.logs() if entry.level != "INFO"))
            if result:
                return answer or f"{self._service.service_name} took it"
        statuses = [int(found) for found in _STATUS.findall(answer)]
        if statuses and 400 <= statuses[-1] < 500 and statuses[-1] not in _PASSING:
            raise DeliveryRefused(answer)
        # A status says that the service answered; without one nobody knows whether it took the message.
        raise DeliveryFailed(answer or "Apprise says that it failed, and not why", may_have_arrived=not statuses)


def _service_of(name: str, kind: str, address: str, *, timeout_s: float) -> "NotifyBase":
    try:
        from apprise import Apprise, AppriseAsset, PersistentStoreMode
        from apprise.common import OverflowMode
    except ImportError as error:
        raise ConfigurationError(
            f"channel {name!r}: Apprise, which sends to chats, is not installed: {way_to_install('chat')}"
        ) from error
    # It logs an address that it does not know, with its keys. What it says of a message comes with the result.
    logging.getLogger("apprise").propagate = False
    asset = AppriseAsset(
        app_id="codesum",
        app_desc="codesum",
        # Nothing is kept on disk between messages.
        storage_mode=PersistentStoreMode.MEMORY,
        http_redirects=False,
        # No pictures from elsewhere.
        image_url_mask="",
        image_url_logo="",
    )
    found: Any = Apprise.instantiate(address, asset=asset, suppress_exceptions=True)
    if found is None:
        raise ConfigurationError(
            f"channel {name!r}: its secret is no address that Apprise knows; see docs/delivery.md for each service's"
        )
    service = str(found.service_name)
    if kind in _SERVICES and service not in _SERVICES[kind]:
        raise ConfigurationError(f"channel {name!r} is of kind {kind!r}, but its secret is an address of {service}")
    # Our cut keeps to the limit; where a dialect needed more after all, nothing is lost.
    found.overflow_mode = OverflowMode.SPLIT
    found.socket_connect_timeout = found.socket_read_timeout = timeout_s
    return found  # type: ignore[no-any-return]
