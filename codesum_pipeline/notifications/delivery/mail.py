"""Mail through an SMTP server, with a Message-ID of ours.

The same post has the same Message-ID on each try, so a mailbox that got it
twice can recognise it. Only after the whole message went out is it unknown whether the
server took it; whatever fails before is tried again without such doubt.
"""

import contextlib
import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from pathlib import Path

from codesum_pipeline.foundation.data_model.errors import DeliveryFailed, DeliveryRefused
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.settings.channel_settings import EmailSettings, mail_address
from codesum_pipeline.notifications.delivery.dialects import PLAIN, html_mail, write_body
from codesum_pipeline.notifications.delivery.posts import OutgoingMessage

# RFC 5321: 4xx passes, 5xx does not; 421 is said by a server that is about to close.
_LAST_PASSING = 499


class MailChannel:
    """One SMTP server, sender and list of recipients."""

    def __init__(self, settings: EmailSettings, *, password: str, home: Path) -> None:
        self._settings = settings
        self._password = password
        self._home = home
        self.secrets = (password,) if password else ()

    def send(self, message: OutgoingMessage) -> str:
        content = self.compose(message).as_bytes(policy=SMTP)
        recipients = [mail_address(text)[1] for text in self._settings.to]
        with self._connected() as server:
            refused = self._give_envelope(server, recipients, size=len(content))
            answer = _give_content(server, content)
        return "; ".join([answer, *(f"refused for {address}: {why}" for address, why in refused.items())])

    def compose(self, message: OutgoingMessage) -> EmailMessage:
        """The mail: plain text and HTML of the same words."""
        post = message.post
        mail = EmailMessage(policy=SMTP)
        mail["From"] = _address(self._settings.sender)
        mail["To"] = [_address(text) for text in self._settings.to]
        mail["Subject"] = one_line(post.subject)
        mail["Date"] = format_datetime(datetime.fromisoformat(post.created_at))
        mail["Message-ID"] = f"<{message.key}@{mail_address(self._settings.sender)[1].partition('@')[2]}>"
        # RFC 3834: no answer by a machine to this one.
        mail["Auto-Submitted"] = "auto-generated"
        if message.is_repeat:
            mail["X-Codesum-Repeat"] = str(message.attempt)
        mail.set_content(write_body(post, PLAIN, is_repeat=message.is_repeat))
        mail.add_alternative(html_mail(post, is_repeat=message.is_repeat), subtype="html")
        return mail

    @contextmanager
    def _connected(self) -> Iterator[smtplib.SMTP]:
        """A server that is ready to take mail. Errors of the block count as failures before the content was sent."""
        settings = self._settings
        try:
            file = settings.ca_file
            context = ssl.create_default_context(cafile=str(self._home / file.expanduser()) if file else None)
            server = (
                smtplib.SMTP_SSL(settings.host, settings.port, timeout=settings.timeout_s, context=context)
                if settings.security == "tls"
                else smtplib.SMTP(settings.host, settings.port, timeout=settings.timeout_s)
            )
            try:
                if settings.security == "starttls":
                    server.starttls(context=context)
                if settings.user:
                    server.login(settings.user, self._password)
                yield server
            finally:
                # The mail was taken, or was not: how the farewell goes changes nothing.
                with contextlib.suppress(OSError, smtplib.SMTPException):
                    server.quit()
                server.close()
        except smtplib.SMTPResponseException as error:
            raise _failure(error.smtp_code, _words(error.smtp_error), self._where) from error
        except smtplib.SMTPNotSupportedError as error:
            raise DeliveryRefused(f"{self._where}: {one_line(str(error))}; see `security` and `user`") from error
        except ssl.SSLCertVerificationError as error:
            raise DeliveryRefused(f"{self._where}: its certificate is not trusted: {error.verify_message}") from error
        except (OSError, smtplib.SMTPException) as error:
            raise DeliveryFailed(f"{self._where}: {one_line(str(error)) or type(error).__name__}") from error

    @property
    def _where(self) -> str:
        return f"{self._settings.host}:{self._settings.port}"

    def _give_envelope(self, server: smtplib.SMTP, recipients: list[str], *, size: int) -> dict[str, str]:
        """The recipients that the server refuses, with its reasons; raises where it refuses all of them."""
        server.ehlo_or_helo_if_needed()
        settings = [f"SIZE={size}"] if server.has_extn("size") else []
        code, answer = server.mail(mail_address(self._settings.sender)[1], settings)
        if code != 250:
            raise _failure(code, _words(answer), f"{self._where} refused the sender")
        refused: dict[str, tuple[int, str]] = {}
        for address in recipients:
            code, answer = server.rcpt(address)
            if code not in (250, 251):
                refused[address] = (code, _words(answer))
        if len(refused) == len(recipients):
            # Where one of them may be let in later, all are tried again.
            code, text = min(refused.values())
            raise _failure(code, text, f"{self._where} refused every recipient")
        return {address: f"{code} {text}" for address, (code, text) in refused.items()}


def _give_content(server: smtplib.SMTP, content: bytes) -> str:
    try:
        code, answer = server.data(content)
    except smtplib.SMTPDataError:
        # Refused before any of it was sent.
        raise
    except (OSError, smtplib.SMTPException) as error:
        why = one_line(str(error)) or type(error).__name__
        raise DeliveryFailed(f"no answer after the mail was sent: {why}", may_have_arrived=True) from error
    if code != 250:
        raise _failure(code, _words(answer), "the mail was not taken")
    return f"{code} {_words(answer)}"


def _failure(code: int, answer: str, what: str) -> DeliveryFailed | DeliveryRefused:
    text = f"{what}: {code} {answer}"
    return DeliveryFailed(text) if code <= _LAST_PASSING else DeliveryRefused(text)


def _words(answer: bytes | str) -> str:
    return one_line(answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer)


def _address(text: str) -> Address:
    name, address = mail_address(text)
    return Address(display_name=name, addr_spec=address)
