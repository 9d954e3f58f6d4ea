"""Secrets made up at random in the formats that their issuers document, planted into code and settings.

No literal of a secret's shape stands here: each is put together when it is
asked for, so that no scanner of this repository stumbles over it.
"""

import random
import string
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass

HEX = string.hexdigits[:16]
UPPER = string.ascii_uppercase
LOWER = string.ascii_lowercase
WORD = string.ascii_letters + string.digits
URL_SAFE = WORD + "-_"
BASE32 = UPPER + "234567"
BASE64 = WORD + "+/"
PASSWORD = WORD + "!#%^*+-_~"


@dataclass(frozen=True, slots=True)
class Planted:
    """A text, the secret in it, and the secret's kind."""

    kind: str
    text: str
    secret: str


Draw = Callable[[random.Random], str]


def chars(alphabet: str, count: int) -> Draw:
    """So many characters of an alphabet."""
    return lambda rng: "".join(rng.choices(alphabet, k=count))


def joined(*parts: str | Draw) -> Draw:
    """Fixed and drawn parts in a row."""
    return lambda rng: "".join(part if isinstance(part, str) else part(rng) for part in parts)


def one_of(*draws: Draw) -> Draw:
    return lambda rng: rng.choice(draws)(rng)


def _password(rng: random.Random) -> str:
    return "".join(rng.sample(PASSWORD, 11)) + rng.choice(LOWER) + rng.choice(string.digits)


def _basic(rng: random.Random) -> str:
    return b64encode(f"app:{_password(rng)}".encode()).decode()


def _pem(rng: random.Random) -> str:
    kind = rng.choice(["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
    body = chars(BASE64, rng.choice([228, 1590]))(rng) + "=="
    lines = "\n".join(body[start : start + 64] for start in range(0, len(body), 64))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{lines}\n-----END {kind}PRIVATE KEY-----"


def _jwt(rng: random.Random) -> str:
    head = urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    claims = urlsafe_b64encode(f'{{"sub":"{rng.getrandbits(60)}","exp":17}}'.encode()).decode().rstrip("=")
    return f"{head}.{claims}.{chars(URL_SAFE, 43)(rng)}"


TOKENS: dict[str, Draw] = {
    "aws-access-key": joined(one_of(lambda _: "AK" + "IA", lambda _: "AS" + "IA"), chars(BASE32, 16)),
    "gcp-api-key": joined("AI", "za", chars(URL_SAFE, 34), chars(WORD, 1)),
    "google-oauth-secret": joined("GOC", "SPX-", chars(URL_SAFE, 27), chars(WORD, 1)),
    "google-oauth-token": joined("ya", "29.", chars(WORD, 60)),
    "azure-client-secret": joined(chars(WORD, 3), "8", "Q~", chars(WORD, 34)),
    "github-token": joined("gh", one_of(*map(chars, "pousr", [1] * 5)), "_", chars(WORD, 36)),
    "github-fine-grained-token": joined("github", "_pat_", chars(WORD, 22), "_", chars(WORD, 59)),
    "gitlab-token": joined("gl", "pat-", chars(URL_SAFE, 19), chars(WORD, 1)),
    "atlassian-token": joined("ATA", "TT3", chars(URL_SAFE, 180), "=", chars("0123456789ABCDEF", 8)),
    "bitbucket-token": joined("AT", "BB", chars(WORD, 24), chars("0123456789ABCDEF", 8)),
    "slack-token": joined("xo", "xb-", chars("123456789", 12), "-", chars("123456789", 12), "-", chars(WORD, 24)),
    "slack-webhook": joined("https://hooks.", "slack.com/services/T", chars(UPPER, 8), "/B", chars(WORD, 33)),
    "discord-bot-token": joined("M", chars(WORD, 23), ".", chars(WORD, 6), ".", chars(WORD, 27)),
    "discord-webhook": joined("https://discord.", "com/api/webhooks/", chars("123456789", 18), "/", chars(WORD, 68)),
    "telegram-bot-token": joined(chars("123456789", 10), ":A", "A", chars(WORD, 33)),
    "stripe-key": joined("sk_", "live_", chars(WORD, 24)),
    "stripe-webhook-secret": joined("wh", "sec_", chars(WORD, 32)),
    "square-token": joined("sq0", "atp-", chars(WORD, 22)),
    "shopify-token": joined("shp", "at_", chars(HEX, 32)),
    "sendgrid-key": joined("S", "G.", chars(URL_SAFE, 22), ".", chars(URL_SAFE, 42), chars(WORD, 1)),
    "twilio-key": joined("S", "K", chars(HEX, 32)),
    "mailgun-key": joined("key", "-", chars(HEX, 32)),
    "mailchimp-key": joined(chars(HEX, 32), "-u", "s", chars("123456789", 1)),
    "npm-token": joined("npm", "_", chars(WORD, 36)),
    "pypi-token": joined("py", "pi-AgE", "IcHlwaS5vcmc", chars(URL_SAFE, 150), chars(WORD, 1)),
    "rubygems-key": joined("ruby", "gems_", chars(HEX, 48)),
    "docker-token": joined("dckr", "_pat_", chars(WORD, 27)),
    "anthropic-key": joined("sk-", "ant-api03-", chars(URL_SAFE, 93), "AA"),
    "openai-key": joined("sk-", "proj-", chars(URL_SAFE, 74), "T3Blbk", "FJ", chars(WORD, 74)),
    "huggingface-token": joined("h", "f_", chars(LOWER + UPPER, 34)),
    "digitalocean-token": joined("dop", "_v1_", chars(HEX, 64)),
    "databricks-token": joined("da", "pi", chars(HEX, 32)),
    "vault-token": joined("hv", "s.", chars(WORD, 90)),
    "terraform-token": joined(chars(WORD, 14), ".atlas", "v1.", chars(WORD, 67)),
    "grafana-token": joined("gl", "sa_", chars(WORD, 32), "_", chars(HEX, 8)),
    "new-relic-key": joined("NR", "AK-", chars(UPPER + string.digits, 27)),
    "sentry-token": joined("snt", "ryu_", chars(HEX, 64)),
    "linear-key": joined("lin", "_api_", chars(WORD, 40)),
    "notion-token": joined("nt", "n_", chars(WORD, 46)),
    "airtable-token": joined("pa", "t", chars(WORD, 14), ".", chars(HEX, 64)),
    "figma-token": joined("fi", "gd_", chars(WORD, 40)),
    "postman-key": joined("PM", "AK-", chars(HEX, 24), "-", chars(HEX, 34)),
    "doppler-token": joined("dp", ".pt.", chars(WORD, 43)),
    "alibaba-key": joined("LT", "AI", chars(WORD, 20)),
    "age-secret-key": joined("AGE-SEC", "RET-KEY-1", chars(UPPER + string.digits, 58)),
    "private-key": _pem,
    "jwt": _jwt,
    "password-hash": joined("$2", "b$12$", chars(WORD + "./", 53)),
}  # fmt: skip

# A text with one place for a token: the languages and formats that a repository has.
TOKEN_PLACES = (
    'CLIENT = connect("{}")\n',
    "  value: {}\n",
    "const k = '{}';\n",
    "# used to be {} until we rotated it\n",
    'curl -H "X-Key: {}" https://api.invalid/v1\n',
    '{{"setting": "{}"}}\n',
    "VALUE={}\n",
)

# Secrets that only their surroundings betray: the kind, the text around, and what stands there.
ASSIGNED: tuple[tuple[str, str, Draw], ...] = (
    ("assigned-password", 'DB_PASSWORD = "{}"\n', _password),
    ("assigned-password", "password: {}\n", _password),
    ("assigned-password", "POSTGRES_PASSWORD={}\n", _password),
    ("assigned-password", 'connect(user="app", passwd="{}", port=5)\n', _password),
    ("assigned-password", '{{"user": "app", "password": "{}"}}\n', _password),
    ("assigned-password", 'private String dbPassword = "{}";\n', _password),
    ("assigned-password", "<property><dbPassword>{}</dbPassword></property>\n", chars(WORD + "!#", 12)),
    ("assigned-key", 'SECRET_KEY = "{}"\n', chars(WORD + "!@#^*-_=+", 50)),
    ("assigned-key", "api_key: {}\n", chars(HEX, 32)),
    ("assigned-key", 'const apiKey: string = "{}";\n', chars(WORD, 40)),
    ("assigned-key", 'access_token := "{}"\n', chars(WORD, 32)),
    ("assigned-key", "export APP_CLIENT_SECRET={}\n", chars(URL_SAFE, 40)),
    ("assigned-key", '"signing_key" => "{}",\n', chars(HEX, 64)),
    ("aws-secret-key", 'aws_secret_access_key = "{}"\n', chars(BASE64, 40)),
    ("azure-storage-key", "AccountName=shop;AccountKey={};Suffix=net\n", joined(chars(BASE64, 86), "==")),
    ("docker-auth", '{{"auths": {{"ghcr.io": {{"auth": "{}"}}}}}}\n', _basic),
    ("npmrc-credential", "//registry.invalid/:_authToken={}\n", chars(HEX + "-", 36)),
    ("url-password", 'DATABASE_URL = "postgresql://app:{}@db.internal:5432/shop"\n', chars(WORD + "!*", 14)),
    ("url-password", "redis://:{}@cache:6379/0\n", chars(WORD, 20)),
    ("url-parameter", 'get("https://api.invalid/v1?access_token={}&page=2")\n', chars(WORD, 32)),
    ("connection-string-password", "Server=db;Database=shop;User Id=app;Password={};Encrypt=true\n", chars(WORD, 14)),
    ("http-credentials", 'headers = {{"Authorization": "Bearer {}"}}\n', chars(WORD, 40)),
    ("http-credentials", "Authorization: Basic {}\n", _basic),
)  # fmt: skip


def planted(*, seed: int, each: int) -> Iterator[Planted]:
    """`each` secrets of every kind of token and of every assignment, the same for the same seed."""
    rng = random.Random(seed)
    for kind, draw in TOKENS.items():
        for number in range(each):
            secret = draw(rng)
            yield Planted(kind, TOKEN_PLACES[number % len(TOKEN_PLACES)].format(secret), secret)
    for kind, around, draw in ASSIGNED:
        for _ in range(each):
            secret = draw(rng)
            yield Planted(kind, around.format(secret), secret)
