"""The text of a file that no parser reads: prose, configuration, or a language without a parser."""

import re
from collections.abc import Sequence

from codesum_pipeline.model.documents import PurposeSource, WrittenText
from codesum_pipeline.summaries.documentation.leading_comment import leading_comment
from codesum_pipeline.summaries.documentation.opening import further_sentence
from codesum_pipeline.summaries.documentation.plain import clip, join_sentences, printable, sentence
from codesum_pipeline.summaries.documentation.prose import read_prose
from codesum_pipeline.summaries.documentation.settings_keys import top_level_keys
from codesum_pipeline.summaries.extractive.keywords import (
    BODY,
    DOCSTRING,
    NAME,
    PARAMETER,
    choose_keywords,
    is_keyword,
    rarity,
)
from codesum_pipeline.summaries.extractive.known_files import known_purpose
from codesum_pipeline.summaries.extractive.naming import fact, listed, said
from codesum_pipeline.summaries.extractive.places import folder_of, name_of_file
from codesum_pipeline.summaries.extractive.words import split_identifier
from codesum_pipeline.summaries.extractive.written import (
    MAX_ITEM,
    MAX_RESPONSIBILITIES,
    MAX_SUMMARY,
    Written,
    finished,
)
from codesum_pipeline.summaries.inputs import TextFileInput

_OPENING_CHARS = 440
_MAX_SHOWN = 8
_MAX_LINES = 4
_SCANNED_CHARS = 60_000
_PROSE_LANGUAGES = frozenset(("markdown", "rst", "restructuredtext", "text", "asciidoc", "org", "plaintext", "plain"))
_SETTINGS_LANGUAGES = frozenset(("toml", "yaml", "json", "ini", "cfg", "properties", "dotenv", "jsonc", "json5"))
_LICENSE_CHARS = 3000
_LICENSES = (
    (r"apache license", "Apache License 2.0"),
    (r"affero general public", "GNU Affero General Public License"),
    (r"lesser general public", "GNU Lesser General Public License"),
    (r"general public license", "GNU General Public License"),
    (r"mozilla public license", "Mozilla Public License 2.0"),
    (r"permission is hereby granted, free of charge", "MIT License"),
    (r"permission to use, copy, modify, and/or distribute", "ISC License"),
    (r"redistribution and use in source and binary forms", "BSD License"),
    (r"this is free and unencumbered software", "The Unlicense"),
    (r"python software foundation license", "Python Software Foundation License"),
    (r"creative commons", "Creative Commons"),
)
_IDENTIFIER = re.compile(r"[^\W\d]\w{2,40}")


def write_text_file(given: TextFileInput) -> Written:
    """Write the text of one file from its name and its text."""
    known = known_purpose(given.id)
    language = given.language.lower()
    extension = given.name.rpartition(".")[2].lower()
    if language in _SETTINGS_LANGUAGES or extension in _SETTINGS_LANGUAGES:
        return _settings(given, known)
    if is_prose(given) or (known and language in ("", "unknown")):
        return _license(given, known) if known.startswith("License") else _prose(given, known)
    return _source(given, known)


def is_prose(given: TextFileInput) -> bool:
    """Whether a text file is written for readers, as a README is."""
    extension = given.name.rpartition(".")[2].lower()
    return given.language.lower() in _PROSE_LANGUAGES or extension in ("md", "rst", "txt", "adoc")


def _prose(given: TextFileInput, known: str) -> Written:
    prose = read_prose(given.text)
    title = prose.title.rstrip(".:")
    lead = list(prose.sentences[:2])
    if title and lead and not lead[0].lower().startswith(title.lower()[:24]):
        lead[0] = f"{title}: {lead[0]}"
    elif title and not lead:
        lead = [title]
    items = [clip(item, 60).rstrip(".") for item in prose.items[:5]] if not lead or "packages" in known else []
    headings = [clip(heading, 50).rstrip(".:") for heading in prose.headings[:_MAX_SHOWN]]
    told = [known, *lead, fact("Entries:", "; ".join(items)), fact("Sections:", headings)]
    if not any(told):
        told = [_from_lines(given)]
    own = [(_stem(given), NAME), (title, NAME), *((heading, PARAMETER) for heading in prose.headings[:20])]
    own.extend((word, DOCSTRING) for one in prose.sentences[:8] for word in one.split())
    own.extend((item, BODY) for item in prose.items[:20])
    sections = tuple(f"Section {clip(heading, MAX_ITEM - 12)}" for heading in prose.headings[:MAX_RESPONSIBILITIES])
    return _written(given, told, own, prose.sentences[2:6], sections)


def _license(given: TextFileInput, known: str) -> Written:
    head = " ".join(given.text[:_LICENSE_CHARS].split())
    kind = next((name for pattern, name in _LICENSES if re.search(pattern, head, re.I)), "")
    told = f"{known}: {kind}" if kind else known
    return _written(given, [told], [(_stem(given), NAME), ("license terms copyright", PARAMETER), (kind, NAME)], ())


def _from_lines(given: TextFileInput) -> str:
    lines = [line for line in map(printable, given.text[:_SCANNED_CHARS].split("\n")) if any(map(str.isalnum, line))]
    shown = [clip(line, 50).rstrip(".,;") for line in lines[:_MAX_LINES]]
    more = f"; {len(lines) - len(shown)} more lines" if len(lines) > len(shown) else ""
    return f"Lines of text: {'; '.join(shown)}{more}" if shown else ""


def _settings(given: TextFileInput, known: str) -> Written:
    keys = top_level_keys(given.text[:_SCANNED_CHARS], given.name, given.language)
    comment = leading_comment(given.text)
    shown = [clip(key, 40) for key in keys]
    more = [f"{len(shown) - _MAX_SHOWN} more"] if len(shown) > _MAX_SHOWN else []
    lead = [known, *comment[:1]] if known or comment else [f"File {name_of_file(given.id)}"]
    told = [*lead, fact("Top-level keys:", [*shown[:_MAX_SHOWN], *more])]
    own = [(_stem(given), NAME), *((key, PARAMETER) for key in keys[:30])]
    own.extend((word, DOCSTRING) for one in comment[:3] for word in one.split())
    return _written(given, told, own, comment[1:3])


def _source(given: TextFileInput, known: str) -> Written:
    comment = leading_comment(given.text)
    names = _rare_identifiers(given.text[:_SCANNED_CHARS])
    told = [known, *comment[:2]]
    if not any(told):
        told = [fact(f"File {name_of_file(given.id)}. Names:", listed(names, _MAX_SHOWN))]
    own = [(_stem(given), NAME), *((word, DOCSTRING) for one in comment[:4] for word in one.split())]
    own.extend((name, BODY) for name in names[:20])
    return _written(given, told, own, comment[2:4])


def _rare_identifiers(text: str) -> list[str]:
    """Identifiers that stand more than once, the most telling first."""
    counts: dict[str, int] = {}
    for name in _IDENTIFIER.findall(text):
        counts[name] = counts.get(name, 0) + 1
    telling = []
    for name, count in counts.items():
        words = [word for word in split_identifier(name) if is_keyword(word)]
        if words and count > 1:
            telling.append((-max(map(rarity, words)) * min(count, 6), name))
    found: dict[str, str] = {}
    for _, name in sorted(telling)[:30]:
        found.setdefault(said(name), name)
    return list(found.values())


def _stem(given: TextFileInput) -> str:
    return given.name.strip(".").partition(".")[0]


def _written(
    given: TextFileInput,
    told: Sequence[str],
    own: Sequence[tuple[str, float]],
    further: Sequence[str],
    sections: tuple[str, ...] = (),
) -> Written:
    summary = join_sentences([clip(sentence(one), _OPENING_CHARS) for one in told if one], MAX_SUMMARY)
    summary = summary or f"File {printable(given.name) or 'without a name'}."
    text = WrittenText(
        summary=summary,
        business_intent=further_sentence(further, summary) or folder_of(given.id),
        keywords=choose_keywords(own, fallback=[*split_identifier(given.id), given.language, "file"]),
        responsibilities=sections,
    )
    return finished(text, PurposeSource.TEXT if any(map(str.isalnum, given.text[:200])) else PurposeSource.NAME)
