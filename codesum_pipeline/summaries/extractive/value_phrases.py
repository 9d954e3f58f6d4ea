"""What a value is, in words: results, written targets and raised errors.

Nothing here gives the identifier of a callee back as written.
"""

import re
from functools import lru_cache

from codesum_pipeline.summaries.extractive.call_phrases import acted_on
from codesum_pipeline.summaries.extractive.calls import QUIET_CALLS, VALUE_FUNCTIONS, VALUE_METHODS
from codesum_pipeline.summaries.extractive.phrases import (
    PREPOSITIONS,
    object_phrase,
    opening_verb,
    told_words,
    without_dangling,
)
from codesum_pipeline.summaries.extractive.plain import clip, enumerate_words, printable
from codesum_pipeline.summaries.extractive.scanning import (
    LITERAL,
    NAME_PATTERN,
    RECEIVERS,
    closed,
    is_class_name,
    names_in_chain,
    outline,
    split_top,
    string_content,
    string_end,
    top_index,
)
from codesum_pipeline.summaries.extractive.sentences import sentences
from codesum_pipeline.summaries.extractive.verbs import gerund
from codesum_pipeline.summaries.extractive.word_lists import word_set
from codesum_pipeline.summaries.extractive.words import spoken, with_article

_NUMBER = re.compile(r"-?\d[\d_.a-fA-FxXeEjJ+-]*$")
# Verbs whose object is what comes back: `create_token()` gives a token.
_BRINGING = word_set("get create make build load read fetch find compute calculate parse generate extract resolve")
_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]+$")
_COMPARISON = re.compile(r"(?:^|\s)(?:==|!=|<=|>=|<|>|===|!==|in|is|not|isinstance)(?:\s|$)|^!")
_LOGIC = re.compile(r"\s(?:and|or|&&|\|\|)\s")
_ARITHMETIC = re.compile(r"\s?(?:\*\*|//|[-+*/%@|&^]|<<|>>)\s?")


@lru_cache(maxsize=16384)
def value_phrase(text: str) -> tuple[str, str]:
    """What an expression gives, as a noun phrase, and its type where that is certain, else empty."""
    text = closed(text.strip())
    shape = outline(text)
    if text in ("True", "False", "true", "false"):
        return "true or false", "bool"
    if text in ("None", "null", "nil", "undefined", ""):
        return "nothing", "None"
    if text in ("NotImplemented", "..."):
        return "nothing", ""
    if text in RECEIVERS:
        return "itself", ""
    if _NUMBER.fullmatch(text):
        return clip(text, 20), "float" if "." in text else "int"
    for reader in (_string_value, _bracket_value, _conditional_value, _operator_value, _chain_value):
        found = reader(text, shape)
        if found:
            return found
    return "a computed value", ""


def _string_value(text: str, shape: str) -> tuple[str, str] | None:
    match = LITERAL.match(text)
    if match is None or shape.lstrip("rbfuRBFU") not in ('""', '""""'):
        return None
    if "b" in match[1].lower():
        return "bytes", "bytes"
    content = printable(string_content(text))
    if not content:
        return "an empty string", "str"
    if not any(map(str.isalnum, content)):
        return ("a formatted string" if "…" in content else "a string"), "str"
    return f"the text “{clip(content, 48)}”", "str"


def _template_value(text: str) -> tuple[str, str]:
    """A string made from a literal at its start, by an operator or a method."""
    end = string_end(text, match.start(2)) if (match := LITERAL.match(text)) else 0
    found = _string_value(text[:end], '""') if end and text[end:].lstrip().startswith(("%", ".format")) else None
    return found or ("a string", "str")


def _bracket_value(text: str, shape: str) -> tuple[str, str] | None:
    if shape == "[]":
        return (_comprehension(text, "list"), "list") if text != "[]" else ("an empty list", "list")
    if shape == "{}":
        if text == "{}":
            return "an empty dict", "dict"
        kind = "dict" if ":" in outline(text[1:-1]) or "**" in text else "set"
        return _comprehension(text, kind), kind
    if shape == "()" or ("," in shape and not shape.startswith("lambda")):
        inner = text[1:-1] if shape == "()" else text
        if shape == "()" and "," not in outline(inner):
            if " for " in outline(inner):
                return "a generator", "Iterator"
            return value_phrase(inner)
        pieces = split_top(inner)
        if pieces == [text]:
            # An unmatched bracket: the comma stands between no two parts.
            return None
        parts = [phrase for part in pieces[:4] if (phrase := _short_value(part))]
        return (f"a tuple of {enumerate_words(parts)}" if len(parts) > 1 else "a tuple"), "tuple"
    if shape.startswith("lambda") or "=>" in shape:
        return "a function", "Callable"
    return None


def _comprehension(text: str, kind: str) -> str:
    inner = text[1:-1]
    shape = outline(inner)
    if " for " in shape:
        source = re.search(r" for .* in (.+?)(?: if .*| for .*)?$", shape)
        names = names_in_chain(source[1]) if source else None
        if names and len(names[-1]) > 1 and names[-1].partition("_")[0] == "get":
            return f"a {kind} made from the {spoken(names[-1].partition('_')[2]) or 'items'}"
        if names and len(names[-1]) > 1 and names[-1] not in ("items", "values", "keys", "range", "enumerate", "zip"):
            return f"a {kind} made from {with_article(spoken(names[-1]), definite=True)}"
        return f"a {kind}"
    if kind == "dict":
        keys = [string_content(part.strip()) for part in split_top(inner)[:4] if LITERAL.match(part.strip())]
        keys = [spoken(key) for key in keys if key and len(key) < 30 and key.isprintable()]
        return f"a dict with {enumerate_words(keys)}" if keys else "a dict"
    parts = [phrase for part in split_top(inner)[:3] if (phrase := _short_value(part))]
    return f"a {kind} of {enumerate_words(parts)}" if parts else f"a {kind}"


def _short_value(text: str) -> str:
    phrase = value_phrase(text.strip())[0] if text.strip() else ""
    return "" if len(phrase) > 40 or phrase == "a computed value" else phrase


def _conditional_value(text: str, shape: str) -> tuple[str, str] | None:
    if " if " not in shape or " else " not in shape:
        return None
    depth_if = top_index(text, " if ")
    depth_else = top_index(text, " else ")
    if depth_if < 0 or depth_else < depth_if:
        return None
    first, first_type = value_phrase(text[:depth_if])
    second, second_type = value_phrase(text[depth_else + 6 :])
    same = first_type if first_type == second_type else ""
    return (first if first == second else f"{first} or {second}"), same


def _operator_value(text: str, shape: str) -> tuple[str, str] | None:
    if logic := _LOGIC.search(shape):
        if _COMPARISON.search(shape):
            return "true or false", "bool"
        operator = logic[0]
        first = top_index(text, operator)
        if "or" in operator or "|" in operator:
            left, right = value_phrase(text[:first]), value_phrase(text[first + len(operator) :])
            return (left[0] if left[0] == right[0] else f"{left[0]} or else {right[0]}"), ""
        return "true or false", ""
    if _COMPARISON.search(shape):
        return "true or false", "bool"
    if shape.startswith("yield"):
        return value_phrase(re.sub(r"^yield(?: from)?\s*", "", text))
    if _ARITHMETIC.search(shape):
        if '""' in shape:
            return _template_value(text)
        names = [
            spoken(name)
            for name in dict.fromkeys(NAME_PATTERN.findall(shape))
            if len(name) > 1 and name not in RECEIVERS and name not in QUIET_CALLS
        ]
        return (f"a value computed from {enumerate_words(names[:3])}" if names else "a computed value"), ""
    return None


def _chain_value(text: str, shape: str) -> tuple[str, str] | None:
    names = names_in_chain(shape)
    if not names:
        return _template_value(text) if shape.startswith('""') else None
    name = names[-1]
    if shape.endswith("()"):
        return _called_value(text, names)
    if name.startswith("__") and name.endswith("__"):
        return f"its {spoken(name)}", ""
    words = spoken(name)
    if len(words) < 2:
        return "a computed value", ""
    if shape.endswith("[]"):
        return f"an item of {with_article(words, definite=True)}", ""
    if _CONSTANT.fullmatch(name):
        return f"the constant {words}", ""
    if is_class_name(name) and len(names) == 1:
        return f"the {words} class", ""
    if len(names) > 1 and names[0] in RECEIVERS:
        return (f"its {words}" if len(names) == 2 else f"the {words} of its {spoken(names[-2])}"), ""
    if len(names) > 1 and len(names[-2]) > 2 and spoken(names[-2]):
        return f"the {words} of the {spoken(names[-2])}", ""
    return with_article(words, definite=True), ""


def _called_value(text: str, names: list[str]) -> tuple[str, str] | None:
    name = names[-1]
    table = VALUE_METHODS if len(names) > 1 else VALUE_FUNCTIONS
    if name in table:
        return _known_value(text, *table[name])
    if name in RECEIVERS:
        return ("a new instance", "") if name in ("cls", "klass") else ("itself", "")
    if is_class_name(name):
        return f"a new {spoken(name.strip('_'))}", name
    words = told_words(name)
    if not words:
        return None
    if words[0] in ("is", "has", "can", "should"):
        return "true or false", "bool"
    if words[0] in ("to", "as") and len(words) > 1:
        return with_article(" ".join(words[1:])), ""
    if words[0] in PREPOSITIONS:
        return "a computed value", ""
    verb = opening_verb(list(words), noun_if_alone=len(names) == 1)
    if verb is None:
        return with_article(spoken(name), definite=True), ""
    return _verb_value(*verb, [part for part in names[:-1] if part not in RECEIVERS]), ""


def _known_value(text: str, phrase: str, kind: str) -> tuple[str, str]:
    if "{}" not in phrase:
        return phrase, kind
    inside = text[text.rfind("(") + 1 : -1] if text.count("(") == 1 else ""
    found = names_in_chain(outline(inside)) if inside else None
    if found:
        return phrase.format(with_article(spoken(found[-1]), definite=True)), kind
    return phrase.replace(" of {}", "").replace("{}", "its items"), kind


def _verb_value(base: str, particle: str, rest: list[str], receiver: list[str]) -> str:
    if rest and base in _BRINGING:
        return object_phrase(rest, base)
    if not rest and receiver and len(receiver[-1]) > 1:
        return f"the result of {gerund(base)} {acted_on(base, spoken(receiver[-1]))}"
    thing = without_dangling(object_phrase(rest, base))
    return " ".join(filter(None, ("the result of", gerund(base), particle, thing)))


def target_words(text: str) -> str:
    """What an assignment writes to, in words: `self.sessions[key]` gives `sessions`."""
    names = names_in_chain(outline(text))
    if not names:
        return ""
    useful = [name for name in names if name not in RECEIVERS]
    words = spoken(useful[-1]) if useful else ""
    return words if len(words) > 1 else ""


def raised(text: str) -> tuple[str, str]:
    """The name of an exception as written, and its message where the code spells it out."""
    text = text.strip().removeprefix("raise ").strip()
    is_cut = text.endswith("…")
    text = closed(text)
    names = names_in_chain(outline(text).split(" from ")[0].strip())
    if not names:
        return "", ""
    message = ""
    opening = text.find("(")
    if opening >= 0:
        literals = [part.strip() for part in split_top(text[opening + 1 : text.rfind(")")])]
        message = next((string_content(part) for part in literals if LITERAL.match(part)), "")
        if is_cut and message:
            message = f"{message.rstrip('… ').rpartition(' ')[0]} …"
    name = names[-1]
    message = next(iter(sentences(printable(message), limit=1)), "")
    if not any(map(str.isalpha, message)):
        message = ""
    return (name if is_class_name(name) else ""), clip(message.strip(" .:"), 80)
