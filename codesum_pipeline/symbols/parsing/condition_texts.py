"""What a branch's condition says, as text that follows the word "when"."""

import re
from collections.abc import Sequence

from codesum_pipeline.languages.declarations.condition_syntax import Branch, ConditionSyntax, Sense
from codesum_pipeline.languages.declarations.spans import NestedRanges
from codesum_pipeline.languages.declarations.spec import Span
from codesum_pipeline.symbols.parsing.file_tokens import Tokens

# A longer condition is none that a sentence could end with.
MAX_CONDITION = 80
_MOST_TOKENS = MAX_CONDITION + 1
_OPPOSITES = {
    "==": "!=", "!=": "==", "===": "!==", "!==": "===", "~=": "==", "/=": "==",
    "is": "is not", "is not": "is", "in": "not in", "not in": "in",
}  # fmt: skip
_OPPOSITE_ENDINGS = {" succeeds": " fails", " fails": " succeeds", " exists": " does not exist"}
_OPERAND = r"""(?:[\w.$@?!:>\\-]++|\([^()]*+\)|\[[^\[\]]*+\]|"[^"\s]*+"|'[^'\s]*+')++"""
_COMPARISON = re.compile(rf"({_OPERAND}) (==|!=|===|!==|~=|/=|is not|is|not in|in) ({_OPERAND})")
_QUOTES = frozenset("\"'`")
_NEGATION = re.compile(r"(?:!|not )\s*(?=[\w($@\[])")
_CLASS = re.compile(r"(?:\w+(?:\.|::|\\))*[A-Z]\w*|\w+(?:(?:\.|::)\w+)+")
_SEVERAL = re.compile(r" (?:&&|\|\||and|or) ")
_GUARD = re.compile(r"""^([^"']*?) (?:if|when|where) """)
_NAME_PATTERN = re.compile(r"(?:let |var )?[a-z_]\w*")
_PLAIN_PATTERN = re.compile(r"""(?:[^()\[\]{}"']|"[^"|,]*"|'[^'|,]*')*""")
_PATTERN_MARK = re.compile(r", ?| ?\| ?")
# `> 5` of C#.
_COMPARED = re.compile(r"(?:[<>]=?|==|!=) ?\S")
# Patterns that match whatever is not matched before, and conditions that always hold.
_EVERYTHING = frozenset(("_", "default", "else", "*"))
_ALWAYS = frozenset(("otherwise", "true", "True", "_", "default", "else"))
# They look like the name of a pattern.
_CONSTANTS = frozenset(("nil", "null", "none", "true", "false", "undefined", "self"))
# `switch (true)`: the arms are conditions.
_NO_SUBJECTS = frozenset(("true", "True"))
# `when (val x = f())` asks about `x`.
_DECLARED = re.compile(r"^(?:val|var|let) (\w+)\b[^=]* = .*$")
# `is A` and `!in B` of Kotlin.
_TYPE_TEST = re.compile(r"^(!?)is (?=\S)")


class Conditions:
    """Under which conditions the parts of a definition are run."""

    def __init__(self, branches: Sequence[Branch], tokens: Tokens, syntax: ConditionSyntax) -> None:
        self._branches, self._tokens, self._syntax = branches, tokens, syntax
        self._known: dict[int, str] = {}
        self._ranges = NestedRanges([(one.start, one.end, number) for number, one in enumerate(branches)])

    def at(self, byte: int) -> str:
        """The innermost condition under which what starts at a byte is run; empty without one."""
        number = self._ranges.number_at(byte)
        if number < 0:
            return ""
        if number not in self._known:
            text = self._said(self._branches[number])
            self._known[number] = text if len(text) <= MAX_CONDITION else ""
        return self._known[number]

    def _said(self, branch: Branch) -> str:
        texts = [self._text(span) for span in branch.of]
        subject = _DECLARED.sub(r"\1", self._text(branch.subject)) if branch.subject else ""
        match branch.sense:
            case Sense.HOLDS:
                return self._alternatives(texts)
            case Sense.FAILS:
                return self._none_of(texts)
            case Sense.ABSENT:
                return texts[0] and f"{texts[0]} has no value"
            case Sense.FAILED:
                return texts[0] and f"{texts[0]} fails"
            case Sense.CAUGHT:
                return caught(texts)
            case Sense.MATCHES:
                is_switch = branch.subject is not None and subject not in _NO_SUBJECTS
                return self._matched(subject, texts) if is_switch else self._alternatives(texts)
        return f"{subject} is anything else" if subject and subject not in _NO_SUBJECTS else ""

    def _spelled(self, text: str) -> str:
        for pattern, words in self._syntax.words:
            text = re.sub(pattern, words, text)
        return text

    def _alternatives(self, conditions: Sequence[str]) -> str:
        """One of some conditions holds; empty for what always does."""
        if not all(conditions) or not _ALWAYS.isdisjoint(conditions):
            return ""
        return " or ".join(affirmed(self._spelled(condition)) for condition in conditions)

    def _none_of(self, texts: Sequence[str]) -> str:
        if not all(texts) or len(texts) > 2:
            return ""
        first, *others = map(self._spelled, texts)
        return f"neither {_bracketed(first)} nor {_bracketed(others[0])}" if others else negated(first)

    def _matched(self, subject: str, patterns: Sequence[str]) -> str:
        if not subject or not all(patterns):
            return ""
        patterns = [pattern.removeprefix("case ") for pattern in patterns]
        if any(map(self._is_everything, patterns)):
            return f"{subject} is anything else"
        guarded = _GUARD.match(patterns[0])
        if guarded and self._is_everything(guarded[1]) and len(patterns) == 1:
            return patterns[0][guarded.end() :]
        said = " or ".join(map(_said_pattern, patterns))
        return f"{subject} {said}" if _COMPARED.match(said) else f"{subject} is {said}"

    def _is_everything(self, pattern: str) -> bool:
        if self._syntax.has_name_patterns and pattern not in _CONSTANTS and _NAME_PATTERN.fullmatch(pattern):
            return True
        return pattern in _EVERYTHING

    def _text(self, span: Span) -> str:
        """The condition that stands in some bytes, without what comes before it; empty if it is too long."""
        text = self._tokens.text(*span, max_tokens=_MOST_TOKENS)
        if len(text) > 2 * MAX_CONDITION:
            return ""
        text = without_brackets(text.removesuffix(";").removesuffix(":").strip())
        text = text if '"' in text else text.rpartition("; ")[2]
        return text if len(text) <= MAX_CONDITION else ""


def without_brackets(text: str) -> str:
    """A text without the brackets around all of it."""
    while text.startswith("(") and _end_of_brackets(text) == len(text):
        text = text[1:-1].strip()
    return text


def _end_of_brackets(text: str) -> int:
    """Where the bracket that a text begins with is closed."""
    depth = 0
    for place, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if not depth:
            return place + 1
    return 0


def affirmed(text: str) -> str:
    """A condition, with its negation in words."""
    inner = _negated_part(text)
    return text if inner is None else f"not {inner}"


def negated(text: str) -> str:
    """The opposite of a condition."""
    inner = _negated_part(text)
    if inner is not None:
        return without_brackets(inner)
    if found := _COMPARISON.fullmatch(text):
        return f"{found[1]} {_OPPOSITES[found[2]]} {found[3]}"
    for ending, opposite in _OPPOSITE_ENDINGS.items():
        if text.endswith(ending) and " and " not in text:
            return text.removesuffix(ending) + opposite
    return f"not {text}" if _is_one_operand(text) else f"not ({text})"


def _bracketed(text: str) -> str:
    """A condition beside others: in brackets if it has several parts."""
    return f"({text})" if _SEVERAL.search(text) else affirmed(text)


def _negated_part(text: str) -> str | None:
    """What a condition negates as a whole; None if it is no negation."""
    found = _NEGATION.match(text)
    if found is None:
        return None
    inner = text[found.end() :]
    return inner if _is_one_operand(inner) else None


def _is_one_operand(text: str) -> bool:
    """Whether a text is a name, a call or what is in brackets: no blank is outside of brackets and texts."""
    depth, quote = 0, ""
    for char in text:
        if quote or char in _QUOTES:
            quote = "" if char == quote else quote or char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == " " and not depth:
            return False
    return True


def caught(texts: Sequence[str]) -> str:
    """Of which classes an error is that was caught."""
    classes = [name for text in texts for name in _CLASS.findall(text)]
    return f"{' or '.join(dict.fromkeys(classes))} is caught" if classes else "an error is caught"


def _said_pattern(pattern: str) -> str:
    """A pattern with words between its parts."""
    guarded = _GUARD.match(pattern)
    plain, condition = (guarded[1], f", and {pattern[guarded.end() :]}") if guarded else (pattern, "")
    plain = _PATTERN_MARK.sub(" or ", plain) if _PLAIN_PATTERN.fullmatch(plain) else plain
    return _TYPE_TEST.sub(r"\1", plain).replace("!", "not ", plain.startswith("!")) + condition
