"""The text of a file that no parser reads: prose, configuration, or a language without a parser."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from codesum_pipeline.model.documents import PurposeSource
from codesum_pipeline.summaries.documentation.leading_comment import leading_comment
from codesum_pipeline.summaries.documentation.plain import clip, printable, sentence
from codesum_pipeline.summaries.documentation.prose import read_prose
from codesum_pipeline.summaries.documentation.settings_keys import top_level_keys
from codesum_pipeline.summaries.documentation.word_lists import word_table
from codesum_pipeline.summaries.extractive.composing import composed
from codesum_pipeline.summaries.extractive.keywords import BODY, NAME, PARAMETER, telling
from codesum_pipeline.summaries.extractive.known_files import known_purpose
from codesum_pipeline.summaries.extractive.naming import fact, listed, shortened
from codesum_pipeline.summaries.extractive.places import folder_of, name_of_file
from codesum_pipeline.summaries.extractive.words import split_identifier
from codesum_pipeline.summaries.extractive.written import MAX_ITEM, MAX_RESPONSIBILITIES, ExtractiveText
from codesum_pipeline.summaries.inputs import TextFileInput

_OPENING_CHARS = 440
_MAX_SHOWN = 8
_MAX_LINES = 4
_SCANNED_CHARS = 60_000
_PROSE_KINDS = frozenset(("markdown", "rst", "restructuredtext", "text", "asciidoc", "org", "plaintext", "plain"))
_PROSE_ENDINGS = frozenset(("md", "rst", "txt", "adoc"))
_SETTINGS_KINDS = frozenset(("toml", "yaml", "json", "ini", "cfg", "properties", "dotenv", "jsonc", "json5"))
_LICENSE_CHARS = 3000
_LICENSES = word_table("licenses")
_IDENTIFIER = re.compile(r"[^\W\d]\w{2,40}")


def write_text_file(given: TextFileInput) -> ExtractiveText:
    """Write the text of one file from its name and its text."""
    known = known_purpose(given.id)
    if not {given.language.lower(), _ending(given)}.isdisjoint(_SETTINGS_KINDS):
        return _settings(given, known)
    if is_prose(given) or (known and given.language.lower() in ("", "unknown")):
        return _license(given, known) if known.startswith("License") else _prose(given, known)
    return _source(given, known)


def is_prose(given: TextFileInput) -> bool:
    """Whether a text file is written for readers, as a README is."""
    return given.language.lower() in _PROSE_KINDS or _ending(given) in _PROSE_ENDINGS


def _ending(given: TextFileInput) -> str:
    return given.name.rpartition(".")[2].lower()


def _prose(given: TextFileInput, known: str) -> ExtractiveText:
    prose = read_prose(given.text)
    lead = prose.opening
    items = [clip(item, 60).rstrip(".") for item in prose.items[:5]] if not lead or "packages" in known else []
    headings = [clip(heading, 50).rstrip(".:") for heading in prose.headings[:_MAX_SHOWN]]
    told = [known, *lead, fact("Entries:", "; ".join(items)), fact("Sections:", headings)]
    words = [(prose.title, NAME), *((heading, PARAMETER) for heading in prose.headings[:20])]
    words += [(item, BODY) for item in prose.items[:20]]
    sections = tuple(f"Section {clip(heading, MAX_ITEM - 12)}" for heading in prose.headings[:MAX_RESPONSIBILITIES])
    shown = told if any(told) else [_from_lines(given)]
    return _written(given, shown, words, prose.sentences, used=2, responsibilities=sections)


def _license(given: TextFileInput, known: str) -> ExtractiveText:
    head = " ".join(given.text[:_LICENSE_CHARS].lower().split())
    kind = next((name for words, name in _LICENSES.items() if words in head), "")
    return _written(given, [": ".join(filter(None, (known, kind)))], [("license terms copyright", PARAMETER)], [kind])


def _from_lines(given: TextFileInput) -> str:
    lines = [line for line in map(printable, given.text[:_SCANNED_CHARS].split("\n")) if any(map(str.isalnum, line))]
    shown = [clip(line, 50).rstrip(".,;") for line in lines[:_MAX_LINES]]
    more = f"; {len(lines) - len(shown)} more lines" if len(lines) > len(shown) else ""
    return f"Lines of text: {'; '.join(shown)}{more}" if shown else ""


def _settings(given: TextFileInput, known: str) -> ExtractiveText:
    keys = top_level_keys(given.text[:_SCANNED_CHARS], given.name, given.language)
    comment = leading_comment(given.text)
    told = [known, *comment[:1], fact("Top-level keys:", shortened([clip(key, 40) for key in keys], _MAX_SHOWN))]
    return _written(given, told, [(key, PARAMETER) for key in keys[:30]], comment, used=1)


def _source(given: TextFileInput, known: str) -> ExtractiveText:
    comment = leading_comment(given.text)
    names = _rare_identifiers(given.text[:_SCANNED_CHARS])
    told = [known, *comment[:2]]
    if not any(told):
        told = [fact("Names:", listed(names, _MAX_SHOWN))]
    return _written(given, told, [(name, BODY) for name in names[:20]], comment, used=2)


def _rare_identifiers(text: str) -> list[str]:
    """Identifiers that stand more than once, the most telling first."""
    counts = Counter(_IDENTIFIER.findall(text))
    told = {
        name: max(map(telling, split_identifier(name)), default=0.0) * min(count, 6)
        for name, count in counts.items()
        if count > 1
    }
    return sorted(filter(told.get, told), key=lambda name: (-told[name], name))[:30]


def _written(
    given: TextFileInput,
    told: Iterable[str],
    words: Sequence[tuple[str, float]],
    prose: Sequence[str],
    used: int = 1,
    **fields: Any,
) -> ExtractiveText:
    facts = [clip(sentence(one), _OPENING_CHARS) for one in told if one]
    return composed(
        given,
        "",
        facts,
        name=f"File {name_of_file(given.id) or 'without a name'}.",
        part=folder_of(given.id),
        source=PurposeSource.TEXT if any(map(str.isalnum, given.text[:200])) else PurposeSource.NAME,
        words=[(given.name.strip(".").partition(".")[0], NAME), *words],
        prose=prose,
        used=used,
        **fields,
    )
