"""A build of files that declare things: their sentences, how they are found, and what an edit does."""

import random
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.indexes.embedders.embedder_choice import load_embedder
from codesum_pipeline.search.retrieval.published_index import PublishedIndex
from codesum_pipeline.search.retrieval.searching import search_indexes
from codesum_pipeline_tests.builds.law.test_law import differences
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.planted_secrets import TOKENS
from codesum_pipeline_tests.support.repositories import GitRepo

TOKEN = TOKENS["github-token"](random.Random(9))
CODE = "".join(
    f"def count_{n}(coins):\n    '''Counts coins of kind {n}.'''\n    return sum(coins) + {n}\n" for n in range(9)
)
RELEASE = ".github/workflows/release.yml"
FILES = {
    "till.py": CODE,
    "Dockerfile": "FROM golang:1.22 AS builder\nRUN go build\nFROM scratch AS runtime\nCMD [\"/till\"]\n",
    "Makefile": "all: till\ntill:\n\tgo build\nlint:\n\tgo vet\n",
    RELEASE: "name: Release\non: {push: {tags: ['v*']}}\njobs:\n  build: {}\n  publish: {}\n",
    "deploy/till.yaml": f"apiVersion: v1\nkind: Secret\nmetadata: {{name: {TOKEN}}}\n---\n"
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: till}\n",
    "broken.yaml": "apiVersion: v1\nkind: [Pod\n",
    "api.json": '{"openapi": "3.0.0", "info": {"title": "Till"}, "paths": {"/coins": {"get": {}}}}',
}  # fmt: skip


def workspace_at(home: Path, repo: GitRepo) -> Workspace:
    return workspace_of(open_home(home), RepositoryEntry("shop", str(repo.path)))


def summaries_of(ws: Workspace) -> dict[str, str]:
    return {row["id"]: row["summary"] for row in ws.tables.read("documents", ws.key).to_pylist()}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, GitRepo]:
    folder = tmp_path_factory.mktemp("declared")
    repo = GitRepo.create(folder / "repository", FILES)
    ws = workspace_at(folder / "home", repo)
    build(ws)
    return ws, repo


def test_the_texts_of_files_say_what_they_declare_and_one_that_is_broken_stops_none(
    shop: tuple[Workspace, GitRepo],
) -> None:
    said = summaries_of(shop[0])

    assert (
        said["Dockerfile"]
        == "Builds a container image in the stages builder (golang:1.22), runtime (scratch); runs /till."
    )
    assert said["Makefile"] == "Defines the make targets all, till, lint."
    assert said[RELEASE] == 'GitHub workflow "Release": runs on push of tags v*; jobs: build, publish.'
    assert said["api.json"] == 'Describes the HTTP interface "Till" (OpenAPI): GET /coins.'
    assert said["broken.yaml"] == "Top-level keys: apiVersion, kind."
    assert said["deploy/till.yaml"].startswith("Declares the Kubernetes objects Secret ")
    assert said["deploy/till.yaml"].endswith(", Deployment till.")
    assert TOKEN not in "".join(said.values())


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("which workflow runs on push of tags", RELEASE),
        ("Kubernetes deployment of the till", "deploy/till.yaml"),
        ("stages of the container image", "Dockerfile"),
        ("make targets", "Makefile"),
        ("HTTP interface GET coins", "api.json"),
    ],
)
def test_a_file_is_found_by_the_words_for_what_it_declares(
    shop: tuple[Workspace, GitRepo], query: str, path: str
) -> None:
    index = PublishedIndex.open(shop[0].layout.published("shop"))

    hits = search_indexes([index], query, embedder=load_embedder("static"), top=3)

    assert hits[0].file_path == path


def test_after_an_edit_of_such_files_the_index_equals_a_clean_build(
    shop: tuple[Workspace, GitRepo], tmp_path: Path
) -> None:
    ws, repo = shop
    repo.commit({RELEASE: FILES[RELEASE].replace("publish", "upload"), "broken.yaml": "apiVersion: v1\nkind: Pod\n"})
    build(ws)
    clean = workspace_at(tmp_path / "clean", repo)
    build(clean)

    assert summaries_of(ws)[RELEASE].endswith("jobs: build, upload.")
    assert summaries_of(ws)["broken.yaml"] == "Declares the Kubernetes object Pod."
    assert differences(ws, clean) == (None, None)
