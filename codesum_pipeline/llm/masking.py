"""Material is made safe to send: secrets are masked before it leaves the machine, and markers enclose it.

A marker holds the sha256 of the text that it encloses, so no text can close
its own marker and go on as if it were the prompt; and the same text gives the
same request. Invisible characters (controls, bidirectional and zero-width
ones) are removed first.

Of secrets, first what has a documented format, then values that are assigned to a name
such as `password` or `api_key` and look like nothing that a person would have
named. A mask names the kind. The number of lines stays, so that line numbers
stay true. A masked text is not masked again.

A rule's pattern is tried only on texts that hold one of its keywords, in lower
case. What is secret is the group `s`, or else the whole match. All formats but
that of private keys are data: `secret_formats.toml`.
"""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import partial
from importlib.resources import files
from math import log2

from msgspec import Struct

from codesum_pipeline.model.hashing import sha256_hex
from codesum_pipeline.model.printable import SUSPECT, UNPRINTABLE


class Rule(Struct, frozen=True):
    """One kind of secret. Its pattern is compiled for the first text that has one of the keywords."""

    kind: str
    keywords: tuple[str, ...]
    pattern: str


_PEM = r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_PEM_END = r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_PEM_RUN = "[A-Za-z0-9+/=]{24,}"
# Between its ends a key has base64 and what a language puts around lines of a string, and no code. Nothing of it is
# tried twice (`*+`): a line break written as an escape could be read in two ways, each of many lines.
_PEM_HEAD = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash):[^\n\\]{0,200}"
_PEM_BODY = rf"""(?:\\[nrt]|{_PEM_RUN}|{_PEM_HEAD}|[\s"'`+,;.:#*|>()\\])*+"""

# The only kind that goes over lines.
PRIVATE_KEY = Rule(
    "private-key", ("private",), rf"{_PEM}(?:{_PEM_BODY}[A-Za-z0-9+/=]{{0,76}}{_PEM_BODY}{_PEM_END}|{_PEM_BODY})"
)


def _read_formats() -> tuple[Rule, ...]:
    formats = tomllib.loads((files(__package__) / "secret_formats.toml").read_text("utf-8"))
    return tuple(
        Rule(
            kind,
            tuple(found.get("keywords", found.get("prefix", "")).lower().split()),
            found.get("pattern") or rf"(?<![A-Za-z0-9_]){found['prefix']}{found['rest']}(?![A-Za-z0-9])",
        )
        for kind, found in formats.items()
    )


FORMATS = _read_formats()


# Part of every key under which a text is kept that was written from masked source.
MASKING_VERSION = "1"

_BASE64_LINE = re.compile(r"[A-Za-z0-9+/=]{24}")
_PASSWORDS = r"passw(?:or)?d|passphrase|pwd"
_KEYS = (
    r"(?:api|access|account|auth|client|consumer|encryption|hmac|jwt|license|master|private|secret|service|session"
    r"|shared|signing|storage|webhook)[_-]?key|secret|token|credential"
)
_ASSIGN = r"(?::[ \t]{0,4}[\w.\[\]| ]{1,30}=|:=|=>|={1,3}|:)"
# Endings of names that hold something about a secret, and not the secret itself.
_ABOUT = re.compile(
    r"(?:^|[_.-]|(?<=[a-z0-9])(?=[A-Z]))(?i:alg|algorithm|attr|class|column|count|endpoint|env|error|expiry|field|file|format|header|hint|id|key"
    r"|label|length|len|message|name|param|path|pattern|placeholder|policy|prefix|prompt|re|regex|strategy|suffix|text"
    r"|title|ttl|type|uri|url|var|version)s?$"
)
_FILLER = re.compile(
    r"^\$[\w{(]|^%\{|^%\w+%$|<|>|\$\{|\{\{|\{\w*\}|%\(|(?<!\w)%s(?!\w)|\.\.\.|\*{3}|x{4}|your|example|change.?me|placeholder|redacted|insert|dummy|lorem|«",
    re.I,
)
_PART = re.compile(r"[./_:,\s-]+")
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ONE_NUMBER = re.compile(r"[A-Za-z]*+\d{0,4}[A-Za-z]*+")

_MIN_KEY_CHARS = 16
# Bits a character: random hexadecimal digits have nearly 4, words in a language about 3 at this length.
_MIN_KEY_ENTROPY = 3.0
_MIN_PASSWORD_CHARS = 6


class MaskedText(Struct, frozen=True):
    """A text without the secrets that were found, and how many of each kind."""

    text: str
    counts: Mapping[str, int]


def mask_secrets(text: str) -> MaskedText:
    """Replace each secret by `«masked KIND»`."""
    found: Counter[str] = Counter()
    if PRIVATE_KEY.keywords[0] in text.lower():
        text = re.sub(PRIVATE_KEY.pattern, partial(_replaced, kind=PRIVATE_KEY.kind, found=found), text)
    lowered = text.lower()
    lines = text.split("\n")
    for rule in _RULES:
        if any(keyword in lowered for keyword in rule.keywords):
            _mask_lines(lines, rule, found)
    return MaskedText("\n".join(lines), dict(sorted(found.items())))


def _mask_lines(lines: list[str], rule: Rule, found: Counter[str]) -> None:
    """Most lines hold none of a rule's keywords: looking for these is much cheaper than the pattern."""
    replaced = partial(_replaced, kind=rule.kind, found=found)
    for place, line in enumerate(lines):
        lowered = line.lower()
        if any(keyword in lowered for keyword in rule.keywords):
            lines[place] = re.sub(rule.pattern, replaced, line)


def _replaced(match: re.Match[str], *, kind: str, found: Counter[str]) -> str:
    group = "s" if match.re.groupindex else 0
    secret = match[group]
    if not _is_secret(kind, match, secret):
        return match[0]
    found[kind] += 1
    start, end = (place - match.start() for place in match.span(group))
    return f"{match[0][:start]}«masked {kind}»" + "\n" * secret.count("\n") + match[0][end:]


def _is_secret(kind: str, match: re.Match[str], value: str) -> bool:
    match kind:
        case "private-key":
            return _BASE64_LINE.search(value) is not None
        case "url-parameter" | "http-credentials":
            return not _is_named(value) and _FILLER.search(value) is None
        case "url-password":
            return _FILLER.search(value) is None and value.lower() not in ("pass", "password", "pw", "pwd", "secret")
        case "assigned-password" | "assigned-key":
            looks_secret = _looks_like_password if kind == "assigned-password" else _looks_like_key
            return looks_secret(value) and not _ABOUT.search(match["about"]) and not _is_code(match)
        case _:
            return True


def _is_code(match: re.Match[str]) -> bool:
    """Whether a value without quotes is a type or a name that a program assigns, and not a line of settings."""
    sign = match.groupdict().get("sign")
    if sign is None or sign == "=":
        return False
    value = match["s"].rstrip("?!")
    return value.isalpha() or ("=" in sign and _is_named(value.replace("@", ".")))


def _looks_like_password(value: str) -> bool:
    """Mixed of letters and other characters, and neither a path, a call nor words joined by dots and underscores."""
    if len(value) < _MIN_PASSWORD_CHARS or _FILLER.search(value) or "://" in value:
        return False
    if value.isdecimal():
        return True
    is_mixed = any(not (char.isalpha() or char in "._-/: ,'()") for char in value) or not _is_named(value)
    return is_mixed and any(map(str.isalpha, value)) and " " not in value


def _looks_like_key(value: str) -> bool:
    if len(value) < _MIN_KEY_CHARS or _FILLER.search(value) or "://" in value or " " in value:
        return False
    return any(map(str.isalpha, value)) and not _is_named(value) and _entropy(value) >= _MIN_KEY_ENTROPY


def _is_named(value: str) -> bool:
    """Whether a person would write it: words, each with one number at most, such as `oauth2_access_token`."""
    return all(_is_word(part) for part in _PART.split(value) if part)


def _is_word(part: str) -> bool:
    if part.isdecimal():
        return len(part) <= 4
    if len(part) <= 3:
        return True
    letters = sum(map(str.isalpha, part))
    # Humps of random letters are about two letters long, those of camelCase rarely under three, in all but short names.
    least = (2 if len(part) <= 6 else 3) * len(_HUMP.findall(part))
    return _ONE_NUMBER.fullmatch(part) is not None and least <= letters <= 24


def _entropy(value: str) -> float:
    """Shannon's, in bits a character."""
    return -sum(count / len(value) * log2(count / len(value)) for count in Counter(value).values())


def _assigned(kind: str, names: str, keywords: str) -> tuple[Rule, ...]:
    """Values in quotes, and to the end of a line of settings."""
    name = rf"(?i:{names})(?P<about>[\w.-]{{0,30}})"
    quoted = (
        rf"{name}[\"'\]]{{0,2}}[ \t]{{0,8}}{_ASSIGN}[ \t]{{0,8}}[rbu]?(?P<q>[\"'`])(?P<s>[^\n\"'`«»]{{6,300}})(?P=q)"
    )
    bare = (
        rf"{name}(?P<sign>[ \t]{{0,8}}[=:][ \t]{{0,8}})"
        r"(?P<s>[^\s\"'`,;(){}\[\]«»]{6,300})[ \t]*+;?(?=[\"'`]?\s*$)"
    )
    element = rf"<[\w:.-]{{0,40}}{name}[^<>]{{0,80}}>(?P<s>[^<>\s«»]{{6,300}})</"
    return tuple(Rule(kind, tuple(keywords.split()), pattern) for pattern in (quoted, bare, element))


_RULES = (
    *FORMATS,
    Rule(
        "url-password",
        ("://",),
        r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,30}://[^\s:/?#@\"'`<>«»]{0,80}:(?P<s>[^\s:/?#@\"'`<>«»]{3,200})@(?=[\w.\[-])",
    ),
    Rule(
        "url-parameter",
        ("=",),
        (
            r"[?&](?:access_token|api_?key|auth|client_secret|password|passwd|pwd|secret|sig|signature|token)="
            r"(?P<s>[^&\s\"'`<>(){}$%#«»]{8,300})"
        ),
    ),
    Rule(
        "connection-string-password",
        ("password=", "pwd="),
        r"(?i:\b(?:password|pwd))=(?P<s>[^;\s\"'`<>{}$%«»]{4,200})(?=;)",
    ),
    Rule(
        "http-credentials", ("bearer ", "basic ", "token "), r"\b(?i:bearer|basic|token) (?P<s>[A-Za-z0-9+/_.=~-]{16,})"
    ),
    *_assigned("assigned-password", _PASSWORDS, "passwd password passphrase pwd"),
    *_assigned("assigned-key", _KEYS, "secret token credential key"),
)


# 128 bits: a text that holds its own marker cannot be searched for.
_DIGEST_CHARS = 32
_VARIATION_SELECTORS = re.compile("[\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def enclose(text: str, label: str) -> str:
    """The visible text between markers that say what it is; nothing at all if there is no text."""
    shown = visible(text)
    if not shown.strip():
        return ""
    digest = sha256_hex(shown.encode("utf-8"))[:_DIGEST_CHARS]
    return f"<<<{label} {digest}\n{shown}\n{digest} {label}>>>"


def visible(text: str) -> str:
    """The text without characters that are not seen; as many lines as before."""

    def kept(match: re.Match[str]) -> str:
        unseen = unicodedata.category(match[0]) in UNPRINTABLE or _VARIATION_SELECTORS.match(match[0])
        return "" if unseen else match[0]

    return SUSPECT.sub(kept, text)


def numbered(source: str) -> str:
    """Each line behind its number, counted from 1: what citations refer to."""
    return "\n".join(f"{number}| {line}" for number, line in enumerate(source.rstrip("\n").split("\n"), start=1))
