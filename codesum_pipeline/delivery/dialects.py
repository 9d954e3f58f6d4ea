"""A post as plain text, and as Markdown that any chat can be given.

The Markdown of a digest holds words of repositories, of people and of models.
Emphasis, headings, lists and code stay; links, images and HTML in it are shown
as the letters they are made of, and nobody is called by an `@`. The only links
are ours, to what the citations name.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.delivery.channels import Post, PostKind
from codesum_pipeline.llm.budgets import CUT_MARK, cut
from codesum_pipeline.model.digests import CitedPlace
from codesum_pipeline.model.markdown import unlinked
from codesum_pipeline.model.printable import clean, one_line

# Neither are links in the text made into links, nor do definitions of such vanish.
_UNREAD = ("link", "image", "autolink", "html_inline", "html_block", "reference")
_SPECIAL = re.compile(r"([\\`*\[\]<>~|]|(?<!\w)_|_(?!\w)|&(?=#?\w+;))")
_AT_START = re.compile(r"^([-+#=]|\d{1,9}(?=[.)]))", re.MULTILINE)
_COMMIT_DIGITS = 10
_WORD_JOINER = "\u2060"
_CALL = re.compile(r"@(?=\w)")
# Of a message that is too long, what its sources may take before the text gives way.
_SOURCES_SHARE = 0.4
MAY_BE_A_REPEAT = "This may be a repeat: an earlier try ended before it was known whether it arrived."


class Dialect(Struct, frozen=True):
    """How text is written: what makes letters stand for themselves, and the marks before and after parts."""

    text: Callable[[str], str]
    code: Callable[[str], str]
    block: Callable[[str], str]
    source: Callable[[str, str, str | None], str]
    bold: tuple[str, str]
    italic: tuple[str, str]
    number: str


def read_markdown(text: str) -> list[Token]:
    """The tokens of a text of others, without any link, image or HTML."""
    return MarkdownIt("commonmark", {"html": False}).disable(list(_UNREAD)).parse(clean(text))


def shown(text: str) -> str:
    """A text of others, printable (also what entities stood for) and such that no program makes a link of it."""
    return unlinked(clean(text))


def _chat_text(text: str) -> str:
    escaped = _SPECIAL.sub(r"\\\1", _uncalled(text))
    return _AT_START.sub(lambda found: f"{found[1]}\\" if found[1][0].isdigit() else f"\\{found[1]}", escaped)


def _uncalled(text: str) -> str:
    return _CALL.sub(f"@{_WORD_JOINER}", shown(text))


def _chat_code(text: str) -> str:
    said = _uncalled(text)
    ticks = "`" * (1 + max((len(found) for found in re.findall("`+", said)), default=0))
    return f"{ticks}{said}{ticks}" if len(ticks) == 1 else f"{ticks} {said} {ticks}"


def _chat_block(text: str) -> str:
    return f"```\n{_uncalled(text).replace('```', '` ` `')}\n```"


def _html(text: str) -> str:
    return escape(_uncalled(text), quote=False)


PLAIN = Dialect(
    text=shown,
    code=shown,
    block=shown,
    source=lambda name, said, url: f"{name}, {said}\n    {url}" if url else f"{name}, {said}",
    bold=("", ""),
    italic=("", ""),
    number="[{}]",
)
# CommonMark, which Apprise turns into what each service reads.
CHAT = Dialect(
    text=_chat_text,
    code=_chat_code,
    block=_chat_block,
    source=lambda name, said, url: f"[{name}]({url}), {said}" if url else f"{name}, {said}",
    bold=("**", "**"),
    italic=("*", "*"),
    number=r"\[{}\]",
)
# The few tags that Telegram reads; of its Markdown, one lone underscore makes it refuse a message.
HTML_CHAT = Dialect(
    text=_html,
    code=lambda text: f"<code>{_html(text)}</code>",
    block=lambda text: f"<pre>{_html(text)}</pre>",
    source=lambda name, said, url: f'<a href="{escape(url)}">{name}</a>, {said}' if url else f"{name}, {said}",
    bold=("<b>", "</b>"),
    italic=("<i>", "</i>"),
    number="[{}]",
)


def written(post: Post, dialect: Dialect, *, limit: int | None = None, is_repeat: bool = False) -> str:
    """The body of a post in a dialect, at most `limit` characters long.

    What does not fit is cut at the end of a sentence or line, and its last line says how much is left out.
    """
    whole = _joined(post, post.text, len(post.citations), dialect, is_repeat)
    if limit is None or len(whole) <= limit:
        return whole
    sources, most = len(post.citations), int(limit * _SOURCES_SHARE)
    while sources and len(_sources(_with(post, sources), dialect)) > most:
        sources -= 1
    room = limit
    while room > 0:
        text = cut(post.text, room).removesuffix(CUT_MARK).rstrip() if room < len(post.text) else post.text
        said = _joined(post, text, sources, dialect, is_repeat)
        if len(said) <= limit:
            return said
        room = min(room, len(text)) - max(1, len(said) - limit)
    return _joined(post, "", 0, dialect, is_repeat)[:limit]


def _joined(post: Post, text: str, sources: int, dialect: Dialect, is_repeat: bool) -> str:
    parts = [dialect.text(MAY_BE_A_REPEAT) if is_repeat else "", _body(post, text, dialect)]
    parts.append(_sources(_with(post, sources), dialect))
    parts.append(dialect.text(_left_out(post, text, sources)))
    return "\n\n".join(part for part in parts if part)


def _with(post: Post, sources: int) -> Post:
    return replace(post, citations=post.citations[:sources])


def _left_out(post: Post, text: str, sources: int) -> str:
    gone = []
    if len(text) < len(post.text):
        gone.append(f"{len(post.text) - len(text):,} of {len(post.text):,} characters")
    if sources < len(post.citations):
        gone.append(f"{len(post.citations) - sources} of {len(post.citations)} sources")
    return f"(left out for length: {' and '.join(gone)})" if gone else ""


def _body(post: Post, text: str, dialect: Dialect) -> str:
    if post.kind is PostKind.NOTICE:
        return dialect.text(clean(text).strip())
    return "\n\n".join(_blocks(read_markdown(text), dialect))


def _sources(post: Post, dialect: Dialect) -> str:
    lines = []
    for source in sources_of(post):
        said = ", ".join([dialect.code(source.place), *map(dialect.text, source.about)])
        lines.append(
            f"{dialect.number.format(source.number)} {dialect.source(dialect.text(source.name), said, source.url)}"
        )
    return "\n".join(lines)


class ShownSource(Struct, frozen=True):
    """A citation as it is listed; `about` is the source or its repository, and the day."""

    number: int
    name: str
    place: str
    about: tuple[str, ...]
    url: str | None


def sources_of(post: Post) -> Iterator[ShownSource]:
    """The citations of a post, each part on one line; the commit, in ten digits, stands by its repository."""
    for number, (citation, url) in enumerate(zip(post.citations, post.links, strict=False), 1):
        place, commit = one_line(citation.place), ""
        if CitedPlace.parse(place):
            place, _, commit = place.rpartition("@")
        source = one_line(citation.source_name or citation.repository)
        told = (f"{source} at {commit[:_COMMIT_DIGITS]}" if commit else source, one_line(citation.date or "")[:10])
        yield ShownSource(number, one_line(citation.name), place, tuple(each for each in told if each), url)


def _blocks(tokens: Sequence[Token], dialect: Dialect) -> Iterator[str]:
    """Each block of a text; items of one list are one."""
    lists: list[int | None] = []
    lines: list[str] = []
    mark = ""
    for token in tokens:
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                lists.append(int(token.attrs.get("start", 1)) if token.type.startswith("ordered") else None)
            case "list_item_open":
                indent, number = "  " * (len(lists) - 1), lists[-1]
                mark = f"{indent}- " if number is None else f"{indent}{number}. "
                lists[-1] = None if number is None else number + 1
            case "bullet_list_close" | "ordered_list_close":
                lists.pop()
                if not lists:
                    yield "\n".join(lines)
                    lines = []
            case "inline" | "fence" | "code_block":
                said = _said(token, dialect, is_heading=token.level == 1 and _is_heading(tokens, token))
                if lists:
                    lines.append(f"{mark}{said}" if mark else "  " * len(lists) + said)
                    mark = ""
                else:
                    yield said


def _is_heading(tokens: Sequence[Token], token: Token) -> bool:
    return tokens[tokens.index(token) - 1].type == "heading_open"


def _said(token: Token, dialect: Dialect, *, is_heading: bool) -> str:
    if token.type != "inline":
        return dialect.block(token.content.rstrip("\n"))
    said = "".join(_inline(token.children or (), dialect, is_heading=is_heading))
    return said.join(dialect.bold) if is_heading and said else said


def _inline(tokens: Sequence[Token], dialect: Dialect, *, is_heading: bool) -> Iterator[str]:
    for token in tokens:
        match token.type:
            case "text" | "text_special":
                yield dialect.text(token.content)
            case "code_inline":
                yield dialect.code(token.content)
            case "strong_open" | "strong_close":
                yield "" if is_heading else dialect.bold[token.nesting < 0]
            case "em_open" | "em_close":
                yield dialect.italic[token.nesting < 0]
            case "softbreak" | "hardbreak":
                yield "\n"
