"""What the arguments and the receiver of a call say where they are written out on the line of the call."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from codesum_pipeline.evidence.extractive.code_facts import message_in_words
from codesum_pipeline.evidence.extractive.foreign_names import without_foreign_names
from codesum_pipeline.evidence.extractive.known_calls import field_words, separator_words
from codesum_pipeline.evidence.extractive.name_grammar import VERBS, noun_phrase
from codesum_pipeline.evidence.extractive.words import name_in_words, name_words
from codesum_pipeline.evidence.inputs import FunctionInput
from codesum_pipeline.foundation.data_model.symbol import Fact

_NAME = re.compile(r"[A-Za-z][\w.:-]{0,39}")
_MODE = re.compile(r"""[,(]\s*(?:mode\s*[=:]\s*)?['"]([rwaxbtU+em]{1,4})['"]\s*[,)]""")
_ONLY_ENCODED = re.compile(r"[^,]*(?:,\s*(?:encoding|errors|newline)\s*=[^,]*)*")
# Arguments are looked for in so many characters after the name of what is called.
_MAX_CHARS = 300
_MOST_CALLS = 20
_QUOTES = ("'", '"', "`")
_LITERAL = re.compile(r"""(["'`])((?:\\.|(?!\1)[^\\]){0,20})\1""")
# What stands before an argument: a bracket, a comma, the name of a parameter, the letter of a kind of text.
_BEFORE_ARGUMENT = re.compile(r"(?:^|[(,\s])\s*(?:\w+\s*[:=]\s*)?[bru]?\Z")
_AFTER_ARGUMENT = re.compile(r"\s*(?:[,)}\]|;]|\Z)|\s+\w")
_FIRST_NAME = re.compile(r"!?\(\s*[&*$@]*((?:\w{1,40}(?:\.|->|::))*+\w{1,60})\s*[,)]")
# The field by which values are sorted or grouped: `{ it.day }`, `(&:day)`, `key=lambda row: row.day`, `(Row::getDay)`,
# `(a, b) => a.day - b.day`, `func(i, j int) bool { return rows[i].Day < rows[j].Day }`.
_KEY = re.compile(
    r"""(?:\ ?\{|\((?:[^()\n]{0,60}?(?:\bkey=|,\ ?))?)\s*(?:
    (?:
      (?:it|_|&\ ?&1|\$0)\. | &: | [A-Z]\w{0,40}::
      | lambda\ (\w{1,20}):\ ?\1\. | \(?(\w{1,20})\)?\ ?(?:=>|->)\s?\2\. | \|\ ?(\w{1,20})\ ?\|\s?\3\.
    ) (?P<key>\w{1,40})(?:\(\))?\s*[)}]
    | \(?(\w{1,20}),\ ?\w{1,20}\)?\ ?(?:=>|->)\ ?\5\.(?P<pair>\w{1,40})(?:\(\))?
      (?:\.(?:localeCompare|compareTo)\(|\ ?[-<>])
    | \$0\.(?P<first>\w{1,40})\ ?[<>]
    | func\((\w),\ ?\w\ int\)\ bool\ \{\s*return\ \w{1,40}\[\8\]\.(?P<less>\w{1,40})\ ?[<>]
    )""",
    re.X,
)
_MAX_KEY_LINES = 3
_NO_SEPARATOR = "nothing between them"
_MAX_NOUN_WORDS, _MIN_NOUN_CHARS = 3, 4


def first_texts(call: Fact, lines: list[str]) -> list[str]:
    """The first argument of each call written alike, where it is a text that could be a name; "" of others."""
    found: list[str] = []
    for line in lines[call.line - 1 :]:
        arguments = _after_name(call, line)
        while arguments and len(found) < _MOST_CALLS:
            found.append(_leading_text(arguments))
            arguments = _after_name(call, arguments)
    return found or [""]


def _leading_text(arguments: str) -> str:
    begin = arguments[:_MAX_CHARS].lstrip(" (![{")
    text, end, after = begin[1:].partition(begin[:1]) if begin[:1] in _QUOTES else ("", "", "")
    is_whole = end and after.lstrip()[:1] in ("", ",", ")", "]", "}")
    return text if is_whole and _NAME.fullmatch(text) else ""


def opening_mode(call: Fact, lines: list[str]) -> str:
    """How a call opens a file: `r`, `w`, `a`; "" where it does not say."""
    arguments = _after_name(call, lines[call.line - 1] if call.line <= len(lines) else "")[:_MAX_CHARS]
    mode = _MODE.search(arguments)
    if mode is None:
        inside, is_closed, _ = arguments.removeprefix("(").partition(")")
        is_plain = bool(is_closed) and "(" not in inside and arguments.startswith("(")
        return "r" if is_plain and _ONLY_ENCODED.fullmatch(inside) else ""
    return "" if "+" in mode[1] else next((sign for sign in "wax" if sign in mode[1]), "r")


def _after_name(call: Fact, line: str) -> str:
    """A line from behind the name of a call on; "" of a line without it."""
    _, _, rest = line.partition(call.text)
    return "" if rest[:1].isalnum() or rest[:1] == "_" else rest


def separators_in(call: Fact, name: str, lines: Sequence[str], *, is_joint: bool) -> list[str]:
    """The separator, in words, of each call of a name from this one on; "" where it is none that has a name.

    It is the receiver, or the first argument that is a whole text."""
    found = [_separator(*place) for place in _calls_of(name, call, lines)]
    return ["" if said == _NO_SEPARATOR and not is_joint else said for said in found] or [""]


def _calls_of(name: str, call: Fact, lines: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """The first places from a call on where a name stands: the line, where it begins and where it ends."""
    places = ((line, begin, begin + len(name)) for line in lines[call.line - 1 :] for begin in _places(name, line))
    return islice(places, _MOST_CALLS)


def _places(name: str, line: str) -> Iterator[int]:
    """Where a name stands in a line as a whole word."""
    begin = line.find(name)
    while begin >= 0:
        around = line[max(0, begin - 1) : begin] + line[begin + len(name) : begin + len(name) + 1]
        if not any(char.isalnum() or char == "_" for char in around):
            yield begin
        begin = line.find(name, begin + len(name))


def _separator(line: str, begin: int, end: int) -> str:
    before = line[max(0, begin - _MAX_CHARS) : begin]
    of_receiver = re.search(r"""(["'])((?:\\.|(?!\1)[^\\]){0,20})\1\.\Z""", before)
    texts = [of_receiver[2]] if of_receiver else _whole_texts(line[end : end + _MAX_CHARS])
    return next((separator_words().get(text, "") for text in texts), "")


def _whole_texts(arguments: str) -> Iterator[str]:
    """The texts that are arguments of their own, up to the end of the call."""
    depth = 0
    base = 1 if arguments.lstrip(" !")[:1] == "(" else 0
    position = 0
    while position < len(arguments):
        sign = arguments[position]
        literal = _LITERAL.match(arguments, position) if sign in _QUOTES else None
        depth += (sign in "([{") - (sign in ")]}")
        if literal and depth == base:
            is_begun = _BEFORE_ARGUMENT.search(arguments[max(0, position - 40) : position])
            if is_begun and _AFTER_ARGUMENT.match(arguments, literal.end()):
                yield literal[2]
        if depth < base and position > 0 and (base == 0 or sign in ")]}"):
            return
        position = literal.end() if literal else position + 1


def values_named(call: Fact, chain: Sequence[str], lines: Sequence[str], *, is_function: bool) -> list[str]:
    """What calls written alike work on, where it is named by a noun in the plural: a function's first argument, or the
    receiver; "" where it is not."""
    if not is_function:
        receivers = [name for name in chain[:-1] if name not in field_words("passed_on")]
        return [plural_words(receivers[-1]) if receivers else ""]
    firsts = [_FIRST_NAME.match(line, end) for line, _, end in _calls_of(chain[-1], call, lines)]
    return [plural_words(re.split(r"\.|->|::", first[1])[-1]) if first else "" for first in firsts] or [""]


def key_named(call: Fact, name: str, lines: Sequence[str]) -> str:
    """The field by which a call sorts or groups, in words; "" where it is not plain."""
    place = next(_calls_of(name, call, lines), None)
    if place is None:
        return ""
    line, _, end = place
    rest = "\n".join([line[end:], *lines[lines.index(line) + 1 :][: _MAX_KEY_LINES - 1]])[:_MAX_CHARS]
    key = _KEY.match(rest)
    words = name_words(key["key"] or key["pair"] or key["first"] or key["less"]) if key else ()
    words = words[1:] if words[:1] == ("get",) else words
    return " ".join(words) if words and words[0] not in field_words("no_keys") and len(words[-1]) > 1 else ""


def plural_words(name: str) -> str:
    """A name in words if it is a noun in the plural."""
    words = name_words(name)
    last = words[-1] if words else ""
    is_plural = len(last) >= _MIN_NOUN_CHARS and last[-1] == "s" and last[-2] not in "sui"
    is_noun = is_plural and len(words) <= _MAX_NOUN_WORDS and words[0] not in VERBS and name[:1].islower()
    return name_in_words(name) if is_noun and last not in field_words("no_plurals") else ""


_MAX_ARGUMENT_CHARS, _MAX_MESSAGE_CHARS, _MIN_MESSAGE_WORDS = 600, 60, 2
# What is printed stands first: a text, or several that are one.
_FIRST_TEXTS = re.compile(
    r"""[!( ]{1,3}\s*(?:_\()?[fbrLu$@]{0,2}"""
    r"""((?:"(?:[^"\\\n]|\\.){0,200}"\s*){1,4}|'(?:[^'\\\n]|\\.){0,200}'|`[^`\\]{0,200}`)"""
)
_TEXT = re.compile(r"""(["'`])((?:(?!\1)[^\\]|\\.){0,200})\1""")
_WORD = re.compile(r"[^\W\d_]{2,}")
# Elements in markup, and calls of elements that begin a line.
_ELEMENT = re.compile(r"(?<![\w.)\]])<([A-Za-z][\w.]{0,60})(?=[\s/]|>(?!\())")
_ELEMENT_CALL = re.compile(r"^[ \t]+([A-Z]\w{0,60})(?=\(| ?\{)", re.M)
_MOST_ELEMENTS, _MOST_MATCHES = 3, 60


def printed_text(call: Fact, lines: list[str]) -> str:
    """The text that a call prints first, quoted; "" of one that names none."""
    if not call.text:
        return ""
    rest = "\n".join(lines[call.line - 1 : call.line + 3]).partition(call.text)[2][:_MAX_ARGUMENT_CHARS]
    found = _FIRST_TEXTS.match(rest)
    for text in _TEXT.finditer(found[1]) if found else ():
        message = message_in_words(text[2])
        is_text = (
            "$" not in message
            and "{" not in message
            and len(_WORD.findall(message)) >= _MIN_MESSAGE_WORDS
            and len(message) <= _MAX_MESSAGE_CHARS
        )
        if is_text and '"' not in message and without_foreign_names(message, ()) == message:
            return f'"{message}"{" in some cases" if call.when else ""}'
    return ""


def laid_out(function: FunctionInput, source: str) -> list[str]:
    """The first elements that a function lays out: those of its own library before those of every page."""
    pattern = _ELEMENT_CALL if function.language in ("kotlin", "swift") else _ELEMENT
    names = list(dict.fromkeys(one[1] for one in islice(pattern.finditer(source), _MOST_MATCHES)))
    own = [one for one in names if one[:1].isupper() and one != function.name]
    plain = [one for one in names if one in field_words("elements")]
    phrases = filter(None, map(_element, [*own, *plain]))
    return [*dict.fromkeys(phrases)][:_MOST_ELEMENTS]


def _element(name: str) -> str:
    words = name_words(name.rpartition(".")[2])
    is_telling = words and not set(words) <= field_words("containers")
    words = ("input", "field") if words == ("input",) else words
    return noun_phrase(words, article="a") if is_telling else ""
