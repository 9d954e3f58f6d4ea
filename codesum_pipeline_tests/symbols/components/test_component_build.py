"""Components in a build: their symbols, lines, fields, edges and texts, and what a change of them costs."""

from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.support.comparing import first_difference, published_files, table_rows
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.symbols.components.shop import BASKET, HOME, ITEM_CARD, RATING, SHOP

CARD = "src/components/ItemCard.vue"


def workspace_at(home: Path, repo: GitRepo) -> Workspace:
    return workspace_of(open_home(home), RepositoryEntry("shop", str(repo.path)))


def rows_by_id(ws: Workspace, table: str) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in ws.tables.read(table, ws.key).to_pylist()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("components")
    ws = workspace_at(folder / "home", GitRepo.create(folder / "repository", SHOP))
    build(ws)
    return ws


def test_each_definition_of_a_component_stands_in_it_or_beside_it_on_its_real_lines(built: Workspace) -> None:
    found = {
        id_: (row["type"], row["start_line"], row["end_line"], row["parent_id"])
        for id_, row in rows_by_id(built, "symbols").items()
        if not id_.startswith(("src/prices", "src/main"))
    }

    basket, rating, home = "src/Basket.vue::Basket", "src/Rating.svelte::Rating", "src/pages/home.astro::Home"
    assert found == {
        basket: ("class", 1, 37, None),
        f"{basket}::sorted": ("function", 16, 18, basket),
        f"{basket}::drop": ("function", 21, 23, basket),
        f"{basket}::clear": ("function", 24, 27, basket),
        f"{basket}::loadBasket": ("function", 28, 30, basket),
        "src/Basket.vue::sortItems": ("function", 34, 36, None),
        rating: ("class", 1, 28, None),
        "src/Rating.svelte::averageOf": ("function", 6, 8, None),
        f"{rating}::rate": ("function", 20, 22, rating),
        "src/Star.svelte::Star": ("class", 1, 5, None),
        f"{CARD}::ItemCard": ("class", 1, 28, None),
        f"{CARD}::ItemCard::removeItem": ("function", 10, 14, f"{CARD}::ItemCard"),
        "src/components/BaseIcon.vue::BaseIcon": ("class", 1, 3, None),
        "src/layouts/Layout.astro::Layout": ("class", 1, 1, None),
        home: ("class", 1, 30, None),
        f"{home}::Props": ("class", 7, 10, home),
        f"{home}::shout": ("function", 13, 15, home),
        "src/pages/home.astro::getStaticPaths": ("function", 16, 18, None),
        f"{home}::showBasket": ("function", 26, 28, home),
    }


def test_the_fields_of_a_component_are_its_properties_events_and_slots(built: Workspace) -> None:
    symbols = rows_by_id(built, "symbols")
    fields = {
        row["name"]: [field["text"] for field in row["facts"]["fields"]]
        for row in symbols.values()
        if row["signature"].startswith("component ")
    }

    assert fields == {
        "Basket": ["owner: String", "limit: Number", "event emptied"],
        "Rating": ["stars: number[]", "most", "event rated"],
        "Star": ["filled: boolean", "size: number", "event click"],
        "ItemCard": ["title: string", "cents: number", "note: string", "event remove", "event open", "slot footer"],
        "BaseIcon": [],
        "Layout": [],
        "Home": ["greeting: string", "offers: number[]"],
    }


def test_a_field_is_on_the_line_that_declares_it(built: Workspace) -> None:
    card = rows_by_id(built, "symbols")[f"{CARD}::ItemCard"]
    lines = {field["text"]: card["line_map"][field["line"] - 1] for field in card["facts"]["fields"]}

    assert (lines["title: string"], lines["event remove"], lines["slot footer"]) == (6, 7, 22)


def test_the_markup_uses_components_and_functions_and_nothing_that_is_not_imported(built: Workspace) -> None:
    edges = {
        (row["src_id"], row["kind"], row["dst"])
        for row in built.tables.read("edges", built.key).to_pylist()
        if not row["is_external"] and row["kind"] in ("call", "reference")
    }

    card, basket = f"{CARD}::ItemCard", "src/Basket.vue::Basket"
    rating, home = "src/Rating.svelte::Rating", "src/pages/home.astro::Home"
    assert edges == {
        ("src/main.ts", "reference", basket),
        ("src/main.ts", "call", "src/Rating.svelte::averageOf"),
        ("src/Basket.vue", "reference", card),
        (basket, "call", card),
        (basket, "reference", f"{basket}::sorted"),
        (basket, "reference", f"{basket}::drop"),
        (basket, "call", f"{basket}::clear"),
        (f"{basket}::sorted", "call", "src/Basket.vue::sortItems"),
        (f"{basket}::clear", "call", f"{basket}::drop"),
        (f"{basket}::loadBasket", "call", "src/prices.ts::loadBasket"),
        (card, "call", "src/components/BaseIcon.vue::BaseIcon"),
        (card, "call", f"{card}::removeItem"),
        (card, "call", "src/prices.ts::formatPrice"),
        (rating, "call", "src/Star.svelte::Star"),
        (rating, "call", f"{rating}::rate"),
        (rating, "call", "src/Rating.svelte::averageOf"),
        (rating, "call", "src/prices.ts::formatPrice"),
        (home, "call", "src/layouts/Layout.astro::Layout"),
        (home, "call", rating),
        (home, "call", f"{home}::shout"),
        (home, "call", "src/prices.ts::formatPrice"),
        (home, "call", f"{home}::showBasket"),
        ("src/pages/home.astro::getStaticPaths", "call", f"{home}::shout"),
        (f"{home}::showBasket", "call", "src/prices.ts::loadBasket"),
    }


def test_a_component_is_documented_by_its_comment_and_its_words_are_those_of_its_markup(built: Workspace) -> None:
    documents = rows_by_id(built, "documents")
    summaries = {row["id"]: row["summary"] for row in documents.values()}
    sources = {row["file_path"]: row["source"] for row in built.tables.read("file_facts", built.key).to_pylist()}

    assert summaries[f"{CARD}::ItemCard"].startswith("Shows one item of the basket with its price.")
    assert summaries["src/Basket.vue::Basket"].startswith("The basket of the customer.")
    assert summaries["src/Rating.svelte::Rating"].startswith("Stars that a customer gives.")
    assert summaries["src/pages/home.astro::Home"].startswith("The first page of the shop.")
    assert summaries["src/Star.svelte::Star"] == "Takes the number size (optional) and the flag filled. Emits click."
    assert summaries["src/layouts/Layout.astro::Layout"] == "Component Layout without members of its own."
    assert "fortnight" in sources[CARD] and "teal" in sources[CARD]


CHANGES = {
    "a function": {CARD: ITEM_CARD.replace("'Really?'", "'Are you sure?'")},
    "the markup": {CARD: ITEM_CARD.replace("Delivered", "Sent"), "src/Basket.vue": BASKET.replace('"drop"', '"clear"')},
    "an import": {"src/Rating.svelte": RATING.replace("./Star.svelte", "./components/BaseIcon.vue")},
    "a property": {"src/pages/home.astro": HOME.replace("greeting: string", "greeting: string; more: boolean")},
    "a component": {"src/components/BaseIcon.vue": "<script>\nexport default { name: 'x' }\n</script>\n"},
    "a script that is no longer read": {"src/Basket.vue": BASKET.replace("<script>", '<script lang="coffee">')},
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_build_after_a_change_equals_a_clean_one(change: str, tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repository", SHOP)
    ws = workspace_at(tmp_path / "home", repo)
    build(ws)

    repo.commit(CHANGES[change])
    build(ws, may_fail=True)
    clean = workspace_at(tmp_path / "clean", repo)
    build(clean, may_fail=True)

    assert first_difference(table_rows(ws), table_rows(clean)) is None
    assert first_difference(published_files(ws), published_files(clean)) is None


def test_what_only_lays_out_markup_and_styles_changes_no_function_and_no_class(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repository", SHOP)
    ws = workspace_at(tmp_path / "home", repo)
    build(ws)
    before = rows_by_id(ws, "documents")

    markup = ITEM_CARD.replace("    <base-icon", "\n\n        <base-icon").replace("  <article", "      <article")
    repo.commit({CARD: markup.replace("color: teal", "color: navy")})
    build(ws)
    after = rows_by_id(ws, "documents")

    changed = {id_ for id_, row in after.items() if row["content_hash"] != before[id_]["content_hash"]}
    assert {id_ for id_ in changed if id_.startswith("src/components/ItemCard")} == {CARD}
    assert after[f"{CARD}::ItemCard::removeItem"]["start_line"] == 10
    assert after.keys() == before.keys()
