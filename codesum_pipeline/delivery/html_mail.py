"""A post as HTML that any mail client shows, and in which nothing of others acts.

All tags and styles are ours. Styles stand at their elements, since many clients
drop sheets; the one sheet holds what a dark scheme changes. There are no
scripts and no pictures, and the only links lead to what the citations name.
"""

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from codesum_pipeline.delivery.channels import Post, PostKind
from codesum_pipeline.delivery.dialects import MAY_BE_A_REPEAT, read_markdown, shown, sources_of

_FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
_MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"
_STYLES = {
    "p": "margin:0 0 14px",
    "h1": "margin:22px 0 8px;font-size:19px;line-height:1.3",
    "h2": "margin:20px 0 8px;font-size:17px;line-height:1.3",
    "h3": "margin:18px 0 6px;font-size:16px;line-height:1.3",
    "ul": "margin:0 0 14px;padding-left:22px",
    "ol": "margin:0 0 14px;padding-left:26px",
    "li": "margin:0 0 6px",
    "blockquote": "margin:0 0 14px;padding-left:12px;border-left:3px solid #c3c8d0",
    "hr": "border:0;border-top:1px solid #d8dce2;margin:18px 0",
    "code": f"{_MONO};font-size:13px;background:#f1f3f6;padding:1px 4px;border-radius:3px;overflow-wrap:anywhere",
    "pre": f"{_MONO};font-size:13px;line-height:1.45;background:#f1f3f6;padding:10px 12px;border-radius:5px;"
    "margin:0 0 14px;white-space:pre-wrap;overflow-wrap:anywhere",
    # A line of a diff that does not fit goes on further to the right than it began.
    "line": "display:block;padding-left:2ch;text-indent:-2ch",
    "a": "color:#0b57b0;text-decoration:underline",
    "quiet": "color:#59616d;font-size:13px",
    "number": "color:#59616d;font-size:13px;white-space:nowrap",
}
_SCHEME = """
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  body, .page { background: #16181c !important; color: #e4e6ea !important; }
  code, pre { background: #24282f !important; }
  a { color: #8ab8ff !important; }
  .quiet { color: #a3abb8 !important; }
  .come { color: #7ee787 !important; }
  .gone { color: #ffa198 !important; }
  blockquote, hr, .rule { border-color: #3b414b !important; }
}
"""
# By the first letter of a line of a diff.
_SIDES = {"+": ("come", "color:#0d5c23"), "-": ("gone", "color:#a1122b"), "@": ("quiet", "color:#59616d")}
_REFERENCE = re.compile(r"\[(\d{1,4})\]")


def html_mail(post: Post, *, is_repeat: bool = False) -> str:
    """A whole page, 600 px wide at most."""
    repeat = f'<p class="quiet" style="{_STYLES["p"]};{_STYLES["quiet"]}">{MAY_BE_A_REPEAT}</p>' if is_repeat else ""
    subject = escape(shown(post.subject))
    return (
        '<!DOCTYPE html>\n<html><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">'
        f"<title>{subject}</title><style>{_SCHEME}</style></head>"
        f'<body style="margin:0;background:#ffffff;color:#1c2026;{_FONT}">'
        f'<div class="page" style="max-width:600px;margin:0 auto;padding:20px 16px;font-size:15px;line-height:1.55;'
        f'color:#1c2026;overflow-wrap:anywhere">'
        f'<h1 style="margin:0 0 14px;font-size:21px;line-height:1.3">{subject}</h1>'
        f"{repeat}{_body(post)}{_sources(post)}</div></body></html>\n"
    )


def _body(post: Post) -> str:
    if post.kind is PostKind.NOTICE:
        return f'<pre style="{_STYLES["pre"]}">{escape(shown(post.text.strip()))}</pre>'
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
    """A word `[N]` leads to where its citation is."""

    def link(found: re.Match[str]) -> str:
        number = int(found[1])
        url = env["links"][number - 1] if 0 < number <= len(env["links"]) else None
        return _link(url, found[0]) if url else found[0]

    return _REFERENCE.sub(link, escape(shown(tokens[place].content)))


def _code(self: RendererHTML, tokens: Sequence[Token], place: int, *_: Any) -> str:
    return f'<code style="{_STYLES["code"]}">{escape(shown(tokens[place].content))}</code>'


def _block(self: RendererHTML, tokens: Sequence[Token], place: int, *_: Any) -> str:
    text = shown(tokens[place].content)
    said = "".join(map(_diff_line, text.rstrip("\n").split("\n"))) if tokens[place].info == "diff" else escape(text)
    return f'<pre style="{_STYLES["pre"]}">{said}</pre>\n'


def _diff_line(line: str) -> str:
    name, color = _SIDES.get(line[:1], ("", ""))
    kind = f' class="{name}"' if name else ""
    return f'<span{kind} style="{_STYLES["line"]};{color}">{escape(line) or " "}</span>'


def _sources(post: Post) -> str:
    """A table, since the numbers of a list are not said by every client."""
    rows = []
    for source in sources_of(post):
        name = escape(shown(source.name))
        said = " · ".join([escape(shown(source.place)), *(escape(shown(each)) for each in source.about)])
        rows.append(
            f'<tr><td class="quiet" style="vertical-align:top;padding:3px 8px 3px 0;{_STYLES["number"]}">'
            f'[{source.number}]</td><td style="padding:3px 0;font-size:14px;overflow-wrap:anywhere">'
            f"{_link(source.url, name) if source.url else name}"
            f'<br><span class="quiet" style="{_STYLES["quiet"]}">{said}</span></td></tr>'
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
