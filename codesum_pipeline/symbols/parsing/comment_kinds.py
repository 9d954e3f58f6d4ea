"""What a comment is, read off its text: prose about code, or something else that is written in comments."""

import re
from collections.abc import Sequence

from codesum_pipeline.foundation.language_facts.writing_systems import FOREIGN_ENDS, pairs_of

# Words that a comment has at least if it says something.
_FEWEST_WORDS = 3
_MOST_WORDS_OF_TITLE = 5
# So many letters of two words are compared, so that an ending does not count.
_COMPARED = 4
_SHORTEST_RULE = 5
_NO_TITLE_ENDS = (".", "!", ":", ";", ")", *FOREIGN_ENDS, "\uff1a", "\uff1b", "\uff09")
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}|[^\W\d_]{2,}")
_TASK = re.compile(r"\W{0,10}(?:TODO|FIXME|HACK|XXX|BUG|WIP|TBD|DEPRECATED|todo|fixme|Todo|Fixme)\b")
_SECTION = re.compile(r"\W{0,10}(?:MARK|PRAGMA|SECTION|region|endregion|mark|Mark(?=\s{0,3}[:-]))\b\s{0,5}[:-]?")
_RULED = re.compile(r"^\W{0,4}([-=*#~+_/—─])\1{2}|([-=*#~+_/—─])\2{2}\W{0,4}$")
_LINK = re.compile(r"https?://\S+")
# Notes to tools: `swift-format-ignore: …`, `@!parse`.
_TOOL = re.compile(r"\W{0,4}[\w.-]{1,40}(?:-|: ?|\.)(?:ignore|disable|enable|suppress|off|skip)\b|@")
# What begins a remark on how or why something is done, which does not say what is done.
_REMARK = re.compile(
    r"\W{0,4}(?:note|nb|n\.b|warning|caution|hack|temporary|temporarily|workaround|quick|just|only|but|or|and|either"
    r"|neither|otherwise|because|since|so|it|it's|don't|do not|not|no|never|nothing|cannot|can't|can|if|when|we|i|you"
    r"|there|maybe|perhaps|probably|avoid|cheaper|added|implemented|intentionally|deliberately|currently|now|yes|hmm"
    r"|ok|okay|example|usage|e\.g|i\.e|see|cf|from|unlike|although|though|while|however|instead|these|those|that"
    r"|called|they|he|he's|here|without|what|why|how|same|similar|should|must|may|might|would|could|on|in|at|for|as)\b",
    re.IGNORECASE,
)
# What editors write into new projects.
_TEMPLATE = re.compile(r"\byour (?:app|application|code)\b|insert code here|override point|generated .{0,20}stub", re.I)
_CODE_LINE = re.compile(
    r"[;{}]$"
    r"|^[\w.$@\[\]'\"*-]{1,80} ?(?:[-+*/|&.]?=|:=|<-) ?\S"
    r"|^[\w.$@:>-]{1,80}\([^()]{0,200}\)[;,]?$"
    r"|^\w{1,40}(?:\.\w{1,40}){1,5} ?[\"'(\[]"
    r"|^(?:if|for|while|switch|elif|foreach) ?\("
    r"|^(?:return|import|require|include|puts|print|echo|assert|raise|throw|export|let|const|var|def|fn|func|end)"
    r" [\w.$\"'(]{1,60}[;:{(]?$"
    r"|^[@#<\[{(]\w"
)


def is_prose(text: str) -> bool:
    """Whether a comment's text, without its marks, says something in words: no code, task, link or title."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if not lines or any(pattern.match(text) for pattern in (_TASK, _SECTION, _TOOL, _REMARK, _LINK)):
        return False
    if text.rstrip().endswith("?") or any(map(_RULED.search, (lines[0], lines[-1]))) or _TEMPLATE.search(text):
        return False
    if any(map(_CODE_LINE.search, lines)):
        return False
    return len(_WORD.findall(_LINK.sub("", text))) >= _FEWEST_WORDS


def is_section_title(written: Sequence[str], text: str, name: str) -> bool:
    """Whether comments before a definition head a section of its file: editors' marks say so, or they are a short title
    without a word of the definition's name, which has a rule beside it.

    `written` are the comments with their marks, `text` is what they say.
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if len(lines) != 1:
        return False
    if _SECTION.match(lines[0]):
        return True
    words = _WORD.findall(lines[0])
    is_title = 0 < len(words) <= _MOST_WORDS_OF_TITLE and not lines[0].endswith(_NO_TITLE_ENDS)
    is_ruled = bool(_RULED.search(lines[0])) or any(map(_is_rule, "\n".join(written).split("\n")))
    return is_title and is_ruled and not _shares_word(words, name)


def _shares_word(words: Sequence[str], name: str) -> bool:
    """Whether a title has a word that begins like one of a name, or two signs of it that are beside each other."""
    beginnings = {part.lower()[:_COMPARED] for part in _NAME_PART.findall(name)}
    said = "".join(words)
    is_shared = not name.isascii() and any(pair in said for pair in pairs_of(name))
    return is_shared or any(word.lower()[:_COMPARED] in beginnings for word in words)


def _is_rule(line: str) -> bool:
    """Whether a line of a comment is a rule; one of stars is the frame of a block comment."""
    whole = line.strip()
    marks = whole if whole.strip("#/;%") == "" else whole.strip("/*#;% ")
    return len(marks) >= _SHORTEST_RULE and len(set(marks)) == 1 and not marks[0].isalnum()
