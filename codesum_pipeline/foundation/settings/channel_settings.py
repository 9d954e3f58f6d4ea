"""Channels as `codesum.toml` describes them.

The settings contain no secret: a channel names the environment variable or the file that holds it.
"""

import difflib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.settings.marks import SettingsGroup, check_http_address, setting, spelled

_Name = Annotated[
    str,
    spelled(
        r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}",
        "is no name of a channel: that is up to 60 letters, digits, dots, dashes and underscores",
    ),
]
_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?")
_MAILBOX = re.compile(r"(?P<alone>[^<>\s]+)|\"?(?P<name>[^<>\"]*?)\"?\s*<(?P<inner>[^<>\s]+)>")
_SECRET_KEYS = re.compile(r"pass|secret|token|key", re.IGNORECASE)
WebHost = Literal["github", "gitlab", "gitea", "bitbucket"]


class _ChannelSettings(SettingsGroup):
    """What all channels have."""

    # How far the channel keeps what is sent twice apart, in words for the operator.
    promise: ClassVar[str]
    secret_env: str = ""
    secret_file: Path | None = None
    timeout_s: float = setting(30.0, gt=0, le=600)

    @model_validator(mode="before")
    @classmethod
    def _knows_the_keys(cls, values: Any) -> Any:
        for key in values if isinstance(values, Mapping) else ():
            if key in cls.model_fields or any(field.alias == key for field in cls.model_fields.values()):
                continue
            if _SECRET_KEYS.search(key):
                raise ValueError(
                    f"{key!r} is no key: a secret does not belong in this file. Put it into an environment variable "
                    "and name that with secret_env, or into a file and name that with secret_file"
                )
            known = [field.alias or name for name, field in cls.model_fields.items()]
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.0)
            raise ValueError(f"unknown key {key!r}; the nearest known key is {near[0]!r}")
        return values

    @model_validator(mode="after")
    def _names_one_secret(self) -> Self:
        if self.secret_env and self.secret_file:
            raise ValueError("secret_env and secret_file are both set: keep one of them")
        return self

    def secret(self, name: str, *, home: Path, environ: Mapping[str, str] = os.environ) -> str:
        """The secret of the channel called `name`; empty if it has none.

        Raises `ConfigurationError`, which names the variable or file, for one that is not there.
        """
        if self.secret_env:
            found = environ.get(self.secret_env, "")
            where = f"the environment variable {self.secret_env}"
        elif self.secret_file:
            path = home / self.secret_file.expanduser()
            where = f"the file {path}"
            try:
                found = path.read_text(encoding="utf-8")
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
                raise ConfigurationError(f"channel {name!r}: {where} cannot be read: {reason}") from error
        else:
            return ""
        if not found.strip():
            raise ConfigurationError(f"channel {name!r} has no secret: {where} is empty or not set")
        return found.strip()


class EmailSettings(_ChannelSettings):
    """Mail through an SMTP server."""

    promise: ClassVar[str] = "once; a repeat after a lost answer has the same Message-ID"
    kind: Literal["email"]
    host: str = Field(min_length=1, max_length=253)
    port: int = setting(587, ge=1, le=65535)
    security: Literal["starttls", "tls", "none"] = "starttls"
    ca_file: Path | None = None
    user: str = ""
    sender: str = Field(alias="from")
    to: tuple[str, ...] = Field(min_length=1, max_length=100)

    @field_validator("sender")
    @classmethod
    def _is_address(cls, text: str) -> str:
        mail_address(text)
        return text

    @field_validator("to")
    @classmethod
    def _are_addresses(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        if len({mail_address(text)[1].lower() for text in texts}) < len(texts):
            raise ValueError("an address is in the list twice")
        return texts

    @model_validator(mode="after")
    def _sends_no_password_in_the_clear(self) -> Self:
        if bool(self.user) != bool(self.secret_env or self.secret_file):
            raise ValueError("set both user and secret_env (or secret_file), or neither")
        if self.user and self.security == "none" and self.host not in ("localhost", "127.0.0.1", "::1"):
            raise ValueError('security = "none" would send the password readable: use "starttls" or "tls"')
        return self


class WebhookChannelSettings(_ChannelSettings):
    """A POST of JSON, signed with the secret where there is one."""

    promise: ClassVar[str] = "once, where the receiver drops a webhook-id that it has seen"
    kind: Literal["webhook"]
    url: Annotated[str, AfterValidator(check_http_address)]
    ca_file: Path | None = None
    allow_private: bool = False


class ChatSettings(_ChannelSettings):
    """A message to a chat. The secret is the address as Apprise writes it, since it holds the key."""

    promise: ClassVar[str] = "at least once: the service has no key to tell a repeat by"
    kind: Literal["slack", "teams", "discord", "mattermost", "telegram", "chat"]

    @model_validator(mode="after")
    def _has_a_secret(self) -> Self:
        if not (self.secret_env or self.secret_file):
            raise ValueError("set secret_env or secret_file: the address of a chat holds its key")
        return self


ChannelSettings = EmailSettings | WebhookChannelSettings | ChatSettings


class DeliverySettings(SettingsGroup):
    """How digests and notices reach people."""

    channels: dict[_Name, Annotated[ChannelSettings, Field(discriminator="kind")]] = setting({})
    operator_channels: tuple[str, ...] = ()
    # One message is tried N times on one channel, then given up.
    max_attempts: ClassVar[int] = 8
    web_hosts: dict[str, WebHost] = setting({})

    @model_validator(mode="after")
    def _operator_channels_exist(self) -> Self:
        for name in self.operator_channels:
            if problem := unknown_channel(name, self):
                raise ValueError(f"operator_channels: {problem}")
        return self

    def channel(self, name: str) -> ChannelSettings:
        """The channel of a name; raises `ConfigurationError`, which names the nearest one."""
        if problem := unknown_channel(name, self):
            raise ConfigurationError(problem)
        return self.channels[name]


def unknown_channel(name: str, settings: DeliverySettings) -> str:
    """Why there is no channel of this name; empty if there is one."""
    if name in settings.channels:
        return ""
    near = difflib.get_close_matches(name, settings.channels, n=1, cutoff=0.0)
    hint = f"the nearest is {near[0]!r}" if near else "there is none at all"
    return f"no channel {name!r} in delivery.channels: {hint}"


def mail_address(text: str) -> tuple[str, str]:
    """The name (or nothing) and the address of `Name <local@host>` or `local@host`; raises `ValueError` else."""
    found = _MAILBOX.fullmatch(text) if text == one_line(text) else None
    name, address = (found["name"] or "", found["inner"] or found["alone"]) if found else ("", "")
    if not _ADDRESS.fullmatch(address) or ".." in address:
        raise ValueError(
            f"{text!r} is no mail address: write 'local@host' or 'Name <local@host>', a host with other letters as "
            "'xn--…'"
        )
    return name, address
