"""What a parsed file says where neither its author nor its definitions' headlines say more than names: the second
sentence about its one class, the texts among its values, the tests that it declares, the modules that it builds."""

import re

from codesum_pipeline.evidence.author_texts.plain_sentences import (
    make_printable,
    make_sentence,
    split_sentences,
)
from codesum_pipeline.evidence.extractive.code_facts import message_in_words
from codesum_pipeline.evidence.extractive.composing import bare_name, is_public, lower_first, own_names
from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.themes import is_test_path
from codesum_pipeline.evidence.extractive.words import (
    list_first,
    make_fact,
    name_in_words,
    name_words,
    stem_of,
    telling_stems,
)
from codesum_pipeline.evidence.inputs import ChildText, FileInput
from codesum_pipeline.evidence.leaks import names_in
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.language_facts.writing_systems import (
    count_letters,
    has_words,
    letters_worth,
    without_end,
)

_TESTS = re.compile(r"(?:^|[._-])(?i:tests?|specs?)(?:[._-]|$)|(?<=[a-z0-9])Tests?$")
_URL = re.compile(r"https?://[\w.-]{3,60}(?:/[\w./-]{0,60})?")
_COORDINATE = re.compile(r"[\w.-]{2,60}:([\w.-]{2,60})(?::[^:\s]{1,40})?")
_MAX_SHOWN, _MOST_LITERALS, _MAX_TEXT, _MAX_OPENING, _FEW_TEXTS = 6, 60, 60, 80, 3
# Words of an opening that say no more than what kind of code it is.
_DULL = telling_stems(
    "class interface struct enum trait protocol object type namespace record file module command matcher definition "
    "test unit spec this is provide implement abstract"
)
_PLACEHOLDER = re.compile(
    r"Class .{1,80} without members of its own, (derived from .{1,120})"
    r"|Type .{1,80} (stands for .{1,120})"
)


def only_class(file: FileInput) -> ChildText | None:
    """The one class that a file is about: its only public one, beside no function, or named as the file is."""
    classes = [one for one in file.children if one.level is Level.CLASS]
    classes = [one for one in classes if is_public(one)] or classes
    named = [one for one in classes if name_words(bare_name(one)) == name_words(stem_of(file.name))]
    if len(named) == 1:
        return named[0]
    return classes[0] if len(classes) == 1 and len(file.children) == 1 else None


def _is_of_tests(file: FileInput) -> bool:
    return _TESTS.search(stem_of(file.name)) is not None or is_test_path(file.id)


def only_names_file(opening: str, file: FileInput) -> bool:
    """Whether the author's sentences say no more than the path and the kind of file."""
    is_of_tests = _is_of_tests(file) and len(opening) <= _MAX_OPENING
    return is_of_tests or telling_stems(opening) <= telling_stems(file.id.replace("/", " ")) | _DULL


def told_by_class(file: FileInput, theme: str) -> str:
    """A file's theme; where that is the headline of its one class alone, all that is said of the class; where there is
    none, what that class holds or is derived from."""
    class_ = only_class(file)
    if class_ is None:
        return theme
    name = name_in_words(bare_name(class_))
    if class_.is_placeholder:
        match = _PLACEHOLDER.match(make_printable(class_.summary))
        told = f"{'which ' if match[2] else ''}{(match[1] or match[2]).partition('<')[0].rstrip('. ')}" if match else ""
        return theme or (f"Defines {name}, {told}." if told else "")
    sentences = split_sentences(make_printable(class_.summary), limit=2)
    if not theme:
        told = next((one for one in sentences if telling_stems(one) - telling_stems(name) - _DULL), "")
        return f"Defines {name}: {lower_first(told)}" if told else ""
    headline = lower_first(without_end(sentences[0].partition("; ")[0])).lower() if sentences else theme
    start = len(theme) - len(headline) - 1
    is_alone = without_end(theme).lower().endswith(headline) and start <= len(name) + 2
    first = lower_first(sentences[0]) if start else sentences[0]
    more = [one for one in sentences[1:] if telling_stems(one) - telling_stems(f"{first} {name}")]
    return " ".join([f"{theme[:start]}{first}", *more]) if is_alone else theme


def told_by_literals(file: FileInput, values: str) -> str:
    """What the texts outside a file's definitions show beside its `values`."""
    texts = _own_texts(file)
    telling = [text for text in texts if _URL.fullmatch(text) or (_is_said(text, file) and _is_title(text))]
    if not telling or not values.startswith("Defines "):
        return ""
    sentences = [text for text in telling if text.count(" ") > 1]
    sentence = sentences[0] if len(sentences) == 1 and len(telling) <= _FEW_TEXTS else ""
    shown = " and ".join(f'"{text}"' for text in telling[:2])
    return (
        f'{values.rstrip(".")}: "{without_end(sentence)}".'
        if sentence and not values[8].isdigit() and file.language != "bash"
        else f"{values.rstrip('.')}, with {'texts such as ' if len(telling) > _FEW_TEXTS else ''}{shown}."
    )


def names_of_urls(file: FileInput) -> frozenset[str]:
    """The names in a file's web addresses, of a build in all its texts: they are no names of code."""
    found = (text for text in file.literals[:_MOST_LITERALS] if _URL.fullmatch(text) or ".gradle" in file.name)
    return frozenset(name for text in found for name in names_in(text))


def told_by_build(file: FileInput, known: str) -> str:
    """What a build file written in a programming language names: its modules, packages and plugins."""
    texts = _own_texts(file)
    if file.name.startswith(("settings.gradle", "build.gradle")):
        modules = [text.lstrip(":") for text in texts if text.startswith(":") and " " not in text]
        plugins = [text for text in texts if text.count(".") > 1 and ":" not in text and "/" not in text][:_MAX_SHOWN]
        libraries = [match[1] for text in texts if (match := _COORDINATE.fullmatch(text)) and not text.startswith(":")]
        facts = [
            make_fact("Modules:" if file.name.startswith("settings") else "Uses the modules", list_first(modules, 8))
        ]
        if file.name.startswith("build"):
            facts += [make_fact("Names", list_first(plugins, 4)), make_fact("Libraries:", list_first(libraries, 5))]
        return " ".join([f"{known}.", *filter(None, facts)])
    named = [text for text in texts if re.fullmatch(r"[\w.@/-]{2,40}", text) and not text.isupper()]
    return (
        f"{known}: {list_first(named, _MAX_SHOWN)}." if named and known.startswith("Lists ") else make_sentence(known)
    )


def _own_texts(file: FileInput) -> list[str]:
    imported = [*file.imports, *(one.source for one in file.reexports)]
    found = dict.fromkeys(map(make_printable, file.literals[:_MOST_LITERALS]))
    return [text for text in found if text and len(text) <= _MAX_TEXT and not any(text in name for name in imported)]


def _is_said(text: str, file: FileInput) -> bool:
    """Whether a text is of words, and names no code."""
    words = message_in_words(text)
    is_worded = count_letters(words) * 3 > len(words) * 2 and words == text.strip(" :;,.-=>")
    return is_worded and '"' not in text and "…" not in text and without_foreign_names(text, own_names(file)) == text


def _is_title(text: str) -> bool:
    return letters_worth(text) > 3 and (has_words(text) or text[0].isupper()) and not text.isupper()
