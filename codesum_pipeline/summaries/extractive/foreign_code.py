"""Calls and values of any language are put so that the readers of Python's understand them.

Elsewhere a capital does not make a class: the parser writes `new` before what
makes one. A name with a capital that is called without it becomes a verb again.
"""

import re
from functools import lru_cache

from codesum_pipeline.summaries.extractive.word_lists import word_set

_PIECE = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)|(?P<made>\bnew\s+[\w.:\\]+)"""
    r"""|(?P<arrow>->|::|\?\.|!\.|(?<=\w):(?=\w+\())|(?P<sigil>(?<![\w$@&])[$@&]{1,3}(?=[A-Za-z_])|(?<=\))[?!](?=[.)]|$))"""
    r"""|(?P<called>\b[A-Z]\w*(?=\s*(?:\(|$)))"""
)
# A capital is nothing but a capital where the grammar does not tell what makes an object.
_CAPITALIZED_CALLS = frozenset(("go", "c-sharp", "c", "cpp"))
# Calls that say nothing of what a function is for.
_QUIET = word_set(
    """
    Some None Ok Err unwrap expect clone to_string to_owned into iter into_iter as_ref as_mut as_str as_bytes as_slice
    to_vec unwrap_or unwrap_or_else unwrap_or_default len is_empty borrow borrow_mut deref to_vec collect cloned copied
    make append cap panic print println typeof sizeof static_cast reinterpret_cast isset empty unset count array
    is_array is_string is_int size length toString to_s to_a to_i valueOf hashCode equals get_or_insert_with begin end
    data
    c_str
    std.move move forward require require_relative include pcall ipairs pairs type tostring tonumber unpack super let
    also apply run with takeIf checkNotNull requireNotNull nameof void guard defer vec format writeln write matches
    dbg todo unreachable assert debug_assert raise puts end lambda proc loop block_given? freeze dup
    """
)
_BRACED = {"lua": "a table", "elixir": "a tuple", "go": "a value", "rust": "a value", "zig": "a value"}
# A result that went well is what it holds.
_WRAPPED = re.compile(r"(?:Ok|Some|Just|Right|Success|pure|return)\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)\??$", re.S)
_FAILED = re.compile(r"(?:Err|Left|Failure)\(")
_ASSERTING = re.compile(
    r"(?:(?:assert|require|expect|t|b|should|chai|sinon|vi|jest|Assert|XCT\w*|Expect)(?:\(\))?[.:]|\$this->assert|(?:this|self|)\.?"
    r"(?:assert|refute|expect|should|XCTAssert|EXPECT_|ASSERT_|must_|wont_|Should)\w*)"
)


def as_own(text: str, receiver: str) -> str:
    """What is done to the receiver, under the name that its readers know: `s.rows` gives `self.rows`."""
    return f"self{text[len(receiver) :]}" if receiver and text.startswith((f"{receiver}.", f"{receiver}->")) else text


def brace_word(phrase: str, language: str) -> str:
    """What braces make is no dict elsewhere."""
    return phrase.replace("a dict", _BRACED.get(language, "an object")).replace("empty dict", "empty object")


def telling_call(text: str, language: str) -> str:
    """A call as its reader takes it; empty where it says nothing."""
    if _ASSERTING.match(text.removeprefix("new ")) or re.split(r"[.:>\\]", text)[-1] in _QUIET:
        return ""
    return as_python_code(text, language)


@lru_cache(maxsize=16384)
def as_python_code(text: str, language: str) -> str:
    """The expression with dots for arrows, without sigils, its calls of functions in small letters."""

    def piece(match: re.Match[str]) -> str:
        if match["made"]:
            return re.split(r"[.:\\\s]+", match["made"])[-1]
        if match["arrow"]:
            return "."
        if match["sigil"]:
            return ""
        if match["called"] and language in _CAPITALIZED_CALLS:
            return _small(match["called"])
        return match[0]

    while match := _WRAPPED.match(text):
        text = match[1]
    return "" if _FAILED.match(text) else _PIECE.sub(piece, text)


def _small(name: str) -> str:
    """`RunTLS` gives `runTLS`, `JSON` gives `json`, `URLFor` gives `urlFor`."""
    match = re.match(r"[A-Z]+(?![a-z])|[A-Z]", name)
    return name if match is None else match[0].lower() + name[match.end() :]


_COMMENT = re.compile(r"/\*[\s\S]*?(?:\*/|\Z)|^[ \t]*(?://|--|\*|#(?![\[a-z])).*$|[ \t]//[ \t].*$", re.M)
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`]*`")
_NAME = re.compile(r"[^\W\d]\w+")
# Words of the languages, and of types that come with them.
_RESERVED = word_set(
    """
    abstract actual and any anyhow array async auto await begin bool boolean break byte case catch chan char class
    companion comptime const constexpr continue data debugger declare def default defer defmodule defp delegate delete
    do double elif else elseif elsif end ensure enum error event except export extends extension extern external false
    fallthrough fi final finally float fn for foreach friend fun func function get given global go goto guard if impl
    implements implicit import in include inline inout instanceof int interface internal into is isset it lambda
    lateinit lazy let local lock long loop match mod module move mut mutable namespace native new nil noexcept none not
    null
    nullptr object of open operator or out override package panic partial private proc protected protocol pub public
    raise readonly record ref reinterpret_cast repeat require rescue return sealed select self set short sizeof static
    static_cast std str string struct sub super suspend switch synchronized template test then this throw throws trait
    transient true try type typealias typedef typename typeof ubyte uint undefined union unit unless unsafe unsigned
    until use using val value var vararg virtual void volatile when where while with yield usize i32 u8 u32 u64
    i64 size_t String Boolean Int Long Unit Void Object List Map Set Vec Option Some None Ok Err Result Box Override
    SuppressWarnings discardableResult MainActor escaping Sendable available macOS iOS tvOS watchOS visionOS number
    testing assert require expect describe uint8_t uint32_t uint64_t int64_t nonce allocator anytype noreturn init
    """
)
_MAX_NAMES = 200
_MAX_CHARS = 100_000


def names_in(source: str) -> list[str]:
    """Distinct names of a definition in source order, without what stands in comments and strings."""
    code = _STRING.sub('""', _COMMENT.sub("", source[:_MAX_CHARS]))
    return [name for name in dict.fromkeys(_NAME.findall(code)) if name not in _RESERVED][:_MAX_NAMES]
