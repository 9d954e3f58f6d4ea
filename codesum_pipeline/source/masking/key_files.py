"""Files that are nothing but keys: private and public ones, certificates, tokens.

Nobody searches for them, and a text about one would be made of the key. Its content decides: there is a key, and beside
it nothing but comments and what programs write around keys.
"""

import re

from codesum_pipeline.foundation.language_facts.file_languages import PROSE, TEXT, is_program
from codesum_pipeline.source.masking.secrets import looks_like_key, mask_secrets

# What keys are armoured with, whatever they are called; one that was cut off has no end.
_BLOCK = re.compile(
    r"""
    -{4,5}[ ]?BEGIN[ ][A-Za-z0-9 ]{1,60}-{4,5} [ \t]*+\n
    (?: [ \t]*+ (?: (?: [A-Za-z0-9+/=]{1,80}+ | [\w-]{1,30}:[ ][^\n]{0,200} ) [ \t]*+ )? (?:\n|\Z) )*+
    (?: [ \t]* -{4,5}[ ]?END[ ][A-Za-z0-9 ]{1,60}-{4,5} [ \t]* )?
    """,
    re.VERBOSE,
)
_PUTTY = re.compile(r"\APuTTY-User-Key-File-\d+: ")
_PUBLIC_LINE = re.compile(
    r"^(?:[^\s\"']{1,200} )?(?:ssh|sk|ecdsa-sha2)-[a-z0-9@.-]{2,60} AAAA[A-Za-z0-9+/=]{20,}(?: [^\n]{0,200})?$"
)
_COMMENT = re.compile(r"^[ \t]*(?:[#;]|//|--(?!-))")
# `openssl` and others write such lines before a block: `Bag Attributes`, `    localKeyID: 01`, `subject=CN = x`.
_ATTRIBUTE = re.compile(r"^(?:[A-Z][a-z]+ Attributes|[ \t]*[A-Za-z][\w .-]{0,40}[:=].{0,300})$")
_MASK = re.compile(r"«masked [\w -]+»")
_BASE64 = re.compile(r"^[A-Za-z0-9+/=]{1,80}$")
_CALLED_KEY = re.compile(
    r"(?:^|[._-]|api)(?:key|secret|token|passw(?:or)?d|passphrase|credentials?)s?(?:[._-]|$)", re.IGNORECASE
)
_ONE_WORD = re.compile(r"[!-~]{16,4096}")


def is_only_keys(path: str, text: str, language: str) -> bool:
    """Whether a file that is no program holds nothing but keys."""
    if language != TEXT and is_program(language):
        return False
    word = text.strip()
    if _CALLED_KEY.search(path.rpartition("/")[2]) and _ONE_WORD.fullmatch(word) and looks_like_key(word):
        return True
    rest, blocks = _BLOCK.subn("", text)
    blocks += _PUTTY.match(text) is not None
    lines = [line for line in rest.split("\n") if line.strip()]
    # In markup a `#` begins a heading.
    if language == TEXT or language not in PROSE:
        lines = [line for line in lines if not _COMMENT.match(line)]
        if blocks and all(_ATTRIBUTE.match(line) or _BASE64.match(line) for line in lines):
            return True
    others = [line for line in lines if not _PUBLIC_LINE.match(line)]
    if not others:
        return blocks > 0 or bool(lines)
    # Of most files the first line says that they are something else.
    return _is_secret(others[0]) and _is_secret("\n".join(others))


def _is_secret(text: str) -> bool:
    """Whether nothing is left of a text without its secrets."""
    return not _MASK.sub("", mask_secrets(text).text).strip(" \t\n\"',")
