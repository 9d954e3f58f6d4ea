"""Calls with a text that give code a name: found in the bytes of a file, then made sure of in its tree.

A word counts where it is the called name itself, and the text where it is the first argument of that very call: not in
a comment, a text or a regular expression, of whatever language.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.symbol import NameKind
from codesum_pipeline.languages.declarations.naming_calls import NamingCalls
from codesum_pipeline.symbols.parsing.call_shapes import (
    arguments_of,
    brackets_of,
    named_title,
    path_to,
    text_of,
    title_of,
    word_before_each,
)

# Of more calls in one file the rest have no names.
_MOST_CALLS = 20_000
# Nodes on the ways to these calls from the top: in a file of calls that are nested ever deeper, the rest have no names.
_MOST_STEPS = 1_000_000
_LAST_WORD = re.compile(rb"(?<![\w$])[\w$]+\s?$")
_LONGEST_WORD = 40
# Words of a callee before its bracket.
_CALLEE = re.compile(rb"([$\w]+(?:(?:\.|->|::|:|\?\.)[$\w]+)*)(?:<[^<>\n]{0,80}>)?\s?$")
# What a call is made on begins with a name, where it is made itself: `connect(app).get(…)`.
_OWNED = re.compile(rb"(?:\.|->|::)\s{0,20}$")
_SOME_OWNER = "…"
_FIRST_WORD = re.compile(rb"[$\w]{1,60}")
_JOINTS = re.compile(r"\.|->|::|:|\?\.")
# Between a test's word and its bracket: `it.only(…)`.
_VARIANTS = frozenset({"only", "skip", "concurrent", "serial", "failing", "todo", "each", "sequential", "parallel"})
LONGEST_CALLEE = 120


class NamingCall(Struct, frozen=True):
    """A call with a text: where that begins, what it is called on, the nodes around the text, the call itself last."""

    place: int
    kind: NameKind
    word: str
    owner: str
    text: str
    path: Sequence[Node]

    @property
    def node(self) -> Node:
        return self.path[-1]


def naming_calls_in(root: Node, source: bytes, rules: NamingCalls, calls: Collection[str]) -> Iterator[NamingCall]:
    """The calls of a file, in source order, that give something a name; `calls` are the types of nodes of calls."""
    words, word_bytes = rules.words, {word.encode() for word in rules.words | _VARIANTS}
    steps = 0
    for count, match in enumerate(rules.openings.finditer(source)):
        if count >= _MOST_CALLS:
            return
        end = match.start() + (len(match[1]) if rules.unbracketed else 0)
        if not _may_name(source, end, word_bytes):
            continue
        least = max(end - LONGEST_CALLEE, 0)
        line = max(least, source.rfind(b"\n", least, max(end - 1, 0)) + 1)
        before = _CALLEE.search(source, line, end)
        callee = before[1].decode("utf-8", "replace") if before else ""
        parts = [part for part in _JOINTS.split(callee) if part]
        while len(parts) > 1 and parts[-1] in _VARIANTS:
            parts.pop()
        if before is None and source[end - 1 : end] in (b")", b"`"):
            parts = [word_before_each(source, end)]
        if not parts or parts[-1] not in words:
            continue
        owner = callee[: callee.rfind(parts[-1])].rstrip(".:->?")
        if before and not owner and _OWNED.search(source, max(0, before.start() - _LONGEST_WORD), before.start()):
            owner = _SOME_OWNER
        kind = rules.kind_of(parts[-1], owner)
        if kind is None:
            continue
        path = path_to(root, match.end())
        steps += len(path)
        if steps > _MOST_STEPS:
            return
        found = _call_on(path, source, calls, text=match.end(), name_end=end)
        if found is None:
            continue
        first = next((one for one in arguments_of(found[-1]) if one.start_byte == match.end()), None)
        text, is_known = text_of(first) if first is not None else ("", False)
        if not is_known and first is not None:
            text = named_title(first) if kind is NameKind.GROUP else title_of(first) * (kind is NameKind.TEST)
        if owner == _SOME_OWNER:
            first_word = _FIRST_WORD.match(source, found[-1].start_byte)
            owner = first_word[0].decode("utf-8", "replace") if first_word else owner
        if text or (kind is NameKind.ROUTE and is_known):
            yield NamingCall(match.end(), kind, parts[-1], owner, text, found)


def _may_name(source: bytes, end: int, words: Collection[bytes]) -> bool:
    """Whether the word before a byte may be one of the language's: most brackets are of other calls."""
    word = _LAST_WORD.search(source, max(0, end - _LONGEST_WORD), end)
    return word is None or word[0].strip() in words


def _call_on(
    path: Sequence[Node], source: bytes, calls: Collection[str], *, text: int, name_end: int
) -> Sequence[Node] | None:
    """The part of the way to a byte that ends with the call whose name ends at another one and whose first argument
    begins there; nothing in a comment or a text, where a word is no call's name."""
    for place in range(len(path) - 1, -1, -1):
        node = path[place]
        if node.type in calls and (held := brackets_of(node)) is not None and held.start_byte <= text:
            gap = source[name_end : held.start_byte]
            return path[: place + 1] if held.start_byte >= name_end and not gap.strip() else None
        if "comment" in node.type:
            return None
    return None
