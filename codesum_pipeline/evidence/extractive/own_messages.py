"""What a function says itself about what it does: help texts of commands and routes, messages of progress.

A message counts only if it is about the whole function: it does not stand under a condition, and it has the verb of the
function's name or two of its words, or is the only message of a short function.
"""

import re
from functools import cache
from itertools import chain

from msgspec import Struct

from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable, split_sentences
from codesum_pipeline.evidence.extractive.code_facts import CodeFacts, message_in_words
from codesum_pipeline.evidence.extractive.known_calls import known_calls
from codesum_pipeline.evidence.extractive.message_clauses import Clause, clause_of
from codesum_pipeline.evidence.extractive.message_verbs import MESSAGE_LISTS, base_forms, words_of
from codesum_pipeline.evidence.extractive.words import (
    fold_word,
    name_words,
    split_identifier,
    telling_weight,
)
from codesum_pipeline.foundation.data_model.symbol import Fact

_HELP = re.compile(
    r"""\b(?:help|summary|description|short_help|Short|about|setDescription)['"]?\s{0,3}(?::=|[:=(])\s{0,3}"""
    r"""(?:_\()?[rf]?(?:"([^"\n]{10,200})"|'([^'\n]{10,200})')"""
)
_PARSER = "ArgumentParser("
_COMMAND = re.compile(
    r"ArgumentParser\(|OptionParser\(|cobra\.Command|@\w{1,60}(?:\.\w{1,60})?\(|Command::(?:new|with_name)\(|App::new\(|setDescription\("
)
# What describes a command, never an option of it; and where one is made.
_OF_COMMANDS = ("about", "Short")
_MADE_COMMAND = re.compile(r"cobra\.Command\{|(?:Command|App|SubCommand)::(?:new|with_name)\(")
_OF_OPTION = re.compile(r"@(?:\w{1,60}\.)?\w{0,60}(?:option|argument|param)\w{0,60}\(", re.I)
_MAX_SOURCE_CHARS = 20_000
_SHORT_LINES, _MIDDLING_LINES = 15, 40
_MAX_MESSAGES = 12


class Said(Struct, frozen=True):
    """A clause in the third person, without a full stop, and the canonical line of the message that it is made of."""

    text: str
    line: int


def said_by(code: CodeFacts) -> Said | None:
    """What the function says itself about what it does; None if it says nothing that is certain."""
    return _help_text(code) or _progress(code)


def _help_text(code: CodeFacts) -> Said | None:
    """The help text in the decorators of a function, or else of the command line that it builds."""
    source = code.function.canonical_source[:_MAX_SOURCE_CHARS]
    if not _COMMAND.search(source):
        return None
    found = [(source.count("\n", 0, match.start()) + 1, match) for match in _HELP.finditer(source)]
    first = code.facts.signature_line
    head = [(line, match) for line, match in found if line < first and not _is_of_option(source, match)]
    own = head or [(line, match) for line, match in found if line >= first and _describes(code, source, match)]
    if len(own) != 1:
        return None
    line, match = own[0]
    sentence = next(iter(split_sentences(make_printable(match[1] or match[2]), limit=1)), "")
    clause = clause_of(message_in_words(sentence), is_help=True)
    if not clause:
        return None
    defines = not head and _PARSER not in source
    return Said(f"Defines the command that {clause.text[0].lower()}{clause.text[1:]}" if defines else clause.text, line)


def _is_of_option(source: str, match: re.Match[str]) -> bool:
    return _OF_OPTION.match(source, max(0, source.rfind("@", 0, match.start()))) is not None


def _describes(code: CodeFacts, source: str, match: re.Match[str]) -> bool:
    """Whether a help text in a body describes the program or command that the function is, not an option of it."""
    name = name_words(code.function.name)
    if _PARSER in source:
        called = source[max(0, match.start() - 200) : match.start()]
        return (
            not words_of("program_words").isdisjoint(name)
            and _PARSER in called
            and ")" not in called.rpartition(_PARSER)[2]
        )
    is_of_command = match[0].startswith(_OF_COMMANDS) and len(_MADE_COMMAND.findall(source)) == 1
    return is_of_command or not words_of("command_words").isdisjoint(name)


def _progress(code: CodeFacts) -> Said | None:
    """The first message of progress that is about the whole function."""
    messages = [one for one in code.facts.calls if _is_message(code, one)][:_MAX_MESSAGES]
    # Calls that are written alike are one fact.
    is_only = len(messages) == 1 and code.function.canonical_source.count(messages[0].text) == 1
    for one in messages:
        clause = clause_of(message_in_words(one.said)) if not one.when else None
        if clause and (
            _has_verb_of(code, clause)
            or (one is messages[0] and _has_words_of(code, clause))
            or (is_only and _is_without_verb(code, clause))
        ):
            return Said(clause.text, one.line)
    return None


def _is_message(code: CodeFacts, call: Fact) -> bool:
    """Whether a call logs or prints what goes on: by the tables, or by its name."""
    if not call.said or not call.names:
        return False
    known = known_calls(code.function.language)
    if known and (effect := known.effect_of(call)):
        return effect in ("log", "print")
    words = name_words(call.names[-1])
    return not words_of("message_words").isdisjoint(words) and words_of("other_words").isdisjoint(words)


def _has_verb_of(code: CodeFacts, clause: Clause) -> bool:
    """Whether a clause has the verb of a function's name, or one that means the same, and one more of its words."""
    own = set(name_words(code.function.name))
    is_short = len(own) == 1 and code.function.line_count <= _SHORT_LINES
    return not own.isdisjoint({clause.verb, *_synonyms().get(clause.verb, ())}) and (
        is_short or bool(_shared_words(code, clause))
    )


def _has_words_of(code: CodeFacts, clause: Clause) -> bool:
    """Whether a clause that is no command has two words of the name of a function that is not long."""
    is_middling = code.function.line_count <= _MIDDLING_LINES and not clause.is_command
    return is_middling and len(_shared_words(code, clause)) >= 2


def _is_without_verb(code: CodeFacts, clause: Clause) -> bool:
    """Whether a short function's name has no verb that a clause could contradict."""
    is_short = code.function.line_count <= _SHORT_LINES and not clause.is_command
    return is_short and base_forms().keys().isdisjoint(name_words(code.function.name))


def _shared_words(code: CodeFacts, clause: Clause) -> set[str]:
    said = chain.from_iterable(map(split_identifier, clause.text.split()[1:]))
    own = name_words(code.function.name)
    return {fold_word(word) for word in said if telling_weight(word)} & {
        fold_word(word) for word in own if telling_weight(word)
    }


@cache
def _synonyms() -> dict[str, frozenset[str]]:
    """The words that mean the same step as a word, by that word."""
    groups = [group.split() for group in MESSAGE_LISTS["synonyms"]]
    members = sorted(set(chain.from_iterable(groups)))
    return {word: frozenset(chain.from_iterable(one for one in groups if word in one)) for word in members}
