"""Edges of components: which component an element means, and what `this` and plain names mean."""

from collections.abc import Mapping

import pytest

from codesum_pipeline_tests.graph.sources import calls_of, imports_of, references_of

CARD = "<template><p/></template>\n"
PACKAGE = '{"name": "shop"}'


def test_an_element_without_an_import_is_the_only_component_of_vue_with_its_name() -> None:
    page = {"src/Page.vue": "<template><UserCard/><user-card/></template>", "src/a/UserCard.vue": CARD}

    assert calls_of(page) == {("src/Page.vue::Page", "src/a/UserCard.vue::UserCard"): "ast:unique-name"}
    assert calls_of({**page, "src/b/UserCard.vue": CARD}) == {}


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(
            {"A.vue": "<template><card/><Transition/></template>", "Card.vue": CARD, "Transition.vue": CARD},
            id="HTML and Vue's own",
        ),
        pytest.param({"A.svelte": "<UserCard/>", "UserCard.svelte": CARD}, id="Svelte"),
        pytest.param({"A.astro": "<UserCard/>", "UserCard.astro": CARD}, id="Astro"),
        pytest.param({"A.vue": "<template><UserCard/></template>", "UserCard.svelte": CARD}, id="of another language"),
        pytest.param({"A.vue": "<template><UserCard/></template>", "a.ts": "export class UserCard {}"}, id="a class"),
        pytest.param({"A.vue": "<template><UserCard/></template>", "a.ts": "function UserCard() {}"}, id="a function"),
    ],
)
def test_nothing_else_without_an_import_is_a_component(files: Mapping[str, str]) -> None:
    assert calls_of(files) == {}


@pytest.mark.parametrize("specifier", ["@/user/Card.vue", "~/user/Card.vue", "./user/Card.vue"])
def test_an_import_leads_to_the_component_by_a_path_or_a_usual_alias(specifier: str) -> None:
    page = f"<script setup>\nimport Card from '{specifier}'\n</script>\n<template><card/></template>"
    files = {"app/package.json": PACKAGE, "app/src/Page.vue": page, "app/src/user/Card.vue": CARD}

    assert calls_of(files) == {("app/src/Page.vue::Page", "app/src/user/Card.vue::Card"): "ast:import"}


def test_lib_is_the_folder_of_sveltekit() -> None:
    imports = "import { format } from '$lib/text.js'\nimport Card from '$lib/Card.svelte'"
    page = f"<script>\n{imports}\n</script>\n<Card>{{format(1)}}</Card>"
    files = {
        "package.json": PACKAGE,
        "src/routes/+page.svelte": page,
        "src/lib/text.ts": "export function format(x) {}",
        "src/lib/Card.svelte": "<p/>",
    }

    assert set(calls_of(files)) == {
        ("src/routes/+page.svelte::RoutesPage", "src/lib/text.ts::format"),
        ("src/routes/+page.svelte::RoutesPage", "src/lib/Card.svelte::Card"),
    }


def test_a_configuration_of_typescript_comes_before_a_usual_alias() -> None:
    files = {
        "package.json": PACKAGE,
        "tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["./code/*"]}}}',
        "a.ts": "import { f } from '@/text'\nf()\n",
        "src/text.ts": "export function f() {}",
        "code/text.ts": "export function f() {}",
    }

    assert set(calls_of(files)) == {("a.ts", "code/text.ts::f")}


def test_what_markup_binds_is_no_function_of_the_script() -> None:
    script = "<script setup>\nfunction item() {}\nfunction row() {}\nfunction label() {}\n</script>\n"
    template = (
        '<template><A v-for="item in list" @click="item()" v-slot="{ row }">{{ row(1) }} {{ label(1) }}</A></template>'
    )
    svelte = (
        "<script>\nfunction item() {}\nfunction row() {}\nfunction label() {}\n</script>\n"
        "{#each list as item}{item()}{/each}{#snippet row(a)}{a}{/snippet}{@render row(1)}{label()}"
        "{#await p catch item}{item()}{/await}{#await p then row}{row()}{/await}"
    )

    assert set(calls_of({"B.vue": script + template})) == {("B.vue::B", "B.vue::B::label")}
    assert set(calls_of({"B.svelte": svelte})) == {("B.svelte::B", "B.svelte::B::label")}


def test_a_plain_name_in_a_method_is_what_the_file_imports_and_not_the_method() -> None:
    files = {
        "api.ts": "export function load() {}",
        "A.vue": "<script>\nimport { load } from './api'\nexport default { methods: { load() { load() } } }\n</script>",
    }

    assert set(calls_of(files)) == {("A.vue::A::load", "api.ts::load")}


def test_this_is_the_component_in_each_of_its_options() -> None:
    options = "{ watch: { name() { this.save() } }, mounted() { this.save() }, methods: { save() {} } }"
    files = {"A.vue": f"<script>\nexport default {options}\n</script>"}

    assert set(calls_of(files)) == {
        ("A.vue::A::watch::name", "A.vue::A::save"),
        ("A.vue::A::mounted", "A.vue::A::save"),
    }


def test_a_template_uses_what_setup_declares() -> None:
    options = "{ setup() { const save = () => 1; return { save } } }"
    files = {"A.vue": f'<template><b @click="save()"/></template>\n<script>\nexport default {options}\n</script>'}

    assert set(calls_of(files)) == {("A.vue::A::setup", "A.vue::A::setup::save")}


def test_what_is_handed_over_or_given_as_an_action_is_a_reference() -> None:
    vue = '<script setup>\nfunction save() {}\n</script>\n<template><b @click="save" :at="{ a: save }"/></template>'
    svelte = "<script>\nfunction save() {}\nfunction tip() {}\n</script>\n<b on:click={save} use:tip={1}/>"

    assert references_of({"A.vue": vue}) == {("A.vue::A", "A.vue::A::save")}
    assert references_of({"A.svelte": svelte}) == {
        ("A.svelte::A", "A.svelte::A::save"),
        ("A.svelte::A", "A.svelte::A::tip"),
    }


def test_a_function_of_a_component_is_no_method_that_its_name_alone_tells() -> None:
    files = {
        "A.vue": "<script setup>\nfunction updateSliderValue() {}\n</script>",
        "b.ts": "export function run(x) { x.updateSliderValue() }",
    }

    assert calls_of(files) == {}


def test_a_script_in_another_file_is_imported() -> None:
    files = {"A.vue": '<script src="./a.ts"></script>\n<template><p/></template>', "a.ts": "export default {}"}

    assert imports_of(files) == {("A.vue", "a.ts")}


def test_one_broken_expression_in_markup_hides_no_other() -> None:
    template = '<template><b :a="x | (" @c="if (" /><b @click="save()"/></template>'
    code = f"<script setup>\nfunction save() {{}}\n</script>\n{template}"

    assert set(calls_of({"A.vue": code})) == {("A.vue::A", "A.vue::A::save")}


def test_an_element_of_the_components_own_name_is_what_the_file_imports() -> None:
    button = "<script>\nimport Button from './base/Button.svelte'\n</script>\n<Button/>"
    recursive = {"Tree.vue": "<template><Tree/></template>"}

    assert set(calls_of({"Button.svelte": button, "base/Button.svelte": "<b/>"})) == {
        ("Button.svelte::Button", "base/Button.svelte::Button")
    }
    assert set(calls_of({"Button.svelte": button})) == set()
    assert set(calls_of(recursive)) <= {("Tree.vue::Tree", "Tree.vue::Tree")}
