"""What people see: nothing of a repository acts, nothing is lost unsaid, and links lead to what is cited."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.digest_record import CitedPlace, DigestCitation, PostId, SummaryResult
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.notifications.delivery.dialects import CHAT, PLAIN, html_mail, write_body
from codesum_pipeline.notifications.delivery.outbox import open_outbox
from codesum_pipeline.notifications.delivery.posts import Post, digest_post, notice_post, web_url
from codesum_pipeline_tests.support.delivery_desk import COMMIT, LINK, RESULT

MOMENT = "2026-11-23T12:00:00.000Z"
OUR_TAGS = {
    *("html", "head", "meta", "title", "style", "body", "div", "h1", "h2", "h3", "p", "ul", "ol", "li", "blockquote"),
    *("hr", "code", "pre", "strong", "em", "a", "br", "table", "tbody", "tr", "td", "span"),
}
HOSTILE = """<script>alert(1)</script> <img src=https://evil.example/x.png onerror=alert(1)>

[click me](javascript:alert(1)) [site](https://evil.example/login) ![pixel](https://evil.example/p.png)

<https://evil.example/auto> https://evil.example/bare www.evil.example me@evil.example

[ref]: https://evil.example/ref

&#60;b&#62; &#8238;reversed &#27;[2J \u202edlrow\u202c \x1b]0;title\x07 \x00 nul @everyone @here <!channel> <@U123>

# <iframe src="https://evil.example">

```html"><script>alert(2)</script>
<script>alert(3)</script>
```

`<script>alert(4)</script>` [1](https://evil.example/one)
"""


class Reader(HTMLParser):
    """The tags, links and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def post_of(summary: str = RESULT.summary, *citations: DigestCitation, links: tuple[str | None, ...] = ()) -> Post:
    result = SummaryResult(RESULT.intent_name, summary, citations or RESULT.citations)
    all_links = links or (LINK, *[None] * (len(result.citations) - 1))
    return digest_post(PostId("digest-1"), result, links=all_links, created_at=MOMENT)


def check_only_ours(page: str) -> Reader:
    found = Reader(page)
    assert {tag for tag, _ in found.tags} <= OUR_TAGS
    for tag, attributes in found.tags:
        assert {*attributes} <= {"style", "class", "href", "charset", "name", "content", "role", "start"}
        assert tag == "a" or "href" not in attributes
    assert {attributes["href"] for tag, attributes in found.tags if tag == "a"} <= {LINK}
    return found


def test_lines_of_a_diff_are_told_apart_and_stay_text() -> None:
    found = check_only_ours(html_mail(post_of("```diff\n context\n-<b>old</b>\n+</span><script>new\n@@\n\n```\n")))

    lines = [attributes.get("class") for tag, attributes in found.tags if tag == "span"]
    assert lines[:4] == [None, "gone", "come", "quiet"]
    assert "-<b>old</b>+</span><script>new@@" in found.text


def test_hostile_text_is_text_in_a_mail() -> None:
    hostile = replace(RESULT.citations[0], name="<b onclick=x>[n](javascript:x)", document_id="<i>")
    found = check_only_ours(html_mail(post_of(HOSTILE, hostile)))

    for shown in ("<script>alert(1)</script>", "[click me](javascript:alert(1))", "<script>alert(3)</script>"):
        assert shown in found.text
    assert "<b onclick=x>[n](javascript:x)" in found.text
    for character in "\x00\x1b\x07\u202e\u202c":
        assert character not in found.text
    # What a mail program would make a link of by itself has a joiner in it.
    assert not re.search(r"https?://evil|www\.evil|me@evil", found.text)


@given(st.text(alphabet=st.one_of(st.sampled_from("<>&\"'`*_[]()!#\\/:@\n =-1a"), st.characters()), max_size=80))
def test_no_text_makes_a_tag_or_a_link_of_its_own(text: str) -> None:
    named = replace(RESULT.citations[0], name=text, place=f"{text}@{COMMIT}", repository=text, source_name=text)

    check_only_ours(html_mail(post_of(text, named)))
    check_only_ours(html_mail(notice_post(text, text, created_at=MOMENT)))


def test_hostile_text_calls_nobody_and_links_nowhere_in_a_chat() -> None:
    body = write_body(post_of(HOSTILE), CHAT)

    assert not re.search(r"@(everyone|here|U123)", body)
    assert re.findall(r"(?<!\\)\]\(([^)]*)\)", body) == [LINK]
    assert not re.search(r"(?<!\\)<", re.sub(r"(?s)```.*?```|`[^`]*`", "", body))
    assert not re.search(r"https?://evil", body)


def test_a_number_leads_to_its_citation_and_one_out_of_range_nowhere() -> None:
    page = html_mail(post_of("signed [1], gone [2], nothing [3] and [0]"))

    assert re.findall(r"<a [^>]*>(\[\d\])</a>", page) == ["[1]"]
    assert "nothing [3] and [0]" in page


def test_markdown_becomes_each_dialect() -> None:
    text = "## What\n\nIt is **new** and *odd* [1].\n\n1. `a_b`\n2. two\n   - deep\n\n> said\n\n```\ncode\n```\n"
    post = digest_post(PostId("d"), SummaryResult("x", text, ()), links=(), created_at=MOMENT)

    assert write_body(post, PLAIN) == "What\n\nIt is new and odd [1].\n\n1. a_b\n2. two\n  - deep\n\nsaid\n\ncode"
    assert write_body(post, CHAT) == (
        "**What**\n\nIt is **new** and *odd* \\[1\\].\n\n1. `a_b`\n2. two\n  - deep\n\nsaid\n\n```\ncode\n```"
    )
    assert "<h3 style=" in html_mail(post)


@pytest.mark.parametrize("limit", [300, 700, 2000])
def test_what_is_too_long_ends_with_a_sentence_and_says_how_much_is_left_out(limit: int) -> None:
    sentences = " ".join(f"Sentence number {n} tells of `part_{n}` and ends." for n in range(200))
    sources = [replace(RESULT.citations[0], name=f"part {n}") for n in range(40)]
    text = write_body(post_of(sentences, *sources), CHAT, limit=limit)

    assert len(text) <= limit
    body, _, note = text.rpartition("\n\n")
    assert body.split("\n\n")[0].endswith("ends.")
    found = re.fullmatch(r"\(left out for length: ([\d,]+) of ([\d,]+) characters and (\d+) of 40 sources\)", note)
    assert found and found[2] == f"{len(sentences):,}"
    assert text.count("part ") == 40 - int(found[3])


def test_a_code_block_that_is_cut_is_closed() -> None:
    body = write_body(post_of("Before.\n\n```\n" + "line of code\n" * 200 + "```\n"), CHAT, limit=500)

    assert body.count("```") == 2


def test_what_fits_is_whole() -> None:
    body = write_body(post_of(), CHAT)

    assert write_body(post_of(), CHAT, limit=len(body)) == body
    assert "left out" not in body


def test_a_post_is_kept_as_it_was(tmp_path: Path) -> None:
    post = post_of("lone \ud800 surrogate", links=(LINK, None))
    with open_outbox(tmp_path, now=utc_now) as outbox:
        outbox.add(post, (), tries=1)

        assert outbox.post(post.id) == replace(post, text="lone \ufffd surrogate")


PAGE = f"https://github.com/acme/shop/blob/{COMMIT}/src/a%20b.py"


@pytest.mark.parametrize(
    ("location", "place", "url"),
    [
        ("https://github.com/acme/shop.git", f"src/a b.py#L3-9@{COMMIT}", f"{PAGE}#L3-L9"),
        ("git@github.com:acme/shop.git", f"src/a b.py#L3@{COMMIT}", f"{PAGE}#L3"),
        ("ssh://git@github.com:22/acme/shop", f"src/a b.py@{COMMIT}", PAGE),
        ("https://user:token@github.com/acme/shop", f"src/a b.py#L3-3@{COMMIT}", f"{PAGE}#L3"),
        ("https://gitlab.com/a/b/c.git", f"x#L3-9@{COMMIT}", f"https://gitlab.com/a/b/c/-/blob/{COMMIT}/x#L3-9"),
        ("https://codeberg.org/a/b", f"x#L3-9@{COMMIT}", f"https://codeberg.org/a/b/src/commit/{COMMIT}/x#L3-L9"),
        ("https://bitbucket.org/a/b", f"x#L3-9@{COMMIT}", f"https://bitbucket.org/a/b/src/{COMMIT}/x#lines-3:9"),
        ("https://git.example.com/a/b", f"x#L3@{COMMIT}", f"https://git.example.com/a/b/src/commit/{COMMIT}/x#L3"),
        ("https://git.elsewhere.org/a/b", f"x#L3@{COMMIT}", None),
        ("/srv/git/shop", f"x#L3@{COMMIT}", None),
        ("https://github.com/acme/shop", "javascript:alert(1)", None),
        (
            "https://github.com/acme/shop",
            f'"><script>#L1@{COMMIT}',
            f"https://github.com/acme/shop/blob/{COMMIT}/%22%3E%3Cscript%3E#L1",
        ),
    ],
)
def test_a_place_is_linked_where_its_host_is_known(location: str, place: str, url: str | None) -> None:
    assert web_url(location, place, own_hosts={"git.example.com": "gitea"}) == url


def test_a_path_may_look_like_a_place() -> None:
    assert CitedPlace.parse(f"a#L1@{COMMIT[:8]}#L5-6@{COMMIT}") == CitedPlace(f"a#L1@{COMMIT[:8]}", COMMIT, 5, 6)
    assert CitedPlace.parse("src/auth.py#L3") is None
