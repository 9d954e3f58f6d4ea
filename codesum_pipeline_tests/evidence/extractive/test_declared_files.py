"""Files of builds, workflows, Kubernetes, Compose and OpenAPI say what they declare, in the order in which they do."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from codesum_pipeline.evidence.extractive.data_statements import read_documents
from codesum_pipeline.evidence.extractive.text_files import write_text_file
from codesum_pipeline.evidence.inputs import TextFileInput

DOCKERFILE = """# syntax=docker/dockerfile:1
# Serves the till.
ARG GO=1.22
FROM --platform=$BUILDPLATFORM golang:${GO}-alpine AS builder
RUN go build \\
  # FROM nothing
  -o /till
RUN cat <<EOF > /etc/motd
FROM the till
EOF
FROM builder AS checked
CMD ["go", "test"]
from ${REGISTRY:-docker.io}/static:$VERSION
EXPOSE 8080 9090
ENTRYPOINT ["/till", "serve"]
"""
MAKEFILE = """# Copyright Somebody
SOURCES := a.c b.c
.PHONY: all test
-include rules.mk
define HELP
usage: make all
endef
all: bin/till $(SOURCES:.c=.o)
%.o: %.c
\tcc -c $<
bin/till $(OUT)/x: a.o \\
    b.o
\techo done: now
test lint:: all
test: CFLAGS = -g
ifeq ($(shell uname):x,Linux:x)
install-linux: all
endif
$(error no: way)
"""
CMAKE = """project(till VERSION 1.0)
set(EXE_NAME "tillctl")
# add_library(left_out a.c)
add_library(${PROJECT_NAME}
  a.c)
add_library(till::till ALIAS till)
add_library(zlib STATIC IMPORTED)
add_executable(${EXE_NAME} main.c)
add_executable(${UNKNOWN} main.c)
add_custom_target(docs)
find_package(OpenSSL REQUIRED)
add_subdirectory(tests)
"""
WORKFLOW = """name: Release "now"
on:
  push:
    branches: [main]
    tags: ['v*']
  pull_request:
    types: [opened]
  schedule:
    - cron: '0 2 * * *'
  workflow_dispatch:
jobs:
  build:
    name: Build
  publish_image:
    name: Push to the registry
"""
OBJECTS = """# Runs the till.
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: till}
---
apiVersion: v1
kind: List
items:
  - {apiVersion: v1, kind: Service, metadata: {name: till}}
  - {apiVersion: v1, kind: Secret, metadata: {name: till-key}, data: {password: aHVudGVy}}
---
"""
HELM = """{{- if .Values.on }}
apiVersion: {{ include "api" . }}
kind: StatefulSet
metadata:
  name: {{ .Release.Name }}-till
  labels:
    {{- include "labels" . | nindent 4 }}
{{- end }}
"""
OPENAPI = """openapi: 3.1.0
info: {title: Till}
paths:
  /coins:
    parameters: []
    get: {}
    post: {}
  /coins/{id}:
    delete: {}
"""

SAID = {
    "stages of a Dockerfile": (
        "Dockerfile", "dockerfile", DOCKERFILE,
        "Builds a container image in the stages builder (golang:1.22-alpine), checked (builder), one from "
        "docker.io/static; opens the ports 8080, 9090; runs /till serve. Serves the till."),
    "a Dockerfile with an ending of its own": (
        "Dockerfile-arm", "text", "FROM debian\n", "Builds a container image from debian."),
    "a Dockerfile whose image is filled in": (
        "web.dockerfile", "dockerfile", "FROM $BASE\n", "Builds a container image from an image that is filled in."),
    "targets of Make": (
        "Makefile", "makefile", MAKEFILE, "Defines the make targets all, bin/till, test, lint, install-linux."),
    "targets of CMake": (
        "CMakeLists.txt", "cmake", CMAKE,
        "Configures the CMake build of the project till: builds till, tillctl; has the targets docs; needs OpenSSL; "
        "includes the folders tests."),
    "a workflow": (
        ".github/workflows/release.yml", "yaml", WORKFLOW,
        "GitHub workflow \"Release 'now'\": runs on push to main or of tags v*, on pull request opened, on schedule "
        "0 2 * * *, by hand; jobs: build, publish_image (Push to the registry)."),
    "a workflow that others call": (
        "a/.github/workflows/x.yaml", "yaml", "on: [workflow_call, push]\njobs: {a: }\n",
        "GitHub workflow: runs when another workflow calls it, on push; jobs: a."),
    "objects of Kubernetes": (
        "deploy/till.yaml", "yaml", OBJECTS,
        "Declares the Kubernetes objects Deployment till, Service till, Secret till-key. Runs the till."),
    "an object of Kubernetes in JSON": (
        "a.json", "json", '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}',
        "Declares the Kubernetes object Pod x."),
    "a template of Helm": (
        "charts/till/templates/till.yaml", "yaml", HELM, "Declares the Kubernetes object StatefulSet."),
    "a kustomization": (
        "kustomization.yaml", "yaml", "apiVersion: kustomize.config.k8s.io/v1\nkind: Kustomization\n"
        "resources: [../base, a.yaml]\n", "Declares the Kubernetes object Kustomization of ../base and a.yaml."),
    "objects of another program": (
        "skaffold.yaml", "yaml", "apiVersion: skaffold/v4\nkind: Config\n",
        "Holds apiVersion skaffold/v4, kind Config."),
    "operations of an interface": (
        "api.yaml", "yaml", OPENAPI,
        'Describes the HTTP interface "Till" (OpenAPI): GET /coins, POST /coins, DELETE /coins/{id}.'),
    "operations of an older interface in JSON": (
        "api.json", "json", '{"swagger": "2.0", "paths": {"/a": {"get": {}}}}',
        "Describes an HTTP interface (OpenAPI): GET /a."),
    "services of Compose": (
        "compose.prod.yaml", "yaml", "x-base: &base {image: 'till:${V}'}\nservices: {web: *base, db: {image: pg:16}}\n",
        "Starts together with Docker Compose: web (till), db (pg:16)."),
}  # fmt: skip


def summary_of(path: str, language: str, text: str) -> str:
    return write_text_file(TextFileInput(path, path.rpartition("/")[2], language, text)).text.summary


@pytest.mark.parametrize(("path", "language", "text", "summary"), SAID.values(), ids=SAID)
def test_a_file_says_what_it_declares(path: str, language: str, text: str, summary: str) -> None:
    assert summary_of(path, language, text) == summary


def test_what_a_file_declares_is_among_its_keywords() -> None:
    written = write_text_file(TextFileInput("a/till.yaml", "till.yaml", "yaml", OBJECTS)).text

    assert {"kubernetes", "deployment", "secret"} <= {*written.keywords}
    assert "declares" not in written.keywords


@pytest.mark.parametrize(
    ("path", "language", "text", "more"),
    [
        ("Makefile", "makefile", "".join(f"target-{n}:\n" for n in range(100)), "target-21, 78 more."),
        ("k.yaml", "yaml", "---\n".join(f"{{apiVersion: v1, kind: Pod, metadata: {{name: pod-{n}}}}}\n"
                                        for n in range(100)), "Pod pod-21, 78 more."),
        ("o.json", "json", json.dumps({"openapi": "3", "paths": {f"/{n}": {"get": {}} for n in range(5000)}}),
         "GET /29, 4970 more."),
    ],
    ids=["targets", "objects", "operations"],
)  # fmt: skip
def test_of_many_the_first_are_said_and_the_others_counted(path: str, language: str, text: str, more: str) -> None:
    summary = summary_of(path, language, text)

    assert summary.endswith(more)
    assert len(summary) < 400


@pytest.mark.skipif(not shutil.which("make"), reason="needs GNU make")
def test_the_targets_are_those_that_make_itself_finds(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(MAKEFILE.replace("$(error no: way)\n", ""))
    printed = subprocess.run(["make", "-qpRr"], cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    blocks = printed.partition("# Files\n")[2].split("\n\n")
    defined = [block for block in blocks if "# Not a target:" not in block]
    first_lines = [line for block in defined for line in block.split("\n") if line[:1].isalnum()]
    found = {line.partition(":")[0] for line in first_lines if ":" in line}

    said = summary_of("Makefile", "makefile", MAKEFILE).removeprefix("Defines the make targets ").rstrip(".")

    assert {*said.split(", ")} == found - {"/x"}


BROKEN = {
    "unclosed": "on: [push\njobs: {a: b\n",
    "a tab": "apiVersion: v1\n\tkind: Pod\n",
    "deep": "[" * 100_000,
    "deep mappings": "a: {" * 100_000,
    "no mapping": "- a\n- b\n",
    "a number for a name": "apiVersion: v1\nkind: [Pod]\nmetadata: 7\n",
    "a list for jobs": "on: push\njobs: [a]\n",
    "a text for triggers": "on: {push: main}\njobs: 5\n",
    "empty": "---\n---\n",
    "a template that is no YAML": "kind: {{ if x }}\n  {{ y: {z} }}\n apiVersion\n",
    "an unknown alias": "apiVersion: v1\nkind: *kind\n",
    "an alias of itself": "a: &a [*a]\napiVersion: v1\nkind: Pod\nmetadata: *a\n",
}


@pytest.mark.parametrize("path", [".github/workflows/a.yml", "action.yml", "compose.yml", "k.yaml"])
@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_gets_the_text_that_its_name_and_keys_give(path: str, text: str) -> None:
    summary = summary_of(path, "yaml", text)

    assert 0 < len(summary) < 400


def test_lists_that_name_each_other_are_not_copied() -> None:
    laughs = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9) if n else 'lol'}]\n" for n in range(60))

    (found,) = read_documents(f"{laughs}apiVersion: v1\nkind: Pod\n")

    assert found["l59"][0] is found["l58"]
    assert summary_of("k.yaml", "yaml", f"{laughs}apiVersion: v1\nkind: Pod\n") == "Declares the Kubernetes object Pod."


@pytest.mark.parametrize(
    "text",
    ["- a\n" * 200_000, "a: 1\n" + "#" * 1_500_000, "- " * 61 + "a"],
    ids=["200,000 values", "1,500,000 characters", "61 lists in each other"],
)
def test_what_costs_more_than_its_bounds_is_not_read(text: str) -> None:
    assert read_documents(text) == []
