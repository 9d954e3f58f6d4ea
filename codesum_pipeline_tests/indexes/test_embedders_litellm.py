"""Embeddings of a provider: the real client against a server on loopback."""

import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, EmbedderUnavailable, UnusableVectors
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.indexes.embedders.embedder_choice import make_embedder
from codesum_pipeline.indexes.embedders.litellm_models import LiteLlmEmbedder
from codesum_pipeline.indexes.lanes.dense import embed_documents
from codesum_pipeline_tests.support.settings import DEFAULTS, changed
from codesum_pipeline_tests.support.synthetic_indexes import SHOP, Definition, make_index_workspace, write_tables

KEY = "sk-verysecret1234567890"
PATH = "/v1/embeddings"
Answer = Callable[[list[str]], Response]
# Of the twelve documents that have a text, two each: the lanes `summary` and `fused`.
TEXTS = 24


def vector_of(text: str) -> list[float]:
    return [float(len(text)), 1.0, float(sum(map(ord, text)) % 7)]


def answer(texts: list[str], *, vectors: list[list[float]] | None = None) -> Response:
    """What an embeddings server says; in reversed order, which the format allows."""
    rows = vectors if vectors is not None else [vector_of(text) for text in texts]
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
    body = {
        "object": "list",
        "model": "m",
        "data": data[::-1],
        "usage": {"prompt_tokens": 10 * len(texts), "total_tokens": 10 * len(texts)},
    }
    return Response(json.dumps(body), content_type="application/json")


def refuse(status: int, message: str = "no", **headers: str) -> Response:
    body = {"error": {"message": message, "type": "error", "code": str(status)}}
    return Response(json.dumps(body), status=status, content_type="application/json", headers=headers)


class Server:
    """An OpenAI-compatible server: the `answers` it was set up with come first, then right ones."""

    def __init__(self, http: HTTPServer) -> None:
        self.base = http.url_for("/v1")
        self.answers: list[Answer] = []
        self.batches: list[list[str]] = []
        self.bodies: list[dict[str, Any]] = []
        http.expect_request(PATH).respond_with_handler(self._handle)

    def _handle(self, request: Request) -> Response:
        body = json.loads(request.data)
        self.bodies.append(body)
        self.batches.append(body["input"])
        return self.answers.pop(0)(body["input"]) if self.answers else answer(body["input"])


@pytest.fixture(autouse=True)
def forget_embedders() -> None:
    """An embedder remembers how long its vectors are, and a port can come twice."""
    make_embedder.cache_clear()


@pytest.fixture
def server(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    yield Server(httpserver)


def embedder_at(server: Server, *, offline: bool = False, model: str = "openai/m") -> LiteLlmEmbedder:
    return LiteLlmEmbedder(model, api_base=server.base, offline=offline, first_wait_s=0.01)


def test_texts_come_back_as_unit_vectors_in_their_order(server: Server) -> None:
    texts = [f"text {number}" * (number % 5 + 1) for number in range(100)]
    embedder, steps = embedder_at(server), []

    vectors = embedder.embed(texts, progress=steps.append)

    expected = np.array([vector_of(text) for text in texts])
    assert vectors == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True), abs=1e-6)
    assert (vectors.dtype, steps, embedder.billed_tokens, embedder.dimensions) == (np.float32, [96, 4], 1000, 3)
    assert server.batches == [texts[:96], texts[96:]]
    assert server.bodies[0] == {"model": "m", "input": texts[:96], "encoding_format": "float"}


def test_a_request_holds_no_more_bytes_than_a_provider_takes(server: Server) -> None:
    embedder_at(server).embed(["x" * 150_000, "y" * 150_000, "z"])

    assert [len(batch) for batch in server.batches] == [1, 2]


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_what_passes_by_itself_is_tried_again(server: Server, status: int) -> None:
    server.answers = [lambda _: refuse(status), lambda _: refuse(status, **{"retry-after": "0"})]

    assert embedder_at(server).embed(["a"]).shape == (1, 3)
    assert len(server.batches) == 3


def test_after_five_failures_it_is_left_for_later(server: Server) -> None:
    server.answers = [lambda _: refuse(503)] * 9

    with pytest.raises(EmbedderUnavailable, match="'litellm/openai/m': 5 requests failed, the last with"):
        embedder_at(server).embed(["a"])
    assert len(server.batches) == 5


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (lambda _: refuse(401, f"Incorrect API key provided: {KEY}"), "its key was not accepted"),
        (lambda _: refuse(403), "its key was not accepted"),
        (lambda _: refuse(404, "no such model"), "no provider knows this model"),
        (lambda _: refuse(400, f"bad input, key {KEY}"), "the request was refused: BadRequestError: .*bad input"),
    ],
    ids=["key", "permission", "model", "request"],
)
def test_what_stays_wrong_is_said_once_and_without_the_key(
    server: Server, caplog: pytest.LogCaptureFixture, response: Answer, message: str
) -> None:
    server.answers = [response]
    caplog.set_level(logging.DEBUG)

    with pytest.raises(ConfigurationError, match=message) as raised:
        embedder_at(server).embed(["a"])

    assert len(server.batches) == 1
    assert raised.value.__cause__ is None
    assert "verysecret" not in str(raised.value)
    assert "verysecret" not in caplog.text


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (lambda texts: answer(texts, vectors=[[1.0, 2.0, 3.0]]), "1 vectors came for 2 texts"),
        (lambda texts: answer(texts, vectors=[[1.0, 2.0, 3.0], [1.0, 2.0]]), r"expected, \[2, 3\] came"),
        (lambda texts: answer(texts, vectors=[[1.0], [2.0]]), r"vectors of 3 numbers were expected, \[1\] came"),
        (lambda texts: answer(texts, vectors=[[float("nan")] * 3] * 2), "a number that is not finite"),
    ],
    ids=["too few", "of two lengths", "of another length than before", "NaN"],
)
def test_vectors_that_were_not_asked_for_are_refused(server: Server, response: Answer, message: str) -> None:
    embedder = embedder_at(server)
    embedder.embed_query("first")
    server.answers = [response]

    with pytest.raises(UnusableVectors, match=message):
        embedder.embed(["a", "b"])


def test_a_missing_key_is_named(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")

    with pytest.raises(ConfigurationError, match=r"its key is not set: put it into the environment \(OPENAI_API_KEY\)"):
        embedder_at(server).embed(["a"])
    assert server.batches == []


def test_a_model_without_a_provider_is_refused(server: Server) -> None:
    with pytest.raises(ConfigurationError, match=r"no provider knows this model: write PROVIDER/MODEL"):
        embedder_at(server, model="nobody-has-this").embed(["a"])


def test_offline_nobody_is_asked(server: Server) -> None:
    with pytest.raises(ConfigurationError, match="offline is set and the model is asked over the network"):
        embedder_at(server, offline=True).embed(["a"])
    assert server.batches == []


@pytest.mark.parametrize(("model", "price"), [("text-embedding-3-small", 2e-08), ("openai/m", None), ("gpt-4o", None)])
def test_a_price_is_what_is_listed_for_an_embedding_model_and_else_unknown(
    server: Server, model: str, price: float | None
) -> None:
    assert embedder_at(server, model=model).usd_per_token == price


def settings_at(server: Server, model: str = "text-embedding-3-small") -> Settings:
    return changed(DEFAULTS, embedder=model, embedder_api_base=server.base)


@pytest.mark.parametrize(
    ("model", "cost", "announced"),
    [("text-embedding-3-small", 10 * TEXTS * 2e-08, r"expected \$0\.00"), ("litellm/openai/m", None, "price unknown")],
)
def test_a_build_says_before_and_after_what_it_pays(
    server: Server, tmp_path: Path, model: str, cost: float | None, announced: str
) -> None:
    seen: list[str] = []
    workspace = make_index_workspace(tmp_path, settings=settings_at(server, model))

    report = embed_documents(workspace, progress=lambda doing, done, total: seen.append(doing))
    again = embed_documents(workspace)

    assert (report.embedded, report.dimensions, report.billed_tokens) == (TEXTS, 3, 10 * TEXTS)
    assert report.cost_usd == pytest.approx(cost) if cost else report.cost_usd is None
    assert re.fullmatch(rf"embedding texts \(about [\d,]+ tokens, {announced}\d*\)", seen[0])
    assert (again.embedded, again.billed_tokens, again.cost_usd, len(server.batches)) == (0, 0, 0.0, 1)


def test_what_was_paid_for_is_kept_when_the_provider_fails(server: Server, tmp_path: Path) -> None:
    """A build that ends early leaves its finished requests to the next one."""
    many = {f"m{n}.py": (Definition(f"work_{n}", f"Does {n}.", f"def work_{n}(): go({n})"),) for n in range(40)}
    workspace = make_index_workspace(tmp_path, many, settings=settings_at(server))
    server.answers = [answer, lambda _: refuse(401)]
    with pytest.raises(ConfigurationError):
        embed_documents(workspace)
    paid = len(server.batches[0])

    report = embed_documents(workspace)
    clean = embed_documents(make_index_workspace(tmp_path / "clean", many, settings=settings_at(server)))

    assert (paid, report.resumed, report.embedded) == (96, 96, report.rows - 96 - report.carried)
    assert report.table_hash == clean.table_hash
    assert not workspace.layout.finished_vectors("shop").exists()


def test_a_provider_that_changes_a_models_length_is_refused_with_the_way_out(server: Server, tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path, settings=settings_at(server))
    embed_documents(workspace)
    write_tables(workspace, {**SHOP, "new.py": (Definition("new", "Is new.", "def new(): 1"),)})
    make_embedder.cache_clear()
    server.answers = [lambda texts: answer(texts, vectors=[[1.0, 2.0]] * len(texts))]

    with pytest.raises(UnusableVectors, match="vectors had 3 numbers and have 2 now: run `codesum index KEY --force`"):
        embed_documents(workspace)


def test_a_forced_build_and_a_damaged_file_pay_for_everything_anew(server: Server, tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path, settings=settings_at(server))
    finished = workspace.layout.finished_vectors("shop")

    finished.parent.mkdir(parents=True, exist_ok=True)
    finished.write_bytes(b"no database" * 1000)
    assert (embed_documents(workspace).embedded, finished.exists()) == (TEXTS, False)

    assert embed_documents(replace(workspace, force=True)).embedded == TEXTS
    assert [len(batch) for batch in server.batches] == [TEXTS, TEXTS]


BAD = "shop/cart.py::add_item"


def is_bad(text: str) -> bool:
    """The fused and the summary text of one function."""
    return "Put an article" in text


def gives_no_vector(texts: list[str]) -> Response:
    rows: list[Any] = [None if is_bad(text) else vector_of(text) for text in texts]
    return answer(texts, vectors=rows)


def refuses(status: int) -> Answer:
    return lambda texts: refuse(status) if any(map(is_bad, texts)) else answer(texts)


@pytest.mark.parametrize("treated", [gives_no_vector, refuses(400), refuses(422)], ids=["no vector", "400", "422"])
def test_a_text_that_gets_no_vector_fails_alone_and_is_tried_again(
    server: Server, tmp_path: Path, treated: Answer
) -> None:
    workspace = make_index_workspace(tmp_path, settings=settings_at(server))
    server.answers = [treated] * 100
    report = embed_documents(workspace)
    vectors = {(row["id"], row["lane"]): row["vector"] for row in workspace.tables.read("vectors", "shop").to_pylist()}
    server.batches.clear()
    again = embed_documents(workspace)
    sent = {text for batch in server.batches for text in batch}
    server.answers = []
    healed = embed_documents(workspace)
    clean = embed_documents(make_index_workspace(tmp_path / "clean", settings=settings_at(server)))

    assert [(failure.item, "Traceback" in failure.traceback) for failure in report.failures] == [(BAD, True)]
    assert (report.failed, report.rows, report.embedded) == (1, TEXTS, TEXTS - 2)
    assert [name for name, vector in vectors.items() if not any(vector)] == [(BAD, "fused"), (BAD, "summary")]
    assert (again.failed, again.embedded, again.table_hash) == (1, 0, report.table_hash)
    assert {text for text in sent if not is_bad(text)} == {"text"}
    assert (healed.failed, healed.embedded, healed.table_hash) == (0, 2, clean.table_hash)


@pytest.mark.parametrize("status", [400, 422])
def test_a_provider_that_refuses_every_text_ends_the_build_at_once(server: Server, tmp_path: Path, status: int) -> None:
    server.answers = [lambda _: refuse(status)] * 100

    with pytest.raises(ConfigurationError, match="the request was refused"):
        embed_documents(make_index_workspace(tmp_path, settings=settings_at(server)))

    assert [len(batch) for batch in server.batches] == [TEXTS, 1]


def test_a_model_that_gives_no_vector_for_any_text_ends_the_build_at_once(server: Server, tmp_path: Path) -> None:
    server.answers = [lambda texts: answer(texts, vectors=[None for _ in texts])] * 100  # type: ignore[misc]

    with pytest.raises(TypeError):
        embed_documents(make_index_workspace(tmp_path, settings=settings_at(server)))

    assert [len(batch) for batch in server.batches] == [TEXTS, 1]


def test_what_was_paid_for_beside_a_bad_text_is_kept(server: Server, tmp_path: Path) -> None:
    workspace = make_index_workspace(tmp_path, settings=settings_at(server))
    paid: list[int] = []

    def refuses_after_one_good_answer(texts: list[str]) -> Response:
        if paid:
            return refuse(401)
        if len(texts) > 1 and not any(map(is_bad, texts)):
            paid.append(len(texts))
        return gives_no_vector(texts)

    server.answers = [refuses_after_one_good_answer] * 100
    with pytest.raises(ConfigurationError):
        embed_documents(workspace)
    server.answers = [gives_no_vector] * 100

    report = embed_documents(workspace)

    assert [report.resumed] == paid
    assert report.resumed + report.embedded + 2 == TEXTS
