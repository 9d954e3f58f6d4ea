import re
from pathlib import Path

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.file_formats.version_folder import LANES, Lane
from codesum_pipeline.search.retrieval.hits import Hit
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.query import parse_query
from codesum_pipeline.search.retrieval.searching import search_indexes
from codesum_pipeline.search.retrieval.shelf import Shelf
from codesum_pipeline.search.retrieval.weights import DEFAULT_WEIGHTS, Signal, signals_of
from codesum_pipeline_tests.search.retrieval.rankings import rank_documents
from codesum_pipeline_tests.support.synthetic_indexes import SHOP, Definition, Files, make_index_workspace, publish


def published(home: Path, files: Files, key: str = "shop") -> PublishedIndex:
    workspace = make_index_workspace(home, files, key=key)
    publish(workspace)
    return PublishedIndex.open(workspace.layout.published(key))


def test_a_hit_has_the_fixed_fields(shop: PublishedIndex, embedder: Embedder) -> None:
    hit = search_indexes([shop], "total price with tax", embedder=embedder)[0]

    assert to_builtins(hit) == {
        "id": "shop/cart.py::total_price",
        "type": "function",
        "repo": "shop",
        "file_path": "shop/cart.py",
        "start_line": 1,
        "end_line": 2,
        "qualified_name": "total_price",
        "score": hit.score,
        "summary": "Sum the prices of all articles with tax.",
        "signature_summary": "def total_price(...)",
        "why": hit.why,
        "line": None,
        "cell": None,
        "cell_line": None,
    }


def test_why_says_the_ranks_that_the_lanes_really_gave(shop: PublishedIndex, embedder: Embedder) -> None:
    text = "put an article into the cart"
    query = parse_query(text, embedder=embedder)
    hits = search_indexes([shop], text, embedder=embedder, top=20)

    for hit in hits:
        stated = {name.strip(): int(rank) for name, rank in re.findall(r"([a-z ]+) #(\d+)", hit.why)}
        levels = [Level.MODULE] if hit.type == Level.MODULE else [Level.FUNCTION, Level.CLASS, Level.FILE]
        actual = {}
        for signal in [signal for signal, weight in DEFAULT_WEIGHTS.signals.items() if weight]:
            ranking = rank_documents(Shelf([shop]), query, signal, levels, limit=DEFAULT_WEIGHTS.depth)
            ids = [shop.ids[row] for row in ranking.numbers]
            if hit.id in ids:
                actual[str(signal)] = 1 + ids.index(hit.id)
        assert stated == actual


@pytest.mark.parametrize("lane", LANES, ids=str)
def test_a_lane_that_is_named_beside_another_speaks(shop: PublishedIndex, embedder: Embedder, lane: Lane) -> None:
    other = next(each for each in LANES if each is not lane)
    hits = search_indexes([shop], "total_price", embedder=embedder, lanes=[other, lane], levels=[Level.FUNCTION])

    assert any(f"{signal} #" in hit.why for hit in hits for signal in signals_of([lane]))


@pytest.mark.parametrize("lane", LANES, ids=str)
@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_each_lane_and_level_can_be_asked_alone(
    shop: PublishedIndex, embedder: Embedder, lane: Lane, level: Level
) -> None:
    hits = search_indexes([shop], "shop cart.py", embedder=embedder, lanes=[lane], levels=[level])

    assert {hit.type for hit in hits} <= {str(level)}
    names = {name.strip() for hit in hits for name in re.findall(r"([a-z ]+) #", hit.why)}
    assert names <= {str(signal) for signal in signals_of([lane])}


def test_one_lane_keeps_its_own_order(shop: PublishedIndex, embedder: Embedder) -> None:
    query = parse_query("price of articles", embedder=embedder)
    ranking = rank_documents(Shelf([shop]), query, Signal.SUMMARY, [Level.FUNCTION], limit=10)

    hits = search_indexes([shop], query.text, embedder=embedder, lanes=[Lane.SUMMARY], levels=[Level.FUNCTION])

    assert [hit.id for hit in hits] == [shop.ids[row] for row in ranking.numbers]


def test_no_more_than_asked_come_back_best_first(shop: PublishedIndex, embedder: Embedder) -> None:
    hits = search_indexes([shop], "cart", embedder=embedder, top=3)

    assert len(hits) == 3
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_an_exact_name_comes_first(shop: PublishedIndex, embedder: Embedder) -> None:
    for text in ("LoginHandler.authenticate", "authenticate", "shop/auth.py::LoginHandler::authenticate"):
        assert search_indexes([shop], text, embedder=embedder)[0].id == "shop/auth.py::LoginHandler::authenticate"


SESSIONS: Files = {
    "web/sessions.py": [
        Definition("session", "Session session of a session, as sessions are.", "def session(): return Session()"),
        Definition("Session", "Keeps cookies between requests.", "class Session: cookies = None"),
        Definition("merge", "Merge the settings of a session.", "def merge(session): return session"),
    ],
    "web/cookies.py": [Definition("Jar", "Cookies of a session.", "class Jar: session = None")],
    "web/api.py": [Definition("get", "Use a session once.", "def get(): return session().get()")],
}


def test_a_name_as_it_is_written_comes_before_the_same_letters_in_another_case(
    tmp_path: Path, embedder: Embedder
) -> None:
    index = published(tmp_path, SESSIONS)

    small, capital = (
        [hit.qualified_name for hit in search_indexes([index], text, embedder=embedder)]
        for text in ("session", "Session")
    )

    assert small[:2] == ["session", "Session"]
    assert capital[:2] == ["Session", "session"]


def test_the_one_place_that_has_all_words_of_a_message_comes_before_places_that_have_many_of_them(
    tmp_path: Path, embedder: Embedder
) -> None:
    message = "cannot renew expired lease after lost heartbeat of remote worker"
    files: Files = {
        "jobs/store.py": [Definition("check", "Check it.", f'def check(row):\n    raise Failure("{message}")')],
        "jobs/terms.py": [
            Definition("renew", "Renew a lease of a worker.", "def renew(lease, worker): return lease.of(worker)"),
            Definition("expired", "Whether a lease is expired.", "def expired(lease): return lease.expired"),
        ],
        **{f"jobs/part{n}.py": [Definition("part", "Do a part.", f"def part(): return {n}")] for n in range(40)},
    }
    index = published(tmp_path, files)

    first, unquoted = (
        search_indexes([index], message, embedder=embedder, weights=replace(DEFAULT_WEIGHTS, quoted=quoted))[
            0
        ].file_path
        for quoted in (DEFAULT_WEIGHTS.quoted, 0.0)
    )

    assert (first, unquoted) == ("jobs/store.py", "jobs/terms.py")


def test_a_word_that_few_files_have_raises_them(tmp_path: Path, embedder: Embedder) -> None:
    files: Files = {
        "web/runtime.py": [Definition("detect", "Tell what runs this.", "def detect(name): return name == 'deno'")],
        "web/server.py": [
            Definition("serve", "Serve requests of a runtime.", "def serve(runtime): return runtime.requests()"),
            Definition("requests", "The requests of a server.", "def requests(server): return server.runtime"),
        ],
        **{
            f"web/part{n}.py": [
                Definition(f"part{n}", "Serve a part.", f"def part{n}(server): return server.part({n})")
            ]
            for n in range(20)
        },
    }
    index = published(tmp_path, files)

    def score(rare_words: float) -> float:
        weights = replace(DEFAULT_WEIGHTS, rare_words=rare_words, quoted=0.0)
        hits = search_indexes([index], "serve requests on deno", embedder=embedder, weights=weights)
        return next(hit.score for hit in hits if hit.file_path == "web/runtime.py")

    share = score(1.0) / score(0.0) - 1
    assert 0.3 < share < 1
    assert score(DEFAULT_WEIGHTS.rare_words) == pytest.approx(
        score(0.0) * (1 + DEFAULT_WEIGHTS.rare_words * share), 1e-4
    )


def test_a_file_name_in_the_query_raises_its_file(shop: PublishedIndex, embedder: Embedder) -> None:
    hit = search_indexes([shop], "how does the cart work", embedder=embedder)[0]

    assert hit.file_path == "shop/cart.py"
    assert "file name says cart" in hit.why


@pytest.mark.parametrize("text", ["who needs the login handler", "who needs LoginHandler here"])
def test_a_class_that_a_question_calls_by_name_is_raised_with_its_file(
    shop: PublishedIndex, embedder: Embedder, text: str
) -> None:
    weights = replace(DEFAULT_WEIGHTS, name_boost=0.0)
    for level in (Level.CLASS, Level.FILE):
        hit = search_indexes([shop], text, embedder=embedder, levels=[level])[0]
        unmoved = search_indexes([shop], text, embedder=embedder, levels=[level], weights=weights)[0]

        assert hit.file_path == unmoved.file_path == "shop/auth.py"
        assert hit.score > unmoved.score
        assert "defines LoginHandler" in hit.why


def test_what_the_file_of_a_hit_defines_is_told_as_its_files(shop: PublishedIndex, embedder: Embedder) -> None:
    hits = search_indexes([shop], "who needs LoginHandler here", embedder=embedder, levels=[Level.FUNCTION], top=50)
    told = {hit.id: hit.why for hit in hits if "defines" in hit.why}

    assert told
    assert all("its file defines LoginHandler" in why for why in told.values())


def test_keywords_speak_for_files_only_where_nothing_but_names_does_too(
    shop: PublishedIndex, embedder: Embedder
) -> None:
    def files(*lanes: Lane) -> list[str]:
        return [hit.id for hit in search_indexes([shop], "login", embedder=embedder, lanes=lanes, levels=[Level.FILE])]

    words = [lane for lane in LANES if lane is not Lane.KEYWORDS]
    assert files(*LANES) == files(*words)
    assert files(Lane.KEYWORDS, Lane.SYMBOL)[0] == "shop/auth.py"


def test_tests_are_lowered_unless_they_are_asked_for(shop: PublishedIndex, embedder: Embedder) -> None:
    id_ = "tests/test_cart.py::test_total_price"

    def hit_of(text: str) -> Hit:
        hits = search_indexes([shop], text, embedder=embedder, levels=[Level.FUNCTION])
        return next(hit for hit in hits if hit.id == id_)

    lowered, raised = hit_of("check the sum of prices"), hit_of("test of the sum of prices")
    assert lowered.why.endswith("; test code, lowered")
    assert "lowered" not in raised.why
    assert raised.score > lowered.score


def test_vendored_code_is_lowered(tmp_path: Path, embedder: Embedder) -> None:
    twin = Definition("parse_price", "Read a price.", "def parse_price(text): ...")
    index = published(tmp_path, {"vendor/prices.py": (twin,), "zebra.py": (twin,)})

    hits = search_indexes([index], "read a price", embedder=embedder, levels=[Level.FUNCTION])

    assert [hit.file_path for hit in hits] == ["zebra.py", "vendor/prices.py"]
    assert hits[1].why.endswith("vendored, lowered")


def test_importance_decides_between_equals(tmp_path: Path, embedder: Embedder) -> None:
    files = {
        path: (Definition("run", "Runs the thing.", "def run(): ...", pagerank=rank),)
        for path, rank in (("a.py", 0.1), ("b.py", 0.3), ("c.py", 0.1))
    }

    hits = search_indexes([published(tmp_path, files)], "run", embedder=embedder, levels=[Level.FUNCTION])

    assert [hit.file_path for hit in hits] == ["b.py", "a.py", "c.py"]


def test_several_repositories_give_one_list(shop: PublishedIndex, tmp_path: Path, embedder: Embedder) -> None:
    other = published(
        tmp_path, {"bank.py": (Definition("transfer", "Move money.", "def transfer(): ...", False),)}, "bank"
    )

    assert search_indexes([shop, other], "move money", embedder=embedder)[0].repo == "bank"
    assert search_indexes([shop, other], "shopping cart", embedder=embedder)[0].repo == "shop"
    ids = [(hit.repo, hit.id) for hit in search_indexes([shop, other], "cart money", embedder=embedder, top=50)]
    assert ids == [(hit.repo, hit.id) for hit in search_indexes([other, shop], "cart money", embedder=embedder, top=50)]


def test_the_same_question_gives_the_same_answer(shop: PublishedIndex, embedder: Embedder) -> None:
    assert search_indexes([shop], "cart", embedder=embedder) == search_indexes([shop], "cart", embedder=embedder)


@pytest.mark.parametrize(
    "text",
    ["", "   ", "???", "the of", "🙂" * 50, "a" * 10_000],
    ids=["empty", "blank", "marks", "stop words", "emoji", "very long"],
)
def test_any_text_is_answered(shop: PublishedIndex, embedder: Embedder, text: str) -> None:
    assert len(search_indexes([shop], text, embedder=embedder)) <= 10


def test_an_index_without_documents_answers_nothing(tmp_path: Path, embedder: Embedder) -> None:
    index = published(tmp_path, {"get.py": (Definition("get_x", "", "", is_placeholder=True),)})

    assert search_indexes([], "cart", embedder=embedder) == []
    assert search_indexes([index], "kubernetes", embedder=embedder, lanes=[Lane.KEYWORDS]) == []


class OtherModel:
    model_id = "other@000000000000"
    query_prompt = ""


def test_another_model_is_refused_where_a_vector_is_needed_and_only_there(shop: PublishedIndex) -> None:
    with pytest.raises(ConfigurationError, match="set embedder to 'static'"):
        search_indexes([shop], "cart", embedder=OtherModel())  # type: ignore[arg-type]
    assert search_indexes([shop], "cart", embedder=OtherModel(), lanes=[Lane.KEYWORDS])  # type: ignore[arg-type]


def test_files_share_the_first_places(tmp_path: Path, embedder: Embedder) -> None:
    crowd = tuple(Definition(f"price_{n}", f"Read price {n}.", f"def price_{n}(): price") for n in range(8))
    index = published(tmp_path, {**SHOP, "prices.py": crowd})

    files = [hit.file_path for hit in search_indexes([index], "price", embedder=embedder)]

    assert files[:2] == ["prices.py", "shop/cart.py"]


@pytest.mark.parametrize(
    "levels", [LEVELS, (Level.FUNCTION, Level.CLASS), (Level.FILE,)], ids=["all", "symbols", "files"]
)
@pytest.mark.parametrize("text", ["put an article into the cart", "cart.py", "total price with tax", "authenticate"])
def test_few_hits_are_the_first_of_many(
    shop: PublishedIndex, embedder: Embedder, text: str, levels: tuple[Level, ...]
) -> None:
    many = search_indexes([shop], text, embedder=embedder, levels=levels, top=20)

    for top in (1, 2, 3, 5):
        assert search_indexes([shop], text, embedder=embedder, levels=levels, top=top) == many[:top]


@pytest.mark.parametrize("text", ["shop", "put an article into the cart", "total_price", "who may log in to the shop"])
@pytest.mark.parametrize("module_weight", [0.2, 0.6, 1.0])
def test_few_hits_are_the_first_of_many_modules_too(
    shop: PublishedIndex, embedder: Embedder, text: str, module_weight: float
) -> None:
    weights = replace(DEFAULT_WEIGHTS, module_weight=module_weight)
    many = search_indexes([shop], text, embedder=embedder, weights=weights, top=len(shop))

    few = [search_indexes([shop], text, embedder=embedder, weights=weights, top=top) for top in range(1, len(many))]

    assert Level.MODULE in {hit.type for hit in many}
    assert few == [many[:top] for top in range(1, len(many))]
