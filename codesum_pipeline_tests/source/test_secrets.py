"""Secrets do not leave the machine, and code that only speaks of them does."""

import random
from base64 import b64encode, encodebytes
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.source.masking import secrets
from codesum_pipeline.source.masking.secrets import MaskedText, mask_secrets, secrets_in
from codesum_pipeline_tests.support.planted_secrets import ASSIGNED, TOKENS, Planted, planted

PLANTED = list(planted(seed=7, each=7))


def _is_gone(one: Planted, masked: MaskedText) -> bool:
    """Of a web hook's address only the path's end is secret."""
    secret = one.secret.rpartition("/")[2] if one.secret.startswith("https://") else one.secret
    return secret not in masked.text and masked.counts == {one.kind: 1}


def test_there_are_many_kinds_of_planted_secrets() -> None:
    assert len(TOKENS.keys() | {kind for kind, _, _ in ASSIGNED}) >= 55


@pytest.mark.parametrize("kind", TOKENS)
def test_a_token_of_a_known_format_is_masked_wherever_it_stands(kind: str) -> None:
    tokens = [one for one in PLANTED if one.kind == kind and one.secret in one.text]

    assert [one for one in tokens if not _is_gone(one, mask_secrets(one.text))] == []


def test_almost_every_secret_that_is_assigned_to_a_telling_name_is_masked() -> None:
    """A random password can look like a word: such a one is not found."""
    assigned = [one for one in planted(seed=11, each=40) if one.kind not in TOKENS]
    missed = [one for one in assigned if one.secret in mask_secrets(one.text).text]

    assert len(missed) / len(assigned) < 0.005, missed


def test_secrets_are_counted_by_kind_and_lines_stay_as_many() -> None:
    text = "".join(one.text for one in PLANTED)
    masked = mask_secrets(text)

    assert masked.text.count("\n") == text.count("\n")
    assert masked.counts == dict(sorted(Counter(one.kind for one in PLANTED).items()))


@pytest.mark.parametrize("line", ["token_store = '{}'", "api_key: {}\r", "secretFuture = '{}'", "APP_TOKEN_V2={}"])
def test_a_name_that_only_sounds_like_one_about_a_secret_hides_none(line: str) -> None:
    secret = next(one.secret for one in PLANTED if one.kind == "assigned-key" and one.secret.isalnum())

    assert mask_secrets(line.format(secret)).text == line.format("«masked assigned-key»")


def test_a_masked_text_is_masked_no_further() -> None:
    masked = mask_secrets("".join(one.text for one in PLANTED))

    assert mask_secrets(masked.text) == MaskedText(masked.text, {})


def test_a_mask_says_the_kind_and_leaves_the_code_around_it() -> None:
    secret = next(one.secret for one in PLANTED if one.kind == "npm-token")

    assert mask_secrets(f'push("{secret}", 3)') == MaskedText('push("«masked npm-token»", 3)', {"npm-token": 1})


def test_a_key_within_code_takes_its_lines_and_no_others() -> None:
    pem = next(one.secret for one in PLANTED if one.kind == "private-key")
    escaped = pem.replace("\n", "\\n")
    text = f'a = 1\nKEY = """{pem}"""\nb = {{"private_key": "{escaped}"}}\n'

    masked = mask_secrets(text)

    lines = "\n" * pem.count("\n")
    assert (
        masked.text
        == f'a = 1\nKEY = """«masked private-key»{lines}"""\nb = {{"private_key": "«masked private-key»"}}\n'
    )
    assert masked.counts == {"private-key": 2}


def test_a_key_that_was_cut_off_is_masked_as_far_as_it_goes() -> None:
    pem = next(one.secret for one in PLANTED if one.kind == "private-key")
    cut = "\n".join(pem.split("\n")[:3])

    assert mask_secrets(cut).counts == {"private-key": 1}
    assert pem.split("\n")[1] not in mask_secrets(cut).text


@pytest.mark.parametrize(
    "code",
    [
        'return "-----BEGIN PRIVATE KEY-----\\n" + body + "\\n-----END PRIVATE KEY-----"',
        'password = request.form["password"]',
        'PASSWORD_FIELD = "user_password_2"',
        'passwordFieldName = "user-Pass#2"',
        'val token68Pattern = "[a-zA-Z0-9\\._~+/-]+=*".toRegex()',
        "password = user.password1",
        "        password: String?",
        "credential = this@toJs.credential",
        "def login(user: str, password: str = None) -> Token:",
        'token_url = "https://auth.invalid/oauth2/token"',
        'TOKEN_TYPE = "urn:ietf:params:oauth:token-type:jwt"',
        'SECRET_KEY = os.environ["SECRET_KEY"]',
        'secret_name = "projects/shop/secrets/db-password/versions/1"',
        'api_key = "YOUR_API_KEY_GOES_HERE_123456"',
        'client_secret="${CLIENT_SECRET_1234567890}"',
        "DB_URL=mysql://$DATABASE_USER:$DATABASE_PASSWORD@localhost/shop",
        'url = f"postgresql://{user}:{password}@{host}/{name}"',
        'authentication = "django.contrib.auth.backends.ModelBackend"',
        'token = "csrfmiddlewaretoken"',
        'if token == "Bearer authentication required":',
        "Bearer authentication and basic authentication are supported",
        'commit = "9fceb02d0ae598e95dc970b74767f19372d61af8"',
        "integrity = 'sha512-9nEFMnI0WfRnhVQFvVNY0Kkq4+1nXq1hJf3rO8T5vA=='",
        'id = "550e8400-e29b-41d4-a716-446655440000"',
        'tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")',
        "monkey: banana123456",
        'keyboard_shortcut = "ctrl+shift+alt+F12"',
        "pwd = os.getcwd()",
        'pragma = "sk-task-list-item-2"',
    ],
)
def test_code_that_only_speaks_of_secrets_stays_as_it_is(code: str) -> None:
    assert mask_secrets(code) == MaskedText(code, {})


@given(st.text(alphabet=st.sampled_from("abT0-_.:/@=\"'<>{}\n sk_live_password=BEGIN «masked x»"), max_size=300))
def test_any_text_keeps_its_lines(text: str) -> None:
    masked = mask_secrets(text)

    assert masked.text.count("\n") == text.count("\n")
    assert bool(masked.counts) == (masked.text != text)


PEM = next(one.secret for one in PLANTED if one.kind == "private-key")
LINES = PEM.split("\n")
BODY = "\n".join(LINES[1:-1])
ENCODED = b64encode(PEM.encode()).decode()
HEX = "\n".join(f"{random.Random(n).getrandbits(128):032x}" for n in range(16))
KEYS = {
    "a string over lines of Go": " +\n".join(f'\t"{line}\\n"' for line in LINES),
    "comments": "\n".join(f"// {line}" for line in LINES),
    "a list of strings": "[\n" + ",\n".join(f"'{line}'" for line in LINES) + "\n].join('\\n')",
    "escapes of escapes": '{"key": "' + PEM.replace("\n", "\\\\n") + '"}',
    "entities of XML": f"<key>{PEM.replace(chr(10), '&#10;')}</key>",
    "ssh.com": f'---- BEGIN SSH2 PRIVATE KEY ----\nComment: "a"\n{BODY}\n---- END SSH2 PRIVATE KEY ----',
    "PGP": f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 2\n\n{BODY}\n=Ab1d\n-----END PGP PRIVATE KEY BLOCK-----",
    "OpenVPN": f"-----BEGIN OpenVPN Static key V1-----\n{HEX}\n-----END OpenVPN Static key V1-----",
    "PuTTY": f"Encryption: none\nPrivate-Lines: {len(LINES) - 2}\n{BODY}\nPrivate-MAC: ab",
    "base64 of a kubeconfig": f"client-key-data: {ENCODED}",
    "base64 over lines": "tls.key: |\n  " + encodebytes(PEM.encode()).decode().strip().replace("\n", "\n  "),
}


@pytest.mark.parametrize("text", KEYS.values(), ids=KEYS.keys())
def test_a_private_key_is_masked_in_every_writing(text: str) -> None:
    masked = mask_secrets(text)

    assert masked.counts == {"private-key": 1}
    assert masked.text.count("\n") == text.count("\n")
    assert not [part for part in (*LINES[1:-1], *HEX.split("\n"), ENCODED[80:120]) if part in masked.text]


def test_what_is_public_is_not_masked() -> None:
    certificate = PEM.replace("PRIVATE KEY", "CERTIFICATE")

    for text in (certificate, b64encode(certificate.encode()).decode(), "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJb a@b"):
        assert mask_secrets(text).counts == {}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("machine a.invalid login bob password s3cr3t-Pw9", "netrc-password"),
        ("  password gh0st-Wr1te", "netrc-password"),
        ("db.invalid:5432:app:bob:s3cr3t-Pw9", "pgpass-password"),
        ("curl -u bob:s3cr3t!Pw9 https://a.invalid", "curl-password"),
        ("DB_PASSWORD=s3cr3t!Pw9 ./run", "assigned-password"),
        ('{"kty": "RSA", "d": "' + "X4cTteJY_gn4FYPsXB8rdXix5vwsg1FLN5E3EaG6RJoVH" + '"}', "jwk-private-part"),
        ("<D>" + "X4cTteJYgn4FYPsXB8rdXix5vwsg1FLN5E3EaG6RJoVH" + "</D>", "xml-private-key-part"),
        ("aws_session_token = " + "IQoJb3JpZ2luX2VjE" * 30, "aws-session-token"),
        ("admin:{SSHA}" + "0c0blFTXXNuAMHECS4uxrj3ZieMoWImr", "ldap-password-hash"),
    ],
    ids=lambda value: value[:12],
)
def test_a_secret_of_a_settings_file_is_masked(text: str, kind: str) -> None:
    assert mask_secrets(text).counts == {kind: 1}


@pytest.mark.parametrize(
    "text",
    [
        "To reset your password please\npassword reset\npassword: see docs",
        "docker run -u 1000:1000 image",
        "git push -u origin:branch-1",
        "chown --user=bob:staff12 file",
        "f(password=foo1, other)",
        "if password=user.password1 then",
        "docker run -e API_TOKEN=$TOKEN image",
        "password=secret1 in tests",
        "network:*:x",
        "  listen:5432:a:b",
    ],
)
def test_words_and_options_that_only_look_like_such_settings_stay(text: str) -> None:
    assert mask_secrets(text) == MaskedText(text, {})


def test_secrets_are_given_with_their_kinds() -> None:
    token = next(one.secret for one in PLANTED if one.kind == "npm-token")

    assert secrets_in(f'push("{token}")\npassword = "s3cr3t!Pw9"\n') == {
        token: "npm-token",
        "s3cr3t!Pw9": "assigned-password",
    }


REPEATED: dict[str, Callable[[int], str]] = {
    "beginnings of keys": lambda n: "-----BEGIN PRIVATE KEY-----\n" * (n // 28),
    "a key without an end": lambda n: f"{LINES[0]}\n" + f"{LINES[1]}\n" * (n // 65),
    "names": lambda n: "token" * (n // 5),
    "assignments": lambda n: "token=" * (n // 6),
    "quotes": lambda n: "token='" * (n // 7),
    "elements": lambda n: "<token " * (n // 7),
    "addresses": lambda n: "a://b:" * (n // 6),
    "web tokens": lambda n: "eyJ" * (n // 3),
    "web tokens with dots": lambda n: "eyJhbGciOiJIUz." * (n // 15),
    "base64": lambda n: "LS0tLS1CRUdJTi" * (n // 14),
    "prefixes": lambda n: "sk-ant-" * (n // 7),
    "hyphens": lambda n: "-" * n,
    "logins": lambda n: "login a " * (n // 8) + "password ",
    "colons": lambda n: "a:5432:" * (n // 7),
}


@pytest.mark.parametrize("make", REPEATED.values(), ids=REPEATED.keys())
def test_one_line_of_a_megabyte_is_read(make: Callable[[int], str]) -> None:
    """A pattern that tries too much takes minutes here, and the suite's limit of a test's time ends it."""
    text = make(1_000_000)

    assert mask_secrets(text).text.count("\n") == text.count("\n")


@pytest.mark.slow
def test_a_hundred_thousand_secrets_are_masked_each() -> None:
    rng = random.Random(3)
    text = "\n".join(f'token = "ghp_{rng.getrandbits(190):040x}"' for _ in range(100_000))

    assert mask_secrets(text).counts == {"github-token": 100_000}


def test_a_text_that_utf_8_cannot_hold_is_masked_as_any() -> None:
    text = "\ud800 = 1\npassword = 'hG7kq9Lx2p'\n\udcff"

    assert mask_secrets(text).text == "\ud800 = 1\npassword = '«masked assigned-password»'\n\udcff"


def test_keywords_are_found_where_the_automaton_has_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def Match(self, text: bytes) -> None:  # noqa: N802
            return None

    keywords, _ = secrets._keyword_set()
    monkeypatch.setattr(secrets, "_keyword_set", lambda: (keywords, Full()))

    assert "«masked assigned-password»" in mask_secrets("password = 'hG7kq9Lx2p'").text
