"""The languages that a digest can be written in: those of ISO 639-1, by English name or by tag.

What an intent says goes into a prompt, where a misspelt language is written in
English and nobody is warned. `German`, `de` and `de-CH` are known; `Germn` is not.
"""

import difflib
import re
import tomllib
from collections.abc import Mapping
from importlib import resources

# A tag as of BCP 47, as far as a writer needs it: language, script, region.
_TAG = re.compile(r"(?P<language>[a-z]{2})(?:[-_](?P<script>[A-Z][a-z]{3}))?(?:[-_](?P<region>[A-Z]{2}|[0-9]{3}))?")
LANGUAGES: Mapping[str, str] = tomllib.loads(
    resources.files(__package__).joinpath("digest_languages.toml").read_text(encoding="utf-8")
)
_BY_NAME = {name.lower(): name for name in LANGUAGES.values()}


def language_name(written: str) -> str:
    """The English name of a language's name or tag, with its script and region: `de-CH` is `German (CH)`.

    Raises `ValueError` with the way out for one that is not known.
    """
    text = written.strip()
    if found := _BY_NAME.get(text.lower()):
        return found
    tag = _TAG.fullmatch(text)
    if tag and tag["language"] in LANGUAGES:
        parts = [part for part in (tag["script"], tag["region"]) if part]
        return LANGUAGES[tag["language"]] + (f" ({', '.join(parts)})" if parts else "")
    named, _, rest = text.partition(" (")
    if rest.endswith(")") and (found := _BY_NAME.get(named.lower())):
        code = next(code for code, name in LANGUAGES.items() if name == found)
        return language_name("-".join([code, *rest[:-1].split(", ")]))
    near = difflib.get_close_matches(text[:60].lower(), _BY_NAME, n=1)
    hint = f"; the nearest is {_BY_NAME[near[0]]!r}" if near else ""
    raise ValueError(f"unknown language{hint}: write its English name or its tag ('German', 'de', 'pt-BR')")
