"""Patterns of paths as in `.gitignore`, matched without trying ways anew.

A pattern comes from a link, an agent or a file of a clone. Between two stars, the first place that fits is as good as
any later one: what follows may begin anywhere behind it. So no place is tried twice, and a pattern costs at most its
length times that of the path.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.printable import shorten_text

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# Of one pattern: longer than any path that people write; and of those of one question.
LONGEST_PATTERN = 500
MOST_PATTERNS = 20

# How `pathspec` writes a star, folders of any number behind a name and before all, and a pattern's parts.
STAR, ANY_FOLDERS, _FOLDERS_AT_START = "[^/]*", "(?:/.+)?", "^(?:.+/)?"
_PARTS = re.compile(
    r"(?P<start>\^(?:\(\?:\.\+/\)\?)?)(?P<names>.+?)(?P<end>\(\?:\(\?P<ps_d>/\)\|\$\)|\(\?P<ps_d>/\)|/)", re.DOTALL
)
# A slash between names, not one of a star or a class; and a class, whose backslashes are doubled already.
_SLASH = re.compile(r"(?<!\[\^)(?<!\(\?!)/")
_CLASS = re.compile(r"\\.|\[\^/\]|\[(?P<not>\^?)(?P<class>\]?[^\]]*)\]", re.DOTALL)
_SPECIAL_IN_CLASS = re.compile(r"[\[&~|]")


@cache
def any_of(expressions: tuple[str, ...]) -> Callable[[str], bool]:
    """A test of whether one of some regular expressions of a setting is found in a text. Its cost is linear, whatever
    they say. Raises `ValueError` for what is none, and for what only engines that try ways anew can match: a look ahead
    or back, and a reference to a group."""
    # Most processes have no such setting.
    import re2

    options = re2.Options()
    options.log_errors = False
    found = re2.Set.SearchSet(options)
    for expression in expressions:
        if len(expression) > LONGEST_PATTERN:
            raise ValueError(_too_long(expression))
        try:
            re2.compile(expression, options)
        except re2.error as error:
            raise ValueError(
                f"{expression!r} is not a regular expression of RE2: {error.args[0].decode('utf-8', 'replace')}"
            ) from error
        found.Add(expression)
    found.Compile()
    return lambda text: found.Match(text) is not None


def _too_long(pattern: str) -> str:
    shown = shorten_text(pattern, most=60)
    return f"{shown!r} has {len(pattern):,} characters: a pattern has at most {LONGEST_PATTERN}"


def read_patterns(lines: Iterable[str], where: str) -> "GitIgnoreSpec":
    """Patterns as in `.gitignore`. Raises `ConfigurationError` for one that is none or too long; `where` is what the
    message calls it."""
    # Thirty milliseconds, for which a search without patterns does not wait.
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    def linear(line: str) -> GitIgnoreSpecPattern:
        if len(line) > LONGEST_PATTERN:
            raise ConfigurationError(f"{where} {_too_long(line)}")
        try:
            expression, includes = GitIgnoreSpecPattern.pattern_to_regex(line)
            if expression is None:
                return GitIgnoreSpecPattern(None)
            return GitIgnoreSpecPattern(re.compile(linear_expression(expression), re.DOTALL), includes)
        except (ValueError, re.error) as error:
            raise ConfigurationError(f"{where} {line!r} is no pattern as in .gitignore: {error}") from error

    return GitIgnoreSpec.from_lines(lines, pattern_factory=linear, backend="simple")


def linear_expression(expression: str) -> str:
    """The expression that `pathspec` makes of a pattern, with the same meaning: `[^/]*` for a star, `(?:/.+)?` for
    folders of any number between names, `^(?:.+/)?` for those at the beginning. A class never holds a slash, as in git,
    and a line end in a name is a character like others."""
    found = _PARTS.fullmatch(expression)
    if found is None:
        return expression
    groups = [_linear_names(group) for group in _CLASS.sub(_within_name, found["names"]).split(ANY_FOLDERS)]
    first, last = f"{found['start']}{groups[0]}", found["end"].replace("$", r"\Z")
    if len(groups) == 1:
        return first + last
    if found["start"] == _FOLDERS_AT_START:
        first = f"^(?>(?:.+?/)??{groups[0]}(?=/))"
    between = "".join(f"(?>(?:/.+?)??{group}(?=/))" for group in groups[1:-1])
    return f"{first}{between}{ANY_FOLDERS}{groups[-1]}{last}"


def _within_name(token: re.Match[str]) -> str:
    if token["class"] is None:
        return token[0]
    chars = _SPECIAL_IN_CLASS.sub(r"\\\g<0>", token["class"])
    return f"(?!/)[{token['not']}{chars}]"


def _linear_names(names: str) -> str:
    """Names with slashes between them: each star but the last takes as little as it can, and keeps to that."""
    return "/".join(map(_linear_name, _SLASH.split(names)))


def _linear_name(name: str) -> str:
    first, *others = name.split(STAR)
    if not others:
        return name
    last = others.pop()
    between = "".join(f"(?>{STAR}?{part})" for part in others if part)
    return f"{first}{between}" + (rf"(?>{STAR}{last}(?=/|\Z))" if last else f"{STAR}+")


class OrderedPatterns(Struct, frozen=True):
    """The patterns of one file as in `.gitignore`, of which the last that fits a path itself decides."""

    # Neighbours of one kind are one expression: whether they leave out what they fit.
    groups: tuple[tuple[re.Pattern[str], bool], ...]

    @classmethod
    def of(cls, lines: Iterable[str]) -> "tuple[OrderedPatterns, list[int]]":
        """The patterns of some lines, and the numbers of the lines that are none or too long."""
        from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

        found: list[tuple[str, bool]] = []
        unread = []
        for number, line in enumerate(lines, start=1):
            try:
                expression, includes = (None, None)
                if len(line) <= LONGEST_PATTERN or line.startswith("#"):
                    written = _WITH_CLASS.sub(_with_letters, _FOLDERS_BELOW.sub("/**/*/", line))
                    expression, includes = GitIgnoreSpecPattern.pattern_to_regex(written)
                else:
                    unread.append(number)
                if expression is not None:
                    itself = _itself(linear_expression(expression))
                    re.compile(itself, re.DOTALL)
                    found.append((itself, bool(includes)))
            except (ValueError, re.error):
                unread.append(number)
        groups = [
            (re.compile("|".join(f"(?:{each})" for each, _ in some), re.DOTALL), leaves_out)
            for leaves_out, some in groupby(found, key=itemgetter(1))
        ]
        return cls(tuple(reversed(groups))), unread

    def decision(self, path: str) -> bool | None:
        """Whether the path of a file, or with a slash behind it of a folder, is left out; None if no pattern fits."""
        return next((leaves_out for fits, leaves_out in self.groups if fits.match(path)), None)


# Folders at any depth below another; `pathspec` takes it for the other one.
_FOLDERS_BELOW = re.compile(r"(?<=[^/])/\*\*/\s*$")
# A set of characters with classes, which `pathspec` takes for letters.
_WITH_CLASS = re.compile(r"(?<!\\)\[[!^]?\]?(?:\[:[a-z]+:\]|[^]\[])+\]")
_CLASS_NAME = re.compile(r"\[:([a-z]+):\]")
_LETTERS = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": " \t", "cntrl": "\0-\x1f\x7f", "digit": "0-9", "lower": "a-z",
    "space": " \t-\r", "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
# How `pathspec` writes `**/*/**`.
_ALL_IN_FOLDERS = "/"
_FILE_OR_FOLDER, _FOLDER = r"(?:(?P<ps_d>/)|\Z)", "(?P<ps_d>/)"


def _with_letters(found: re.Match[str]) -> str:
    unknown = {*_CLASS_NAME.findall(found[0])}.difference(_LETTERS)
    if unknown:
        raise ValueError(f"no class of characters that is read: {sorted(unknown)}")
    return _CLASS_NAME.sub(lambda name: _LETTERS[name[1]], found[0])


def _itself(expression: str) -> str:
    """An expression that fits only the path itself, and not what is below it."""
    if expression == _ALL_IN_FOLDERS:
        return r".*/.+\Z"
    if expression.endswith(_FILE_OR_FOLDER):
        return f"{expression.removesuffix(_FILE_OR_FOLDER)}/?\\Z"
    if expression == _FOLDER:
        return r".*/\Z"
    if expression.endswith(_FOLDER):
        return f"{expression.removesuffix(_FOLDER)}/\\Z"
    # Whatever is below a folder.
    return rf"{expression}.+\Z" if expression.endswith("/") else expression
