"""Secrets in a text are masked before it is stored or leaves the machine, and markers enclose what a model is shown.

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
from base64 import b64decode
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from math import log2
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import re2

# Part of the version of all that is stored of a file: raise it with any rule.
SECRETS_VERSION = "secrets/1"


class Rule(Struct, frozen=True):
    """One kind of secret. Its pattern is compiled for the first text that has one of the keywords. Where several rules
    look for one `name`, an expression too, lines without it are left out once for all of them."""

    kind: str
    keywords: tuple[str, ...]
    pattern: str
    name: str = ""


# OpenSSL's and OpenSSH's keys, PGP's, those of ssh.com (four hyphens and a space), OpenVPN's shared ones.
_LABEL = r"(?:(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V\d)"
_PEM = rf"-{{4,5}} ?BEGIN {_LABEL} ?-{{4,5}}"
_PEM_END = rf"-{{4,5}} ?END {_LABEL} ?-{{4,5}}"
_PEM_RUN = "[A-Za-z0-9+/=]{24,}"
# Between its ends a key has base64 and what a language puts around lines of a string, and no code. Nothing of it is
# tried twice (`*+`): a line break written as an escape could be read in two ways, each of many lines.
_PEM_HEAD = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Subject):[^\n\\]{0,200}"
_LINE_BREAK = r"\\[nrt]|\\u000[aAdD]|&#(?:10|13|x[aAdD]);|%0[aAdD]"
_PEM_BODY = rf"""(?:{_LINE_BREAK}|{_PEM_RUN}|{_PEM_HEAD}|[\s"'`+,;.:#*/|>()\\])*+"""
# The last lines of a key are shorter: its end, and a checksum.
_PEM_SHORT = rf"(?:[A-Za-z0-9+/=]{{1,76}}{_PEM_BODY}){{0,2}}"
# Base64 of `-----BEGIN ` and a label, and of OpenSSH's first bytes.
_ENCODED_HYPHENS = "LS0tLS1CRUdJTi"
_LABEL_CHARS = 52
_ENCODED = rf"(?:{_ENCODED_HYPHENS}|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/]{{40,}}+={{0,2}}"
_MORE_LINES = (
    r"(?:(?:\\?\n|\\n)[ \t]{0,80}[A-Za-z0-9+/]{20,}+={0,2})*+(?:(?:\\?\n|\\n)[ \t]{0,80}[A-Za-z0-9+/]{1,19}={1,2})?"
)

# The only ones that go over lines. PuTTY's has no end, but says how many lines it has.
PRIVATE_KEYS = (
    Rule("private-key", ("private key", "static key"), rf"{_PEM}(?:{_PEM_BODY}{_PEM_SHORT}{_PEM_END}|{_PEM_BODY})"),
    Rule(
        "private-key",
        ("private-lines:",),
        r"(?m:Private-Lines:[ \t]{0,4}\d{1,4}[ \t]{0,4}\n(?P<s>(?:[A-Za-z0-9+/=]{1,76}(?:\n|\Z))++))",
    ),
    Rule("private-key", ("ls0tls1crudjti", "b3blbnnzac1rzxktdje"), rf"{_ENCODED}{_MORE_LINES}"),
)


def _read_formats() -> tuple[Rule, ...]:
    formats = tomllib.loads((files(__package__) / "secret_formats.toml").read_text("utf-8"))
    return tuple(
        Rule(
            kind,
            tuple(found.get("exact_keywords") or found.get("keywords", found.get("prefix", "")).lower().split()),
            found.get("pattern") or rf"(?<![A-Za-z0-9_]){found['prefix']}{found['rest']}(?![A-Za-z0-9])",
        )
        for kind, found in formats.items()
    )


FORMATS = _read_formats()


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

# In names the masks of one kind are numbered.
_MASK = re.compile(r"«masked ([a-z0-9-]+)(?: \d+)?»")

_MIN_KEY_CHARS = 16
# Bits a character: random hexadecimal digits have nearly 4, words in a language about 3 at this length.
_MIN_KEY_ENTROPY = 3.0
_MIN_PASSWORD_CHARS = 6


class MaskedText(Struct, frozen=True):
    """A text without the secrets that were found, and how many of each kind."""

    text: str
    counts: Mapping[str, int]


class _Findings:
    """The secrets of one text: how many of each kind, and each with its kind."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.kinds: dict[str, str] = {}


def mask_secrets(text: str) -> MaskedText:
    """Replace each secret by `«masked KIND»`."""
    found = _Findings()
    masked = _masked(text, found)
    return MaskedText(masked, dict(sorted(found.counts.items())))


def secrets_in(text: str) -> dict[str, str]:
    """Each secret in a text with its kind, as `mask_secrets` finds them."""
    found = _Findings()
    _masked(text, found)
    return found.kinds


def mask_of(kind: str) -> str:
    """What stands for a secret of a kind."""
    return f"«masked {kind}»"


def masks_in(text: str) -> Counter[str]:
    """How many masks of each kind are in a text."""
    return Counter(_MASK.findall(text))


def _masked(text: str, found: _Findings) -> str:
    lowered = text.lower()
    keywords = _keywords_in(lowered)
    for rule in PRIVATE_KEYS:
        if not keywords.isdisjoint(rule.keywords):
            text = re.sub(rule.pattern, partial(_replaced, kind=rule.kind, found=found), text)
    rules = [rule for rule in _RULES if not keywords.isdisjoint(rule.keywords)]
    if not rules:
        return text
    lines, starts = text.split("\n"), _line_starts(lowered)
    # Some rules share their keywords.
    places: dict[tuple[tuple[str, ...], str], Sequence[int]] = {}
    for rule in rules:
        key = rule.keywords, rule.name
        if key not in places:
            places[key] = _places_of(keywords.intersection(rule.keywords), lowered, starts)
            if rule.name:
                named = re.compile(rule.name)
                places[key] = [place for place in places[key] if named.search(lines[place])]
        replaced, pattern = partial(_replaced, kind=rule.kind, found=found), re.compile(rule.pattern)
        for place in places[key]:
            lines[place] = pattern.sub(replaced, lines[place])
    return "\n".join(lines)


@cache
def _keyword_set() -> "tuple[tuple[str, ...], re2.Set]":
    """All keywords, and one automaton that finds each of them."""
    # Most commands mask nothing.
    import re2

    keywords = tuple({keyword for rule in (*PRIVATE_KEYS, *_RULES) for keyword in rule.keywords})
    options = re2.Options()
    options.encoding, options.literal = re2.Options.Encoding.LATIN1, True
    found = re2.Set.SearchSet(options)
    for keyword in keywords:
        found.Add(keyword)
    found.Compile()
    return keywords, found


def _keywords_in(lowered: str) -> set[str]:
    """The keywords of any rule that a text in lower case holds."""
    keywords, automaton = _keyword_set()
    numbers = automaton.Match(lowered.encode("utf-8", "surrogatepass"))
    if numbers is None:
        # There is none; or the automaton had no room for its states, which it does not tell from that.
        return {keyword for keyword in keywords if keyword in lowered}
    return {keywords[number] for number in numbers}


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in re.finditer("\n", text))]


def _places_of(keywords: Iterable[str], lowered: str, starts: Sequence[int]) -> Sequence[int]:
    """The numbers of the lines with a keyword: to look for these is much cheaper than to try the pattern."""
    places = set()
    for keyword in keywords:
        at = lowered.find(keyword)
        while at >= 0:
            place = bisect_right(starts, at)
            places.add(place - 1)
            at = lowered.find(keyword, starts[place]) if place < len(starts) else -1
    return sorted(places)


def _replaced(match: re.Match[str], *, kind: str, found: _Findings) -> str:
    group = "s" if match.re.groupindex else 0
    secret = match[group]
    if not _is_secret(kind, match, secret):
        return match[0]
    found.counts[kind] += 1
    found.kinds.setdefault(secret, kind)
    start, end = (place - match.start() for place in match.span(group))
    return f"{match[0][:start]}{mask_of(kind)}" + "\n" * secret.count("\n") + match[0][end:]


def _is_secret(kind: str, match: re.Match[str], value: str) -> bool:
    match kind:
        case "private-key":
            return _BASE64_LINE.search(value) is not None and not _is_public(value)
        case "netrc-password" | "pgpass-password":
            return _looks_like_password(value)
        case "curl-password":
            # Other programs take a user and a group there, or two branches.
            return _looks_like_password(value) and not _is_named(value)
        case "url-parameter" | "http-credentials":
            return not _is_named(value) and _FILLER.search(value) is None
        case "url-password":
            return _FILLER.search(value) is None and value.lower() not in ("pass", "password", "pw", "pwd", "secret")
        case "assigned-password" | "assigned-key":
            looks_secret = _looks_like_password if kind == "assigned-password" else looks_like_key
            return looks_secret(value) and not _ABOUT.search(match["about"]) and not _is_code(match)
        case _:
            return True


def _is_public(value: str) -> bool:
    """Whether a value is the base64 of a certificate or of another block that is no private key."""
    if not value.startswith(_ENCODED_HYPHENS):
        return False
    return b"PRIVATE KEY" not in b64decode(value[:_LABEL_CHARS])


def _is_code(match: re.Match[str]) -> bool:
    """Whether a value without quotes is a type or a name that a program assigns, and not a line of settings."""
    sign = match.groupdict().get("sign")
    value = match["s"].rstrip("?!")
    if match.groupdict().get("inline"):
        return _is_named(value)
    if sign is None or sign == "=":
        return False
    return value.isalpha() or ("=" in sign and _is_named(value.replace("@", ".")))


def _looks_like_password(value: str) -> bool:
    """Mixed of letters and other characters, and neither a path, a call nor words joined by dots and underscores."""
    if len(value) < _MIN_PASSWORD_CHARS or _FILLER.search(value) or "://" in value:
        return False
    if value.isdecimal():
        return True
    is_mixed = any(not (char.isalpha() or char in "._-/: ,'()") for char in value) or not _is_named(value)
    return is_mixed and any(map(str.isalpha, value)) and " " not in value


def looks_like_key(value: str) -> bool:
    """Whether it is one long word that nobody would have written."""
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
    """Values in quotes, and to the end of a line of settings. What ends a value is no part of one, so a part of it is
    not tried (`}+`)."""
    name = rf"(?i:{names})(?P<about>[\w.-]{{0,30}}+)"
    quoted = (
        rf"{name}[\"'\]]{{0,2}}[ \t]{{0,8}}{_ASSIGN}[ \t]{{0,8}}[rbu]?(?P<q>[\"'`])(?P<s>[^\n\"'`«»]{{6,300}}+)(?P=q)"
    )
    bare = (
        rf"{name}(?P<sign>[ \t]{{0,8}}[=:][ \t]{{0,8}})"
        r"(?P<s>[^\s\"'`,;(){}\[\]«»]{6,300}+)[ \t]*+;?(?=[\"'`]?\s*$)"
    )
    # Before a command or among its arguments; in code a name may stand there.
    inline = rf"{name}(?P<inline>=)(?P<s>[^\s\"'`,;(){{}}\[\]«»=][^\s\"'`,;(){{}}\[\]«»]{{5,300}}+)(?=[ \t])"
    element = rf"<[\w:.-]{{0,40}}{name}[^<>]{{0,80}}>(?P<s>[^<>\s«»]{{6,300}}+)</"
    patterns = (quoted, bare, inline, element)
    return tuple(Rule(kind, tuple(keywords.split()), pattern, rf"(?i:{names})") for pattern in patterns)


_RULES = (
    *FORMATS,
    *_assigned("assigned-password", _PASSWORDS, "passwd password passphrase pwd"),
    *_assigned("assigned-key", _KEYS, "secret token credential key"),
)
