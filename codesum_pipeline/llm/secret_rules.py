"""How secrets look: the documented formats of tokens and keys, one rule a kind.

A rule's pattern is tried only on texts that hold one of its keywords, in lower
case. What is secret is the group `s`, or else the whole match. All formats but
that of private keys are data: `secret_formats.toml`.
"""

import tomllib
from importlib.resources import files

from msgspec import Struct


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
    "private-key",
    ("private",),
    rf"{_PEM}(?:{_PEM_BODY}[A-Za-z0-9+/=]{{0,76}}{_PEM_BODY}{_PEM_END}|{_PEM_BODY})",
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
