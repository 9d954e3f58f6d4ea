"""What is wrong with a component is named or read as text; the rest of it, and all other files, are read."""

from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.symbols.components.reading import names_of, read_component
from codesum_pipeline_tests.symbols.components.shop import SHOP

SAVE = "function save() {\n  return 1\n}\n"
ONE = "<script>\n" + SAVE + "</script>\n"

PROBLEMS = {
    "two equal scripts": (
        ONE + "<script>\nfunction drop() {}\n</script>\n",
        "line 6: a second script of the same kind is not read; move its code into the first one",
    ),
    "a script in an unknown language": (
        '<script lang="coffee">\nsave = -> 1\n</script>\n<template><p>words</p></template>\n',
        "line 1: the script is not read: lang 'coffee' is none of JavaScript, TypeScript and TSX",
    ),
    "a script without an end": (
        "<template><p>words</p></template>\n<script>\n" + SAVE,
        "line 2: the script is not read: it has no </script>",
    ),
    "a template in another language": (
        '<template lang="pug">\np(v-if="a < b") words\n</template>\n' + ONE,
        "line 1: the template is not read: lang 'pug' is not HTML",
    ),
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_what_cannot_be_read_is_named_with_its_line_and_its_words_are_kept(problem: str) -> None:
    source, message = PROBLEMS[problem]
    read = read_component("src/UserCard.vue", source)

    assert read.facts.failure == message
    assert read.facts.syntax_errors >= 1
    assert read.symbols[:1] == () or read.symbols[0].name == "UserCard"
    assert ("save" in read.facts.source) and ("words" in read.facts.source or "drop" in read.facts.source)


def test_of_two_equal_scripts_the_first_is_read() -> None:
    assert names_of(read_component("A.vue", PROBLEMS["two equal scripts"][0])) == [("A", 1, 8), ("save", 2, 4)]


def test_a_script_stays_on_its_lines_below_a_template_in_another_language() -> None:
    assert names_of(read_component("A.vue", PROBLEMS["a template in another language"][0])) == [
        ("A", 1, 8), ("save", 5, 7),
    ]  # fmt: skip


def test_two_scripts_of_vue_and_of_svelte_are_two_parts() -> None:
    vue = read_component("A.vue", ONE + "<script setup>\nfunction drop() {}\n</script>\n")
    svelte = read_component("A.svelte", ONE + '<script context="module">\nexport function drop() {}\n</script>\n')

    assert names_of(vue) == [("A", 1, 8), ("save", 2, 4), ("A.drop", 7, 7)]
    assert names_of(svelte) == [("A", 1, 8), ("A.save", 2, 4), ("drop", 7, 7)]
    assert vue.facts.failure is svelte.facts.failure is None


def test_a_script_in_another_file_is_imported() -> None:
    read = read_component("A.vue", '<template><p/></template>\n<script src="./a.ts" lang="ts"></script>\n')

    assert [(one.module, one.line) for one in read.facts.imports] == [("./a.ts", 2)]
    assert read.facts.failure is None


def test_a_script_in_a_comment_or_in_a_text_is_none() -> None:
    commented = read_component("A.vue", "<!--\n<script>\nfunction drop() {}\n</script>\n-->\n" + ONE)
    quoted = read_component("A.vue", "<script>\nconst a = '<script>'\n" + SAVE + "</script>\n")

    assert names_of(commented) == [("A", 1, 10), ("save", 7, 9)]
    assert names_of(quoted) == [("A", 1, 6), ("save", 3, 5)]
    assert commented.facts.failure is quoted.facts.failure is None


def test_templates_in_each_other_are_one() -> None:
    template = '<template>\n<Card><template #head="{ user }"><Badge :of="user"/></template></Card>\n</template>\n'
    read = read_component("A.vue", template + ONE)

    assert names_of(read) == [("A", 1, 8), ("save", 5, 7)]
    assert '"Card"' in read.facts.references and '"Badge"' in read.facts.references


@pytest.mark.parametrize("language", ["vue", "svelte", "astro"])
def test_line_ends_and_a_byte_order_mark_change_nothing(language: str) -> None:
    code = f"---\n{SAVE}---\n<p>words</p>\n" if language == "astro" else f"{ONE}<template><p>words</p></template>\n"
    plain = read_component(f"A.{language}", code)
    windows = read_component(f"A.{language}", b"\xef\xbb\xbf" + code.replace("\n", "\r\n").encode())

    assert windows == plain
    assert len(plain.symbols) == 2


@pytest.mark.parametrize("language", ["vue", "svelte", "astro"])
@pytest.mark.parametrize("source", ["", "\n\n", "<!-- nothing -->\n"], ids=["empty", "blank", "a comment"])
def test_a_file_without_scripts_and_markup_is_no_component(language: str, source: str) -> None:
    read = read_component(f"A.{language}", source)

    assert (read.symbols, read.facts.failure, read.facts.references) == ((), None, "{}")


def test_frontmatter_without_an_end_is_named() -> None:
    assert read_component("A.astro", "---\nconst a = 1\n<p>{a}</p>\n").facts.failure == (
        "line 1: the frontmatter is not read: it has no closing ---"
    )


HOSTILE = {
    "unclosed elements": "<div>" * 10_000,
    "unclosed tags": "<div " * 10_000,
    "unclosed expressions": "<p>{{ a" * 10_000,
    "unclosed loops": "{#each a as b}" * 10_000,
    "unclosed scripts": "<script>\n" * 10_000,
    "texts without an end": "<a b='" * 10_000,
    "many scripts": ONE * 3_000,
    "loops in each other": '<A v-for="(x, y) in z">{{ f(x) }}' * 3_000,
    "many names": "".join(f'<A v-for="a{number} in z">{{{{ f(a) }}}}' for number in range(3_000)),
}


@pytest.mark.parametrize("language", ["vue", "svelte", "astro"])
@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_read_within_its_budget_or_as_a_text(language: str, source: str) -> None:
    read = read_component(f"A.{language}", source)

    assert read.facts.source
    assert len(read.facts.failure or "") < 1_000


def test_one_bad_component_stops_no_other_file(tmp_path: Path) -> None:
    bad = {f"src/bad/{number}.vue": source for number, (source, _) in enumerate(PROBLEMS.values())}
    repo = GitRepo.create(tmp_path / "repository", {**SHOP, **bad, "src/bad/deep.vue": "<div>\n" * 10_000})
    ws = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path)))
    report = build(ws, may_fail=True)["symbols"]

    told = {failure.item: failure.reason for failure in report.failures}
    assert {path: told[path] for path in bad} == {
        path: message for path, (_, message) in zip(bad, PROBLEMS.values(), strict=True)
    }
    assert told["src/bad/deep.vue"].startswith("too much work: more than ")
    symbols = {row["id"] for row in ws.tables.read("symbols", ws.key).to_pylist()}
    assert "src/Basket.vue::Basket::clear" in symbols


def test_components_whose_grammar_cannot_be_loaded_are_named_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unloaded: None
) -> None:
    repo = GitRepo.create(tmp_path / "repository", {"a.vue": ONE, "b.ts": SAVE})
    ws = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(repo.path)))
    blocked = tmp_path / "no-folder"
    blocked.write_text("")
    monkeypatch.setenv("SEMBLE_GRAMMARS_CACHE_DIR", str(blocked))
    failures = build(ws, may_fail=True)["symbols"].failures

    assert [failure.item for failure in failures] == ["a.vue"]
    assert "SEMBLE_GRAMMARS_CACHE_DIR" in failures[0].reason
    assert {row["id"] for row in ws.tables.read("symbols", ws.key).to_pylist()} == {"b.ts::save"}

    monkeypatch.setenv("SEMBLE_GRAMMARS_CACHE_DIR", str(tmp_path / "grammars"))
    assert build(ws)["symbols"].failures == ()
    assert "a.vue::A" in ws.tables.read("symbols", ws.key)["id"].to_pylist()
