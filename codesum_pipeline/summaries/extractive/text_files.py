"""The text of a file that no parser reads: prose, configuration, or a language without a parser."""

import re
from collections.abc import Sequence

from codesum_pipeline.model.documents import PurposeSource, WrittenText
from codesum_pipeline.summaries.extractive.intent import further_sentence
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
from codesum_pipeline.summaries.extractive.leading_comment import leading_comment
from codesum_pipeline.summaries.extractive.places import area_of
from codesum_pipeline.summaries.extractive.plain import (
    clip,
    enumerate_first,
    enumerate_words,
    join_sentences,
    printable,
    sentence,
)
from codesum_pipeline.summaries.extractive.prose import read_prose
from codesum_pipeline.summaries.extractive.settings_keys import top_level_keys
from codesum_pipeline.summaries.extractive.words import indefinite, split_identifier, spoken
from codesum_pipeline.summaries.extractive.written import (
    MAX_INTENT,
    MAX_ITEM,
    MAX_RESPONSIBILITIES,
    MAX_SUMMARY,
    MIN_ITEM,
    MIN_SUMMARY,
    Written,
    finished,
)
from codesum_pipeline.summaries.inputs import TextFileInput

_OPENING_CHARS = 440
_MAX_SHOWN = 8
_FURTHER_CHARS = 200
_SCANNED_CHARS = 60_000
_MAX_IDENTIFIERS = 6
_PROSE_LANGUAGES = frozenset(("markdown", "rst", "restructuredtext", "text", "asciidoc", "org", "plaintext", "plain"))
_SETTINGS_LANGUAGES = frozenset(("toml", "yaml", "json", "ini", "cfg", "properties", "dotenv", "jsonc", "json5"))
_LANGUAGE_NAMES = {
    "javascript": "JavaScript", "typescript": "TypeScript", "tsx": "TSX", "cpp": "C++", "c": "C", "csharp": "C#",
    "c_sharp": "C#", "html": "HTML", "css": "CSS", "sql": "SQL", "php": "PHP", "json": "JSON", "yaml": "YAML",
    "toml": "TOML", "ini": "INI", "xml": "XML", "rst": "reStructuredText", "csv": "CSV", "powershell": "PowerShell",
}  # fmt: skip
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
        return _prose(given, known)
    return _source(given, known)


def is_prose(given: TextFileInput) -> bool:
    """Whether a text file is written for readers, as a README is."""
    extension = given.name.rpartition(".")[2].lower()
    return given.language.lower() in _PROSE_LANGUAGES or extension in ("md", "rst", "txt", "adoc")


def _prose(given: TextFileInput, known: str) -> Written:
    prose = read_prose(given.text)
    title = prose.title.rstrip(".:")
    lead = list(prose.sentences[:2])
    opening = sentence(known) if known else ""
    if known.startswith("License"):
        return _license(given, known)
    if title and lead and not lead[0].lower().startswith(title.lower()[:24]):
        lead[0] = f"{title}: {lead[0]}"
    elif title and not lead:
        lead = [title]
    items = [clip(item, 60).rstrip(".") for item in prose.items[:5]]
    listed = (
        sentence(f"Lists {'; '.join(items)}") if items and (not lead or known.startswith("Lists the Python")) else ""
    )
    headings = [clip(heading, 50).rstrip(".:") for heading in prose.headings[:_MAX_SHOWN]]
    covers = sentence(f"Covers {', '.join(headings)}") if headings else ""
    told = [opening, *map(sentence, lead), listed, covers]
    if not any(told):
        told = [_from_lines(given)]
    own = [(_stem(given), NAME), (title, NAME), *((heading, PARAMETER) for heading in prose.headings[:20])]
    own.extend((word, DOCSTRING) for one in prose.sentences[:8] for word in one.split())
    own.extend((item, BODY) for item in prose.items[:20])
    return _written(given, told, own, prose.sentences[2:6], _sections(prose.headings), "Documentation")


def _license(given: TextFileInput, known: str) -> Written:
    head = " ".join(given.text[:_LICENSE_CHARS].split())
    kind = next((name for pattern, name in _LICENSES if re.search(pattern, head, re.I)), "")
    told = sentence(f"{known}: {kind}" if kind else known)
    return _written(
        given,
        [told],
        [(_stem(given), NAME), ("license terms copyright", PARAMETER), (kind, NAME)],
        (),
        (),
        "Legal terms",
    )


def _from_lines(given: TextFileInput) -> str:
    lines = [line for line in map(printable, given.text[:_SCANNED_CHARS].split("\n")) if any(map(str.isalnum, line))]
    shown = [clip(line, 50).rstrip(".,;") for line in lines[:4]]
    more = f" and {len(lines) - len(shown)} more lines" if len(lines) > len(shown) else ""
    return sentence(f"Lines of text: {'; '.join(shown)}{more}") if shown else ""


def _sections(headings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"Section on {clip(heading, MAX_ITEM - 12)}" for heading in headings[:MAX_RESPONSIBILITIES])


def _settings(given: TextFileInput, known: str) -> Written:
    keys = top_level_keys(given.text[:_SCANNED_CHARS], given.name, given.language)
    comment = leading_comment(given.text)
    what = known or f"{_language(given)} settings for {area_of(given.id)}"
    shown = [clip(key, 40) for key in keys]
    listed = f"Its top-level keys are {enumerate_first(shown, _MAX_SHOWN)}." if shown else ""
    own = [
        (_stem(given), NAME),
        *((key, PARAMETER) for key in keys[:30]),
        *((word, DOCSTRING) for one in comment[:3] for word in one.split()),
    ]
    return _written(given, [sentence(what), *comment[:1], listed], own, comment[1:3], (), "Configuration")


def _source(given: TextFileInput, known: str) -> Written:
    comment = leading_comment(given.text)
    names = _rare_identifiers(given.text[:_SCANNED_CHARS])
    lines = given.text.count("\n") + 1
    words = enumerate_words([spoken(name) for name in names[:_MAX_IDENTIFIERS]])
    size = f"{indefinite(_language(given))} {_language(given)} file of {lines} line{'s' if lines > 1 else ''}"
    about = f"that deals with {words}" if words else f"on {area_of(given.id)}"
    own = [
        (_stem(given), NAME),
        *((word, DOCSTRING) for one in comment[:4] for word in one.split()),
        *((name, BODY) for name in names[:20]),
    ]
    return _written(
        given,
        [sentence(known), *comment[:2], sentence(f"{size[0].upper()}{size[1:]} {about}")],
        own,
        comment[2:4],
        (),
        f"{_language(given)} source",
    )


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
        found.setdefault(spoken(name), name)
    return list(found.values())


def _language(given: TextFileInput) -> str:
    language = given.language.lower()
    if language in ("", "unknown", "text"):
        extension = given.name.rpartition(".")[2] if "." in given.name.strip(".") else ""
        return printable(extension).upper() if 0 < len(extension) <= 5 and extension.isalnum() else "text"
    return _LANGUAGE_NAMES.get(language, printable(given.language).capitalize() or "text")


def _stem(given: TextFileInput) -> str:
    return given.name.strip(".").partition(".")[0]


def _part(given: TextFileInput, kind: str) -> str:
    folder = given.id.rpartition("/")[0]
    if given.name.lower().startswith("readme"):
        return f"Introduces {area_of(folder) if folder else 'the repository'} to its readers"
    return f"{kind} on {area_of(given.id)}"


def _written(
    given: TextFileInput,
    told: list[str],
    own: list[tuple[str, float]],
    further: Sequence[str],
    sections: tuple[str, ...],
    kind: str,
) -> Written:
    summary = join_sentences([clip(one, _OPENING_CHARS) for one in told], MAX_SUMMARY)
    if len(summary) < MIN_SUMMARY:
        summary = join_sentences(
            [
                summary,
                f"The {_language(given)} file {printable(given.name) or 'without a name'} on {area_of(given.id)}.",
            ],
            MAX_SUMMARY,
        )
    more = further_sentence(further, summary)
    part = sentence(_part(given, kind))
    text = WrittenText(
        summary=summary,
        business_intent=join_sentences([clip(more, _FURTHER_CHARS), part], MAX_INTENT),
        keywords=choose_keywords(own, fallback=[*split_identifier(given.id), given.language, "file"]),
        responsibilities=tuple(one for one in sections if len(one) >= MIN_ITEM),
    )
    source = PurposeSource.TEXT if any(map(str.isalnum, given.text[:200])) else PurposeSource.NAME
    return finished(text, source)
