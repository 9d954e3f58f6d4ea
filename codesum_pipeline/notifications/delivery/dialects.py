"""A post as plain text, as Markdown that any chat can be given, and as HTML that any mail client shows.

The Markdown of a digest holds words of repositories, of people and of models.
Emphasis, headings, lists and code stay; links, images and HTML in it are shown
as the letters they are made of, and nobody is called by an `@`. The only links
are ours, to what the citations name. In a mail all tags and styles are ours.
Styles are set on their elements, since many clients drop sheets; the one sheet
holds what a dark scheme changes. There are no scripts and no pictures.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.digest_record import CitedPlace
from codesum_pipeline.foundation.data_model.markdown import break_links
from codesum_pipeline.foundation.data_model.printable import clean_text, one_line
from codesum_pipeline.notifications.delivery.posts import Post, PostKind
from codesum_pipeline.texts.llm.budgets import CUT_MARK, cut_to_fit

# Neither are links in the text made into links, nor do definitions of such vanish.
_UNREAD = ("link", "image", "autolink", "html_inline", "html_block", "reference")
_SPECIAL = re.compile(r"([\\`*\[\]<>~|]|(?<!\w)_|_(?!\w)|&(?=#?\w+;))")
_AT_START = re.compile(r"^([-+#=]|\d{1,9}(?=[.)]))", re.MULTILINE)
_COMMIT_DIGITS = 10
_WORD_JOINER = "\u2060"
_CALL = re.compile(r"@(?=\w)")
# How much of a message that is too long its sources may take before the text is cut.
_SOURCES_SHARE = 0.4
MAY_BE_A_REPEAT = "This may be a repeat: an earlier try ended before it was known whether it arrived."


class Dialect(Struct, frozen=True):
    """How text is written: what escapes letters, and the marks before and after parts."""

    text: Callable[[str], str]
    code: Callable[[str], str]
    block: Callable[[str], str]
    source: Callable[[str, str, str | None], str]
    bold: tuple[str, str]
    italic: tuple[str, str]
    number: str


def read_markdown(text: str) -> list[Token]:
    """The tokens of a text of others, without any link, image or HTML."""
    return MarkdownIt("commonmark", {"html": False}).disable(list(_UNREAD)).parse(clean_text(text))


def make_inert(text: str) -> str:
    """A text of others, printable (its entities decoded, too), and such that no program makes a link of it."""
    return break_links(clean_text(text))


def _chat_text(text: str) -> str:
    escaped = _SPECIAL.sub(r"\\\1", _uncalled(text))
    return _AT_START.sub(lambda found: f"{found[1]}\\" if found[1][0].isdigit() else f"\\{found[1]}", escaped)


def _uncalled(text: str) -> str:
    return _CALL.sub(f"@{_WORD_JOINER}", make_inert(text))


def _chat_code(text: str) -> str:
    code = _uncalled(text)
    ticks = "`" * (1 + max((len(found) for found in re.findall("`+", code)), default=0))
    return f"{ticks}{code}{ticks}" if len(ticks) == 1 else f"{ticks} {code} {ticks}"


def _chat_block(text: str) -> str:
    return f"```\n{_uncalled(text).replace('```', '` ` `')}\n```"


def _html(text: str) -> str:
    return escape(_uncalled(text), quote=False)


PLAIN = Dialect(
    text=make_inert,
    code=make_inert,
    block=make_inert,
    source=lambda name, about, url: f"{name}, {about}\n    {url}" if url else f"{name}, {about}",
    bold=("", ""),
    italic=("", ""),
    number="[{}]",
)
# CommonMark, which Apprise turns into what each service reads.
CHAT = Dialect(
    text=_chat_text,
    code=_chat_code,
    block=_chat_block,
    source=lambda name, about, url: f"[{name}]({url}), {about}" if url else f"{name}, {about}",
    bold=("**", "**"),
    italic=("*", "*"),
    number=r"\[{}\]",
)
# The few tags that Telegram reads; of its Markdown, one lone underscore makes it refuse a message.
HTML_CHAT = Dialect(
    text=_html,
    code=lambda text: f"<code>{_html(text)}</code>",
    block=lambda text: f"<pre>{_html(text)}</pre>",
    source=lambda name, about, url: f'<a href="{escape(url)}">{name}</a>, {about}' if url else f"{name}, {about}",
    bold=("<b>", "</b>"),
    italic=("<i>", "</i>"),
    number="[{}]",
)


def write_body(post: Post, dialect: Dialect, *, limit: int | None = None, is_repeat: bool = False) -> str:
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
        text = cut_to_fit(post.text, room).removesuffix(CUT_MARK).rstrip() if room < len(post.text) else post.text
        body = _joined(post, text, sources, dialect, is_repeat)
        if len(body) <= limit:
            return body
        room = min(room, len(text)) - max(1, len(body) - limit)
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
        return dialect.text(clean_text(text).strip())
    return "\n\n".join(_blocks(read_markdown(text), dialect))


def _sources(post: Post, dialect: Dialect) -> str:
    lines = []
    for source in sources_of(post):
        about = ", ".join([dialect.code(source.place), *map(dialect.text, source.about)])
        lines.append(
            f"{dialect.number.format(source.number)} {dialect.source(dialect.text(source.name), about, source.url)}"
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
    """The citations of a post, each part on one line; the commit, in ten digits, is beside its repository."""
    for number, (citation, url) in enumerate(zip(post.citations, post.links, strict=False), 1):
        place, commit = one_line(citation.place), ""
        if CitedPlace.parse(place):
            place, _, commit = place.rpartition("@")
        source = one_line(citation.source_name or citation.repository)
        about = (f"{source} at {commit[:_COMMIT_DIGITS]}" if commit else source, one_line(citation.date or "")[:10])
        yield ShownSource(number, one_line(citation.name), place, tuple(each for each in about if each), url)


def _blocks(tokens: Sequence[Token], dialect: Dialect) -> Iterator[str]:
    """The blocks of a text; a list is one block."""
    lists: list[int | None] = []
    lines: list[str] = []
    mark = ""
    for place, token in enumerate(tokens):
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
                is_heading = token.level == 1 and tokens[place - 1].type == "heading_open"
                text = _text_of(token, dialect, is_heading=is_heading)
                if lists:
                    lines.append(f"{mark}{text}" if mark else "  " * len(lists) + text)
                    mark = ""
                else:
                    yield text


def _text_of(token: Token, dialect: Dialect, *, is_heading: bool) -> str:
    if token.type != "inline":
        return dialect.block(token.content.rstrip("\n"))
    text = "".join(_inline(token.children or (), dialect, is_heading=is_heading))
    return text.join(dialect.bold) if is_heading and text else text


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


_LOOKS = tomllib.loads(resources.files(__package__).joinpath("dialects.toml").read_text(encoding="utf-8"))
_STYLES: Mapping[str, str] = _LOOKS["styles"]
_REFERENCE = re.compile(r"\[(\d{1,4})\]")


def html_mail(post: Post, *, is_repeat: bool = False) -> str:
    """A whole page, 600 px wide at most."""
    repeat = f'<p class="quiet" style="{_STYLES["p"]};{_STYLES["quiet"]}">{MAY_BE_A_REPEAT}</p>' if is_repeat else ""
    subject = escape(make_inert(post.subject))
    return (
        '<!DOCTYPE html>\n<html><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">'
        f"<title>{subject}</title><style>{_LOOKS['scheme']}</style></head>"
        f'<body style="margin:0;background:#ffffff;color:#1c2026;{_LOOKS["font"]}">'
        f'<div class="page" style="max-width:600px;margin:0 auto;padding:20px 16px;font-size:15px;line-height:1.55;'
        f'color:#1c2026;overflow-wrap:anywhere">'
        f'<h1 style="margin:0 0 14px;font-size:21px;line-height:1.3">{subject}</h1>'
        f"{repeat}{_html_body(post)}{_html_sources(post)}</div></body></html>\n"
    )


def _html_body(post: Post) -> str:
    if post.kind is PostKind.NOTICE:
        return f'<pre style="{_STYLES["pre"]}">{escape(make_inert(post.text.strip()))}</pre>'
    reader = MarkdownIt("commonmark", {"html": False})
    for name, rule in (("text", _text), ("code_inline", _code), ("fence", _block), ("code_block", _block)):
        reader.add_render_rule(name, rule)
    tokens = read_markdown(post.text)
    for token in tokens:
        token.tag = _HEADINGS.get(token.tag, token.tag)
        if token.nesting >= 0 and token.tag in _STYLES:
            token.attrSet("style", _STYLES[token.tag])
    return str(reader.renderer.render(tokens, reader.options, {"links": post.links}))


# The subject is the one heading above all; below the third they look alike.
_HEADINGS = {"h1": "h2", "h2": "h3", "h3": "h3", "h4": "h3", "h5": "h3", "h6": "h3"}


def _text(self: RendererHTML, tokens: Sequence[Token], place: int, _options: Any, env: Any) -> str:
    """A text in which `[N]` links to its citation."""

    def link(found: re.Match[str]) -> str:
        number = int(found[1])
        url = env["links"][number - 1] if 0 < number <= len(env["links"]) else None
        return _link(url, found[0]) if url else found[0]

    return _REFERENCE.sub(link, escape(make_inert(tokens[place].content)))


def _code(self: RendererHTML, tokens: Sequence[Token], place: int, *_: Any) -> str:
    return f'<code style="{_STYLES["code"]}">{escape(make_inert(tokens[place].content))}</code>'


def _block(self: RendererHTML, tokens: Sequence[Token], place: int, *_: Any) -> str:
    text = make_inert(tokens[place].content)
    content = "".join(map(_diff_line, text.rstrip("\n").split("\n"))) if tokens[place].info == "diff" else escape(text)
    return f'<pre style="{_STYLES["pre"]}">{content}</pre>\n'


def _diff_line(line: str) -> str:
    name, color = _LOOKS["sides"].get(line[:1], ("", ""))
    kind = f' class="{name}"' if name else ""
    return f'<span{kind} style="{_STYLES["line"]};{color}">{escape(line) or " "}</span>'


def _html_sources(post: Post) -> str:
    """A table, since some clients do not show the numbers of a list."""
    rows = []
    for source in sources_of(post):
        name = escape(make_inert(source.name))
        about = " · ".join([escape(make_inert(source.place)), *(escape(make_inert(each)) for each in source.about)])
        rows.append(
            f'<tr><td class="quiet" style="vertical-align:top;padding:3px 8px 3px 0;{_STYLES["number"]}">'
            f'[{source.number}]</td><td style="padding:3px 0;font-size:14px;overflow-wrap:anywhere">'
            f"{_link(source.url, name) if source.url else name}"
            f'<br><span class="quiet" style="{_STYLES["quiet"]}">{about}</span></td></tr>'
        )
    if not rows:
        return ""
    return (
        '<div class="rule" style="border-top:1px solid #d8dce2;margin-top:20px;padding-top:12px">'
        f'<table role="presentation" style="border-collapse:collapse;width:100%">{"".join(rows)}</table></div>'
    )


def _link(url: str, text: str) -> str:
    """`text` is HTML. An address that is not of the web is not linked."""
    if not re.match(r"https?://", url):
        return text
    return f'<a href="{escape(url)}" style="{_STYLES["a"]}">{text}</a>'
