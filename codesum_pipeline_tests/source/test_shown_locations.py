"""What people read of a location is built from its parts, and what cannot be taken apart is not shown."""

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.source.git.git_addresses import (
    UNREADABLE,
    named_location,
    shown_location,
    take_apart,
    with_shown_locations,
)
from codesum_pipeline.source.git.locations import key_base, parse_location


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://user:s3cret@example.org/a", "https://example.org/a"),
        ("https://s3cret@example.org/a", "https://example.org/a"),
        ("https://user:p@s3cret@example.org/a", "https://example.org/a"),
        ("https://s3%63ret@example.org:8443/a", "https://example.org:8443/a"),
        ("HTTPS://user:s3cret@Example.org/a", "https://Example.org/a"),
        ("https://s3cret@[::1]:8443/a.git", "https://[::1]:8443/a.git"),
        ("https://s3cret@bücher.example/a", "https://bücher.example/a"),
        ("ssh://git:s3cret@example.org/a", "ssh://example.org/a"),
        ("ssh://s3cret@example.org/a", "ssh://example.org/a"),
        ("ssh://git@example.org/a", "ssh://git@example.org/a"),
        ("git@example.org:a/b", "git@example.org:a/b"),
        ("s3cret@example.org:a/b", "example.org:a/b"),
        ("git@example.org:a/b?s3cret", "git@example.org:a/b"),
        ("https://example.org/a?private_token=s3cret&x=1", "https://example.org/a"),
        ("https://example.org/a#s3cret", "https://example.org/a"),
        ("https://example.org/a;s3cret", "https://example.org/a"),
        ("https://example.org?s3cret", "https://example.org"),
        ("http://s3cret@example.org/a", "http://example.org/a"),
        ("git+https://s3cret@example.org/a", "git+https://example.org/a"),
        ("https://user:12/s3cret@example.org/a", UNREADABLE),
        ("https://user:12?s3cret@example.org/a", UNREADABLE),
        ("https://user:12#s3cret@example.org/a", UNREADABLE),
        ("https://user:12\\s3cret@example.org/a", UNREADABLE),
        ("https://host/x https://user:s3cret@example.org/a", UNREADABLE),
        ("https://host/xhttps://user:s3cret@example.org/a", UNREADABLE),
        ("ext::https://user:s3cret@example.org/a", UNREADABLE),
        ("user:s3cret@example.org:a/b", UNREADABLE),
        ("//user:s3cret@example.org/a", UNREADABLE),
        ("example.org/a?token=s3cret", UNREADABLE),
        ("s3cret@example.org/a", UNREADABLE),
        ("https://user:s3cret@example.org/a\x1b[31m", UNREADABLE),
        ("/home/me/@types/node", "/home/me/@types/node"),
        ("../flask", "../flask"),
    ],
)
def test_a_location_is_shown_by_its_scheme_host_port_and_path(text: str, shown: str) -> None:
    assert shown_location(text) == shown


def test_a_folder_that_is_there_is_shown_whatever_its_name_is(tmp_path: Path) -> None:
    folder = tmp_path / "repo=a;b?c"
    folder.mkdir()

    assert shown_location(str(folder)) == str(folder)
    assert shown_location(str(tmp_path / "repo=gone")) == UNREADABLE


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("unable to access 'https://u:s3cret@h/a/': 403", "unable to access 'https://h/a/': 403"),
        ("git@h: Permission denied (publickey).", "git@h: Permission denied (publickey)."),
        ("s3cret@h: Permission denied (publickey).", f"{UNREADABLE} Permission denied (publickey)."),
        ("could not read Password for 'https://s3cret@h': no", "could not read Password for 'https://h': no"),
        ("see https://h/login?token=s3cret,or <ssh://x:s3cret@h/a>", "see https://h/login,or <ssh://h/a>"),
        ("fetch 'https://u:s3cret@h/a'\nand ('https://s3cret@h/b')", "fetch 'https://h/a'\nand ('https://h/b')"),
        ("fetch /a?token=s3cret", "fetch /a"),
        ("'https://h/a' has 3 branches: a=b", "'https://h/a' has 3 branches: a=b"),
    ],
)
def test_addresses_in_the_words_of_others_are_shown_by_their_parts(text: str, shown: str) -> None:
    assert with_shown_locations(text) == shown


_MARKER = "s3cretMark"
_ODD = st.text(alphabet=string.ascii_letters + string.digits + "-._~!$&'()*+,;=:@/?#[]\\ %\t\x07ü", max_size=6)
_AROUND = st.tuples(_ODD, _ODD).map(lambda sides: f"{sides[0]}{_MARKER}{sides[1]}")
# Each has a place for a secret that is neither host nor path.
_FORMS = st.sampled_from([
    "https://{}@host.example/owner/name.git",
    "https://user:{}@host.example/owner/name.git",
    "HTTPS://user:{}@host.example:8443/owner/name",
    "https://user:{}@[::1]/owner/name",
    "ssh://{}@host.example/owner/name.git",
    "ssh://git:{}@host.example/owner/name.git",
    "git+https://{}@host.example/owner/name.git",
    "file://{}@localhost/owner/name",
    "https://host.example/owner/name.git?{}",
    "https://host.example/owner/name.git?token={}&x=1",
    "https://host.example/owner/name.git#{}",
    "https://host.example/owner/name.git;token={}",
    "https://host.example/owner;token={}/name.git",
    "git@host.example:owner/name.git?{}",
    "git@host.example:owner/name.git#{}",
    "user:{}@host.example:owner/name.git",
    "user:{}@host.example/owner/name.git",
    "//user:{}@host.example/owner/name.git",
    " https://{}@host.example/owner/name.git",
    "https:/{}@host.example/owner/name.git",
    "https:{}@host.example/owner/name.git",
    "ext::https://user:{}@host.example/owner/name.git",
])  # fmt: skip


@given(_FORMS, _AROUND)
def test_no_secret_in_any_place_of_a_location_is_shown_becomes_a_key_or_is_in_an_error(form: str, secret: str) -> None:
    location = form.format(secret)

    shown = [shown_location(location), named_location(location)]
    try:
        kept = parse_location(location, base=Path("/"))
        address = take_apart(kept)
        shown += [key_base(kept), shown_location(kept), str(address)]
        if address and address.scheme == "https":
            shown.append(address.for_git)
    except ConfigurationError as error:
        shown += [str(error), str(error.__cause__)]

    assert not [each for each in shown if _MARKER in each]


@given(st.text(max_size=40), _FORMS, _AROUND, st.sampled_from("'\" ()<>\n"))
def test_no_password_in_the_words_of_others_is_shown(before: str, form: str, secret: str, divider: str) -> None:
    safe = "".join(each for each in secret if each.isalnum())

    assert _MARKER not in with_shown_locations(f"{before}{divider}{form.format(safe)}{divider}")
