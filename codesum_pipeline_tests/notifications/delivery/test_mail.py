"""Mail: what a real server gets, and what its answers lead to."""

import re
import ssl
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.digest_record import SummaryResult
from codesum_pipeline.foundation.settings.channel_settings import DeliverySettings
from codesum_pipeline_tests.support.delivery_desk import LINK, MAIL, RESULT, Desk
from codesum_pipeline_tests.support.receivers import MailReceiver, mail_receiver

PASSWORD = "right horse battery"


def desk_of(tmp_path: Path, receiver: MailReceiver, **changes: Any) -> Desk:
    channel = {**MAIL, "port": receiver.port, "to": ["team@example.com"], "timeout_s": 20, **changes}
    return Desk(tmp_path, {"team": channel})


def test_a_digest_is_one_mail_of_text_and_html(tmp_path: Path) -> None:
    with mail_receiver() as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.add()
        assert desk.send() == [("team", "sent")]
        assert desk.send() == []

    [mail] = receiver.mails
    text, html = mail.get_body(("plain",)), mail.get_body(("html",))
    assert text and html
    assert "Sessions are now signed with Ed25519 [1]." in text.get_content()
    assert "[1] Login.sign, src/auth.py#L10-24, shop at 0123456789, 2026-11-20" in text.get_content()
    assert LINK in text.get_content() and f'href="{LINK}"' in html.get_content()
    assert (mail["From"], mail["To"], mail["Subject"]) == (MAIL["from"], "team@example.com", "how we authenticate")
    assert mail["Date"].datetime == desk.moment
    assert mail["Auto-Submitted"] == "auto-generated"


def test_a_crash_is_retried_with_the_same_message_id_and_the_mail_says_so(tmp_path: Path) -> None:
    with mail_receiver() as receiver:
        receiver.data_answers = ["cut"]
        desk = desk_of(tmp_path, receiver)
        desk.add()
        assert desk.send() == [("team", "unknown")]
        desk.pass_time(minutes=1)
        assert desk.send() == [("team", "sent")]

    first, second = receiver.mails
    assert first["Message-ID"] == second["Message-ID"]
    assert first["Message-ID"].endswith("@example.com>")
    assert (first["X-Codesum-Repeat"], second["X-Codesum-Repeat"]) == (None, "2")
    body = second.get_body(("plain",))
    assert body and "This may be a repeat" in body.get_content()


def test_two_channels_have_two_message_ids(tmp_path: Path) -> None:
    with mail_receiver() as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.channels = {"a": desk.channels["team"], "b": desk.channels["team"]}
        desk.add()
        desk.send()

    assert len({mail["Message-ID"] for mail in receiver.mails}) == 2


@pytest.mark.parametrize(
    ("answer", "state"), [("451 busy", "failed"), ("554 no", "given_up"), ("421 closing", "failed")]
)
def test_a_mail_that_is_not_taken_is_tried_again_by_4xx_and_not_by_5xx(tmp_path: Path, answer: str, state: str) -> None:
    with mail_receiver() as receiver:
        receiver.data_answers = [answer]
        desk = desk_of(tmp_path, receiver)
        desk.add()
        assert desk.send() == [("team", state)]

    assert not desk.delivery("team").may_have_arrived
    assert answer in desk.delivery("team").detail


def test_whom_the_server_refuses_is_named_and_the_others_get_it_once(tmp_path: Path) -> None:
    with mail_receiver() as receiver:
        receiver.recipient_answers = {"gone@example.com": "550 nobody here"}
        desk = desk_of(tmp_path, receiver, to=["gone@example.com", "team@example.com"])
        desk.add()
        assert desk.send() == [("team", "sent")]

    assert receiver.recipients == [["team@example.com"]]
    assert "refused for gone@example.com: 550 nobody here" in desk.delivery("team").detail


def test_refused_by_all_for_now_is_tried_again(tmp_path: Path) -> None:
    with mail_receiver() as receiver:
        receiver.recipient_answers = {"a@example.com": "550 nobody", "b@example.com": "451 greylisted"}
        desk = desk_of(tmp_path, receiver, to=["a@example.com", "b@example.com"])
        desk.add()
        assert desk.send() == [("team", "failed")]


def test_the_login_goes_over_starttls_alone(tmp_path: Path, certificate: tuple[Path, ssl.SSLContext]) -> None:
    file, context = certificate
    with mail_receiver(tls_context=context, require_starttls=True, auth_required=True) as receiver:
        desk = desk_of(
            tmp_path, receiver, security="starttls", ca_file=str(file), user="codesum", secret_env="TEAM_PASSWORD"
        )
        desk.environ = {"TEAM_PASSWORD": PASSWORD}
        desk.add()
        assert desk.send() == [("team", "sent")]

    assert receiver.was_encrypted == [True]
    assert receiver.logins == [("codesum", PASSWORD)]


def test_tls_from_the_start(tmp_path: Path, certificate: tuple[Path, ssl.SSLContext]) -> None:
    file, context = certificate
    with mail_receiver(ssl_context=context) as receiver:
        desk = desk_of(tmp_path, receiver, security="tls", ca_file=str(file))
        desk.add()
        assert desk.send() == [("team", "sent")]


def test_a_wrong_password_is_told_without_it(tmp_path: Path, certificate: tuple[Path, ssl.SSLContext]) -> None:
    file, context = certificate
    with mail_receiver(tls_context=context, require_starttls=True, auth_required=True) as receiver:
        desk = desk_of(
            tmp_path, receiver, security="starttls", ca_file=str(file), user="codesum", secret_file="password"
        )
        (tmp_path / "password").write_text("wrong horse battery\n")
        desk.add()
        assert desk.send() == [("team", "given_up")]

    assert "535" in desk.delivery("team").detail
    assert "wrong horse" not in desk.delivery("team").detail


def test_a_server_without_starttls_or_with_an_unknown_certificate_gets_nothing(
    tmp_path: Path, certificate: tuple[Path, ssl.SSLContext]
) -> None:
    with mail_receiver() as bare, mail_receiver(tls_context=certificate[1]) as unknown:
        desk = desk_of(tmp_path, bare, security="starttls")
        desk.channels = {**desk.channels, "other": {**desk.channels["team"], "port": unknown.port}}
        desk.add()
        assert desk.send() == [("other", "given_up"), ("team", "given_up")]

    assert bare.raw == unknown.raw == []
    assert "not trusted" in desk.delivery("other").detail


def test_names_in_other_letters_arrive(tmp_path: Path) -> None:
    result = SummaryResult("Änderungen am Zoll – 関税", "Größe: 5 µm, 関税 [1]", RESULT.citations[:1])
    with mail_receiver() as receiver:
        desk = desk_of(tmp_path, receiver, to=["Jörg Müller <joerg@example.com>"])
        desk.add(result)
        assert desk.send() == [("team", "sent")]

    [mail] = receiver.mails
    assert receiver.raw[0].isascii()
    assert mail["Subject"] == "Änderungen am Zoll – 関税"
    assert mail["To"] == "Jörg Müller <joerg@example.com>"
    body = mail.get_body(("plain",))
    assert body and "Größe: 5 µm, 関税 [1]" in body.get_content()


def test_no_header_comes_from_the_name_of_an_intent(tmp_path: Path) -> None:
    result = SummaryResult("tax\r\nBcc: thief@example.org\r\n\r\n<b>hi", "x", ())
    with mail_receiver() as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.add(result)
        assert desk.send() == [("team", "sent")]

    [mail] = receiver.mails
    assert mail["Bcc"] is None
    assert mail["Subject"] == "tax Bcc: thief@example.org <b>hi"
    assert receiver.recipients == [["team@example.com"]]


@pytest.mark.parametrize(
    "address",
    ["team", "team@", "a@b@c", "Team <team@example.com>\nBcc: x@example.org", "a b@example.com", "jörg@example.com",
     "x <a@example.com>, b@example.com", "a@example.com\x00", "a..b@example.com"],
)  # fmt: skip
def test_what_is_no_mail_address_is_refused_by_name(address: str) -> None:
    with pytest.raises(ValueError, match="is no mail address"):
        DeliverySettings.model_validate({"channels": {"team": {**MAIL, "to": [address]}}})


def test_a_channel_without_its_secret_names_the_variable_and_the_others_go_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with mail_receiver() as receiver:
        desk = desk_of(tmp_path, receiver)
        desk.channels = {
            **desk.channels,
            "hook": {"kind": "webhook", "url": "https://example.com/x", "secret_env": "HOOK_SECRET"},
            "file": {"kind": "webhook", "url": "https://example.com/x", "secret_file": "secrets/hook"},
        }
        desk.add()
        assert desk.send() == [("team", "sent")]

    why = "channel 'hook' has no secret: the environment variable HOOK_SECRET is empty or not set"
    assert (desk.delivery("hook").state.value, desk.delivery("hook").tries) == ("pending", 0)
    assert desk.delivery("hook").detail == why
    assert why in caplog.text
    assert f"the file {tmp_path}/secrets/hook cannot be read" in desk.delivery("file").detail


def test_a_secret_in_the_settings_is_refused_and_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "codesum.toml").write_text(
        '[delivery.channels.team]\nkind = "email"\nhost = "mail.example.com"\nfrom = "a@example.com"\n'
        'to = ["b@example.com"]\npassword = "hunter2-hunter2"\n'
    )
    with pytest.raises(Exception, match="secret_env") as raised:
        load_settings({"home": tmp_path})

    assert "hunter2" not in str(raised.value)


def test_a_run_cannot_name_a_channel(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="cannot be set by the config of a run"):
        load_settings({"home": tmp_path}, run={"delivery": {"channels": {"team": MAIL}}})


@pytest.mark.parametrize(
    ("channel", "says"),
    [
        ({**MAIL, "to": ["a@b.c"], "hots": "x"}, "unknown key 'hots'; the nearest known key is 'host'"),
        ({**MAIL, "to": ["a@b.c"], "user": "x"}, "set both user and secret_env"),
        (
            {**MAIL, "host": "mail.example.com", "to": ["a@b.c"], "user": "x", "secret_env": "X"},
            "would send the password readable",
        ),
        ({"kind": "webhook", "url": "https://user:pass@example.com/"}, "without a key or password"),
        ({"kind": "webhook", "url": "https://example.com:99999/"}, "[Pp]ort"),
        ({"kind": "webhook", "url": "https://example.com/?token=x"}, "without a key or password.* with secret_env or"),
        ({"kind": "webhook", "url": "https://example.com:0/"}, "the address has no host, or port 0 "),
        ({"kind": "slack"}, "the address of a chat holds its key"),
        ({"kind": "pigeon"}, "'email', 'webhook'"),
    ],
    ids=lambda each: "" if isinstance(each, dict) else each,
)
def test_a_channel_that_cannot_work_is_an_error_of_the_settings(
    tmp_path: Path, channel: dict[str, Any], says: str
) -> None:
    with pytest.raises(Exception, match=says) as raised:
        load_settings({"home": tmp_path, "delivery": {"channels": {"team": channel}}})

    assert re.match(r"setting 'delivery\.channels\.team(\.(url|kind))?': ", str(raised.value))
