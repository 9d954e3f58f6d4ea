"""What a function says itself about what it does: help texts of commands and routes, messages of progress.

A message counts only if it is about the whole function: it does not stand under a condition, and it has the verb of the
function's name or two of its words.
"""

import re
from functools import cache, lru_cache
from itertools import chain

from msgspec import Struct

from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable, split_sentences
from codesum_pipeline.evidence.extractive.code_facts import CodeFacts, message_in_words
from codesum_pipeline.evidence.extractive.known_calls import known_calls
from codesum_pipeline.evidence.extractive.name_grammar import gerund, third_person
from codesum_pipeline.evidence.extractive.words import (
    capitalize,
    fold_word,
    name_words,
    split_identifier,
    telling_weight,
)
from codesum_pipeline.evidence.packaged_tables import packaged_table
from codesum_pipeline.foundation.data_model.symbol import Fact

MESSAGE_LISTS = packaged_table(__package__, "own_messages")


@cache
def words_of(name: str) -> frozenset[str]:
    """The words of a list of `own_messages.toml`."""
    return frozenset(MESSAGE_LISTS[name].split())


@cache
def _forms() -> dict[str, tuple[str, bool]]:
    """The verbs by their forms, and whether that is the one of a command: `saving` and `saved` are of `save`. A past
    participle is one only where no other word is written so."""
    verbs, irregular = sorted(words_of("verbs")), MESSAGE_LISTS["participles"]
    regular = words_of("verbs") - {*irregular.values()} - words_of("participles_like_verbs")
    others = {_participle(verb): verb for verb in sorted(regular)} | irregular
    others |= {gerund(verb): verb for verb in verbs} | MESSAGE_LISTS["gerunds"]
    commands = {form: (verb, True) for verb in verbs for form in (verb, third_person(verb))}
    return commands | {form: (verb, False) for form, verb in others.items()}


def _participle(verb: str) -> str:
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ied"
    return f"{gerund(verb).removesuffix('ing')}ed"


# Tags and bullets before a message: `[cache] `, `--> `.
_LEAD = re.compile(r"^(?:\[[^\]]{0,40}\]|[-=>*#+\s…]|\(\S{0,20}\))+")
_MIN_WORDS, _MAX_CHARS = 3, 140
_LEAST_LETTERS = 0.85
_CODE_SIGNS = frozenset("{}<>|\\=$~^@*")
_GAP = "…"
# A value that is shown, not a step: `result: …`.
_VALUE = re.compile(r": ?['\"]?…['\"]?$")


class Clause(Struct, frozen=True):
    """A clause in the third person with its verb; `is_command` where the message began as one does: `Save data`."""

    verb: str
    text: str
    is_command: bool


@lru_cache(maxsize=4096)
def clause_of(message: str, *, is_help: bool = False) -> Clause | None:
    """The clause of a message in words; None of one that names no action, or tells of a failure or a detail."""
    text = _LEAD.sub("", message).strip(" .!:;")
    first, _, rest = text.partition(" ")
    verb, is_command = _forms().get(first.lower(), ("", False))
    if is_command and not is_help and _VALUE.search(rest):
        return None
    rest = _before_gap(rest)
    is_one_action = not (is_command and rest.startswith(("or ", "and ")))
    is_long_enough = len(rest.split()) >= _MIN_WORDS - 1 and len(rest) <= _MAX_CHARS and is_one_action
    if not verb or first.isupper() or not is_long_enough or not _is_prose(rest):
        return None
    words = {word.strip(".,;:!?'\"()").lower().replace("'", "") for word in text.split()}
    if not is_help and words & words_of("not_purposes"):
        return None
    return Clause(verb, f"{capitalize(third_person(verb))} {rest}", is_command)


def _before_gap(text: str) -> str:
    """A text up to the first value that is filled in at run time; "" where a word would then lack its object."""
    kept = text.partition(_GAP)[0].strip(" '\"`(#,:;-")
    return "" if _is_small(kept.rpartition(" ")[2].lower()) else kept


def _is_small(word: str) -> bool:
    return word.strip(".,:;") in words_of("prepositions")


def _is_prose(text: str) -> bool:
    """Whether a text is words: few signs, brackets and quotes in pairs."""
    letters = sum(char.isalpha() or char == " " for char in text)
    is_paired = text.count("(") == text.count(")") and text.count('"') % 2 == 0 and text.count("[") == text.count("]")
    return letters >= _LEAST_LETTERS * len(text) and is_paired and _CODE_SIGNS.isdisjoint(text)


_HELP = re.compile(
    r"""\b(?:help|summary|description|short_help|Short|about|setDescription)['"]?\s{0,3}(?::=|[:=(])\s{0,3}"""
    r"""(?:_\()?[rf]?(?:"([^"\n]{10,200})"|'([^'\n]{10,200})')"""
)
_PARSER = "ArgumentParser("
_COMMAND = re.compile(
    r"ArgumentParser\(|OptionParser\(|cobra\.Command|@\w{1,60}(?:\.\w{1,60})?\(|Command::(?:new|with_name)\(|App::new\(|setDescription\("
)
# What describes a command, never an option of it.
_OF_COMMANDS = ("about", "Short", "description", "setDescription")
_MADE_COMMAND = re.compile(r"cobra\.Command\{|(?:Command|App|SubCommand)::(?:new|with_name)\(")
_OF_OPTION = re.compile(r"@(?:\w{1,60}\.)?\w{0,60}(?:option|argument|param)\w{0,60}\(", re.I)
_MAX_SOURCE_CHARS = 20_000
_SHORT_LINES = 15
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
    body = [(line, match) for line, match in found if line >= first and match[0].startswith(_OF_COMMANDS)]
    own = head or (body if _is_command(code) or len(_MADE_COMMAND.findall(source)) == 1 else [])
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


def _is_command(code: CodeFacts) -> bool:
    """Whether a function has the name of a program or a command."""
    return not (words_of("program_words") | words_of("command_words")).isdisjoint(name_words(code.function.name))


def _progress(code: CodeFacts) -> Said | None:
    """The first message of progress that is about the whole function."""
    messages = [one for one in code.facts.calls if _is_message(code, one)][:_MAX_MESSAGES]
    for one in messages:
        clause = clause_of(message_in_words(one.said)) if not one.when else None
        if clause and _is_about(code, clause):
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


def _is_about(code: CodeFacts, clause: Clause) -> bool:
    """Whether a clause has the verb of a function's name and one more of its words; one that is no command, of a short
    function, two of these words."""
    own = name_words(code.function.name)
    said = chain.from_iterable(map(split_identifier, clause.text.split()[1:]))
    shared = {fold_word(word) for word in said if telling_weight(word)}.intersection(map(fold_word, own))
    is_short = code.function.line_count <= _SHORT_LINES
    if clause.verb in own:
        return bool(shared) or (is_short and len(own) == 1)
    return is_short and not clause.is_command and len(shared) > 1
