"""What a page says and how: parts, diagram, neighbourhoods, where to start; no name of a repository breaks it."""

import re

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.markdown import code_span, escape_prose
from codesum_pipeline.search.overviews.overview import (
    Commit,
    ModelWords,
    OpeningText,
    Overview,
    facts_of,
    most_changed,
    opening_of,
)
from codesum_pipeline.search.overviews.overview_inputs import RepositoryView
from codesum_pipeline.search.overviews.package_manifests.manifest import EntryKind, EntryPoint
from codesum_pipeline.search.overviews.page import draw_mermaid, label_of_box, render_page
from codesum_pipeline.search.overviews.parts import (
    MOST_LINKS,
    MOST_PARTS,
    Division,
    Link,
    RepositoryPart,
    common_folder,
    divide_into_parts,
    find_neighbourhoods,
    theme_of,
    where_to_start,
)
from codesum_pipeline.search.overviews.ranked_documents import RankedDocument, RankedDocuments

HOSTILE = [
    '"] --> x["',
    "`code` **bold** [link](http://evil.example) ![i](x)",
    "<script>alert(1)</script>",
    "```\n# heading\n```",
    "a|b\n\n| c |",
    "\x1b[31mred\u202e",
    "%%{init: {}}%%",
    'click p0 href "javascript:alert(1)"',
    "&lt;b&gt; &#60;",
    "end\nsubgraph",
]


def place(
    id_: str, *, rank: float = 0.1, line: int = 1, summary: str = "", community: int | None = None
) -> RankedDocument:
    path, is_symbol, rest = id_.partition("::")
    level = "function" if is_symbol else "file"
    if is_symbol and rest.rpartition("::")[2][:1].isupper():
        level = "class"
    return RankedDocument(id_, level, path, line, summary, rank, community, True)


def view_of(
    *ids: str, links: dict[tuple[str, str], int] | None = None, name: str = "shop", **summaries: str
) -> RepositoryView:
    places = [place(id_, summary=summaries.get(id_, "")) for id_ in ids]
    sources = sorted({each.path for each in places})
    return RepositoryView(name, ".", RankedDocuments.of(places, sources), {"python": len(sources)}, links or {})


def overview_of(view: RepositoryView, **more) -> Overview:
    fields = {
        "repo": "shop",
        "commit": "0123456789abcdef",
        "committed_at": "2026-01-02T03:04:05Z",
        "subject": "Begin",
        "opening": OpeningText("", "A shop.", "README.md", 3),
        "languages": view.languages,
        "files": len(view.sources),
        "definitions": 0,
        "frameworks": [],
        "entry_points": [],
        "division": divide_into_parts(view),
        "part_texts": {},
        "neighbourhoods": [],
        "starts": where_to_start(view),
        "commits": [],
        "malformed": {},
        "words": ModelWords(),
    }
    return Overview(**(fields | more))


def parts_of(*paths: str) -> list[str]:
    return [part.name for part in divide_into_parts(view_of(*paths)).parts]


def test_a_package_that_holds_nearly_everything_is_shown_by_what_is_in_it():
    assert parts_of("src/shop/app.py", "src/shop/orders/book.py", "src/shop/orders/tax.py", "setup.py") == [
        "setup.py",
        "src/shop/app.py",
        "src/shop/orders/book.py",
        "src/shop/orders/tax.py",
    ]


def test_folders_are_parts_where_there_are_enough_of_them():
    paths = [f"{folder}/{name}.py" for folder in ("api", "books", "jobs", "mail", "web") for name in "abc"]

    assert parts_of(*paths) == ["api/", "books/", "jobs/", "mail/", "web/"]


def test_a_diagram_is_bounded():
    paths = [f"f{n}/x.py" for n in range(40)]
    links = {(one, other): 5 for one in paths for other in paths if one != other}

    division = divide_into_parts(view_of(*paths, links=links))

    assert (len(division.parts), division.others, len(division.links)) == (MOST_PARTS, 28, MOST_LINKS)
    assert len(draw_mermaid(division, "").splitlines()) <= 1 + MOST_PARTS + MOST_LINKS


def test_a_diagram_shows_who_uses_whom_and_mutual_use_as_one_arrow():
    parts = tuple(RepositoryPart(name, (name,), 1) for name in ("src/a/", "src/b/", "src/c/"))
    links = (Link("src/a/", "src/b/", 3), Link("src/b/", "src/a/", 2), Link("src/a/", "src/c/", 1))

    drawn = draw_mermaid(Division(parts, 0, links), common_folder(parts))

    assert drawn.splitlines() == [
        "graph LR",
        '  p0["a/"]',
        '  p1["b/"]',
        '  p2["c/"]',
        "  p0 <--> p1",
        "  p0 --> p2",
    ]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_breaks_out_of_a_box_of_a_diagram(name):
    assert re.fullmatch(r"(?:[\w ./*-]|#\d+;)*", label_of_box(name))


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_repository_wrote_is_text_and_nothing_else_in_the_page(text):
    view = view_of(f"{text}/a.py", f"{text}/a.py::f", "b.py")
    page = render_page(
        overview_of(
            view,
            opening=OpeningText(text, f"A {text}", text, 1),
            words=ModelWords(is_by_model=True, summary=f"B {text}", responsibilities=(text, f"C {text}")),
            subject=text,
            part_texts={name.name: f"A {text}" for name in divide_into_parts(view).parts},
            commits=[Commit("a" * 40, "2026-01-01", text, (text,)), Commit("b" * 40, "2026-01-01", text, (text,))],
            malformed={text: f"why: {text}"},
        )
    )
    tokens = MarkdownIt("commonmark").parse(page)
    kinds = {child.type for token in tokens for child in (token, *(token.children or ()))}

    assert kinds & {"html_block", "html_inline", "image", "link_open", "em_open", "hr", "blockquote_open"} == set()
    headings = [tokens[n + 1].content for n, token in enumerate(tokens) if token.type == "heading_open"]
    assert headings == ["shop", "Parts", "Where to start reading", "What changed lately", "Not read"]
    assert "\x1b" not in page and "\u202e" not in page
    assert [token.info for token in tokens if token.type == "fence"] in ([], ["mermaid"])


def test_a_code_span_holds_any_text_as_it_is():
    assert [code_span("a.py:1"), code_span("`"), code_span("a``b"), code_span("")] == [
        "`a.py:1`",
        "`` ` ``",
        "``` a``b ```",
        "`  `",
    ]


def test_prose_is_readable_as_it_is_written():
    assert escape_prose("Keeps charge_card, e.g. (a - b); 3 > 2.") == "Keeps charge_card, e.g. (a - b); 3 &gt; 2."


def test_a_page_states_its_commit_and_has_no_empty_section():
    page = render_page(overview_of(view_of(), languages={}))

    assert page == "# shop\n\nA shop. (`README.md:3`)\n\nCommit `0123456789` of 2026-01-02: Begin\n\nNo programs.\n"


def test_the_files_to_start_with_are_used_and_use_others():
    links = {
        ("app.py", "orders.py"): 9,
        ("orders.py", "util.py"): 3,
        ("web.py", "orders.py"): 2,
        ("app.py", "util.py"): 2,
    }
    files = ("app.py", "orders.py", "util.py", "web.py")
    view = view_of(*files, "app.py::run", "orders.py::Book", "util.py::trim", "web.py::serve", links=links)

    assert where_to_start(view)[0].file.id == "orders.py"


def test_a_class_is_used_with_its_members_and_a_namespace_is_none():
    ids = ["a.rb::Desk", "a.rb::Desk::Book", "a.rb::Desk::Book::open", "a.rb::Desk::Book::close", "a.rb::trim"]
    places = [place("a.rb"), *(place(id_, rank=0.15 if id_.endswith("trim") else 0.1) for id_ in ids)]

    (start,) = where_to_start(RepositoryView("desk", ".", RankedDocuments.of(places, ["a.rb"]), {}))

    assert [each.name for each in start.definitions] == ["Book", "trim", "close"]


def test_a_readme_opens_with_what_it_says_the_repository_is():
    readme = "# Gale\n\n![badge](x)\n\nRelease 2 is out! Read the notes.\n\nGale is a *small* library for sailors.\n"

    found = opening_of(view_of(name="gale"), ("README.md", readme), ModelWords())

    assert (found.text, found.path, found.line) == ("Gale is a small library for sailors.", "README.md", 7)


def test_sentences_of_a_script_without_blanks_follow_one_another():
    readme = "# Gale\n\n这是一个天气预报库。它读取浮标的数据，并提供查询接口。\n"

    found = opening_of(view_of(name="gale"), ("README.md", readme), ModelWords())

    assert found.text == "这是一个天气预报库。它读取浮标的数据，并提供查询接口。"


def test_a_row_of_links_is_no_opening():
    readme = "# Gale\n\nForecasts for sailors. Features • Install • Usage • License\n"

    assert opening_of(view_of(name="gale"), ("README.md", readme), ModelWords()).text == "Forecasts for sailors."


def test_a_title_that_is_more_than_a_name_opens_the_page():
    readme = "# Gale: forecasts for sailors\n\n[Site](x) | [Docs](y)\n\nIt reads buoys.\n"

    found = opening_of(view_of(name="gale"), ("README.md", readme), ModelWords())

    assert (found.text, found.line) == ("Gale: forecasts for sailors. It reads buoys.", 5)


def test_without_a_readme_the_root_folder_speaks():
    view = RepositoryView("shop", ".", RankedDocuments.of([place(".", summary="Folders: a.")], ["a.py"]), {})

    assert opening_of(view, None, ModelWords()) == OpeningText("", "Folders: a.")


def test_a_neighbourhood_is_named_by_the_words_that_set_it_apart_and_the_place_it_shares():
    places = [
        *(place(f"src/billing/{name}.py::{word}_invoice", community=0, rank=rank)
          for name, word, rank in (("a", "send", 0.5), ("a", "print", 0.2), ("b", "cancel", 0.1), ("b", "find", 0.1))),
        *(place(f"src/mail/{name}.py::queue_{word}", community=7, rank=0.01)
          for name, word in (("q", "push"), ("q", "pop"), ("q", "drain"), ("r", "peek"))),
        place("src/alone.py::invoice", community=9),
    ]  # fmt: skip

    billing, mail = find_neighbourhoods(places)

    assert (billing.name, billing.size, billing.folder, billing.folder_share) == (
        "billing, invoice",
        4,
        "src/billing",
        1.0,
    )
    assert [member.id for member in billing.members[:2]] == [
        "src/billing/a.py::send_invoice",
        "src/billing/a.py::print_invoice",
    ]
    assert (mail.name, mail.folder, mail.folder_share) == ("mail, queue", "src/mail/q.py", 0.75)


def test_a_word_that_most_neighbourhoods_have_and_another_form_of_one_name_none():
    places = [
        place(f"desk/{group}/{n}.py::desk_{word}", community=number, rank=0.1)
        for number, (group, words) in enumerate(
            {"a": ("link", "links"), "b": ("book", "page"), "c": ("tax", "rate"), "d": ("mail", "queue")}.items()
        )
        for n, word in enumerate(words * 2)
    ]

    names = [each.name for each in find_neighbourhoods(places)]

    assert "desk" not in " ".join(names) and "link" in names and "link, links" not in names


def test_no_two_neighbourhoods_have_one_name():
    places = [place(f"a/{n}.py::get_thing", community=n % 2, rank=1 / (n + 1)) for n in range(8)]

    names = [each.name for each in find_neighbourhoods(places)]

    assert len(names) == len(set(names)) == 2


def test_equal_inputs_give_equal_neighbourhoods_in_any_order():
    places = [place(f"a/{n}.py::f{n}", community=n % 3) for n in range(15)]

    assert find_neighbourhoods(places) == find_neighbourhoods(reversed(places))


def test_the_most_changed_files_are_in_two_commits_at_least_and_bulk_changes_do_not_count():
    commits = [
        Commit("1", "d", "s", ("a.py", "b.py")),
        Commit("2", "d", "s", ("a.py", "c.py")),
        Commit("3", "d", "s", (*(f"{n}.py" for n in range(100)), "b.py", "c.py")),
    ]

    assert most_changed(commits) == [("a.py", 2)]


def test_the_stored_facts_are_bounded_and_say_what_they_leave_out():
    entries = [EntryPoint(f"c{n}", EntryKind.COMMAND, "a.py", n) for n in range(700)]
    places = [place(f"a/{n}.py::f{n}", community=n // 4) for n in range(1_600)]

    facts = facts_of(overview_of(view_of(), entry_points=entries, neighbourhoods=find_neighbourhoods(places)))

    assert (len(facts["entry_points"]), facts["entry_points_left_out"]) == (500, 200)
    assert (len(facts["neighbourhoods"]), facts["neighbourhoods_left_out"]) == (300, 100)


def told(id_: str, text: str, source: str, *, rank: float = 0.1) -> RankedDocument:
    return replace(place(id_, rank=rank), text=text, purpose_source=source)


def test_a_part_without_words_of_its_own_says_what_its_most_used_definitions_are_for():
    every = [
        told("a/x.py::Book", "Keeps tickets", "docstring", rank=0.3),
        told("a/x.py::Old", "Keeps tickets", "docstring", rank=0.2),
        told("a/x.py::close_all", "Closes all", "name", rank=0.9),
        told("a/y.py::read", "Reads a row", "message", rank=0.2),
        place("a/y.py::unsaid", rank=0.9),
    ]
    files = ["a/x.py", "a/y.py", "b/z.py"]
    documents = RankedDocuments.of([*map(place, files), *every], files)
    view = RepositoryView("shop", ".", documents, {"python": 3}, {("a/x.py", "b/z.py"): 3})
    division = Division(
        (RepositoryPart("a/", ("a/x.py", "a/y.py"), 7), RepositoryPart("b/", ("b/z.py",), 1)),
        0,
        (Link("a/", "b/", 3), Link("b/", "a/", 1)),
    )
    themes = {part.name: theme_of(view, part) for part in division.parts}

    page = render_page(overview_of(view, division=division, themes=themes))

    assert "- `a/`, 2 files: `Book`: Keeps tickets; `read`: Reads a row. Uses `b/`.\n" in page
    assert "- `b/`, 1 file\n" in page, "what it uses says nothing of it"


def test_an_entry_point_says_what_it_is_for():
    entry = EntryPoint("pay", EntryKind.COMMAND, "setup.py", 3, "shop:pay")
    texts = {("setup.py", 3): "Takes the *money*"}

    page = render_page(overview_of(view_of("shop.py"), entry_points=[entry], entry_texts=texts))

    assert "- `pay`, command → `shop:pay` (`setup.py:3`): Takes the \\*money\\*\n" in page
