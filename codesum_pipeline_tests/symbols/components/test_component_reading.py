"""What is read of one component: its name, members, documentation, and the places of its functions."""

import pytest

from codesum_pipeline.symbols.parsing.components.component_parser import component_name
from codesum_pipeline.symbols.parsing.parsers import documentation_spans
from codesum_pipeline_tests.symbols.components.reading import fields_of, names_of, read_component

NAMES = {
    "src/UserCard.vue": "UserCard",
    "src/user-card.vue": "UserCard",
    "src/user_card.svelte": "UserCard",
    "src/Card/index.vue": "Card",
    "index.vue": "Index",
    "src/routes/blog/+page.svelte": "BlogPage",
    "src/routes/blog/[slug]/+layout.svelte": "SlugLayout",
    "src/pages/[...path].astro": "Path",
    "src/pages/404.astro": "Page404",
    "components/Menu.client.vue": "Menu",
    "src/Größe.vue": "Größe",
}


@pytest.mark.parametrize("path", NAMES)
def test_a_component_is_called_after_its_file(path: str) -> None:
    assert component_name(path) == NAMES[path]


def setup(code: str) -> str:
    return f'<script setup lang="ts">\n{code}\n</script>\n'


def options(code: str) -> str:
    return f"<script>\nexport default {code}\n</script>\n"


FIELDS = {
    "properties by a type": (
        "A.vue",
        setup("defineProps<{ title: string; // shown\n size?: 1 | 2 }>()"),
        ["title: string", "size: 1 | 2"],
    ),
    "properties by an interface that extends another one": (
        "A.vue",
        setup(
            "interface Base { id: string }\ninterface Props extends Base { title: string }\n"
            "withDefaults(defineProps<Props & { more: boolean }>(), {})"
        ),
        ["id: string", "title: string", "more: boolean"],
    ),
    "properties by an object": (
        "A.vue",
        setup(
            "defineProps({ user: { type: Object as PropType<User>, required: true }, on: [String, Number], x: null })"
        ),
        ["user: User", "on: String | Number", "x"],
    ),
    "properties by names": ("A.vue", setup('defineProps(["title", "size"])'), ["title", "size"]),
    "models": (
        "A.vue",
        setup('defineModel<number>()\ndefineModel("open")'),
        ["modelValue: number", "open", "event update:modelValue", "event update:open"],
    ),
    "events by names, and those that only the template says": (
        "A.vue",
        setup('defineEmits(["save"])') + "<template><b @click=\"$emit('drop', 1)\"/></template>",
        ["event save", "event drop"],
    ),
    "events by a type": (
        "A.vue",
        setup("defineEmits<{ save: [id: number]; (e: 'drop' | 'move'): void }>()"),
        ["event save: [id: number]", "event drop", "event move"],
    ),
    "options": (
        "A.vue",
        options("{ props: { a: Number }, emits: ['b'], methods: { c() { this.$emit('d'); bus.emit('other') } } }"),
        ["a: Number", "event b", "event d"],
    ),
    "options of a made component": (
        "A.vue",
        "<script lang='ts'>\nexport default defineComponent({ props: ['a'] as const })\n</script>\n",
        ["a"],
    ),
    "exported variables of Svelte": (
        "A.svelte",
        "<script>\nexport let a\nexport let b = 1, c;\nexport const d = 2\nlet e\nexport { e as class }\n</script>",
        ["a", "b", "c", "class"],
    ),
    "types in comments": (
        "A.svelte",
        "<script>\n/**\n * The size.\n * @type {1 | 2}\n */\nexport let size = 1\nexport let a\n</script>",
        ["size: 1 | 2", "a"],
    ),
    "properties of Svelte 5": (
        "A.svelte",
        '<script lang="ts">\ntype Props = { a: string; b?: () => void };\n'
        "let { a, b, class: c, ...rest }: Props = $props();\n</script>",
        ["a: string", "b: () => void", "class"],
    ),
    "events of Svelte": (
        "A.svelte",
        "<script>\nconst send = createEventDispatcher();\nfunction f() { send('saved'); other('x') }\n</script>\n"
        "<b on:click/>",
        ["event click", "event saved"],
    ),
    "events of Svelte by a type": (
        "A.svelte",
        '<script lang="ts">\nconst send = createEventDispatcher<{ saved: number; shut: null }>();\nsend("saved", 1)\n'
        "</script>",
        ["event saved: number", "event shut: null"],
    ),
    "properties of Astro": (
        "A.astro",
        "---\ntype Props = { a: string } & HTMLAttributes<'a'>;\n"
        "const { a, href = '' } = Astro.props as Props;\n---\n<b/>",
        ["a: string", "href"],
    ),
    "slots": ("A.vue", '<template><slot/><slot name="foot"/></template>', ["slot foot"]),
}


@pytest.mark.parametrize("case", FIELDS)
def test_the_fields_are_what_others_give_a_component_and_get_from_it(case: str) -> None:
    path, source, fields = FIELDS[case]

    assert sorted(fields_of(read_component(path, source))) == sorted(fields)


DOCUMENTED = {
    "a comment at the top": ("A.vue", "<!-- A card. -->\n" + setup("f()"), "A card."),
    "a comment with @component": (
        "A.svelte",
        "<!-- Copyright 2024 -->\n<script>\n// The code.\n\nlet a\n</script>\n<!--\n@component\nA card.\n-->\n<b/>",
        "A card.",
    ),
    "a comment above the default export": (
        "A.vue",
        "<script>\n/** A card. */\nexport default {}\n</script>",
        "A card.",
    ),
    "several lines": (
        "A.vue",
        "<script>\n// A card\n// of a user.\nexport default {}\n</script>",
        "A card\nof a user.",
    ),
    "no comment behind an import": (
        "A.vue",
        "<script>\nimport a from 'a' // the letter a\n\nexport default {}\n</script>",
        None,
    ),
    "no import that is left out": (
        "A.vue",
        "<script>\n// import a from 'the/place/of/a'\n\nexport default {}\n</script>",
        None,
    ),
    "no comment about a property": ("A.svelte", "<script>\n/** The title. */\nexport let title\n</script>", None),
    "no licence": ("A.vue", "<!-- Copyright 2024 The Authors -->\n" + setup("f()"), None),
    "no note of what is to be done": ("A.vue", "<!-- TODO: more -->\n" + setup("f()"), None),
}


@pytest.mark.parametrize("case", DOCUMENTED)
def test_a_component_is_documented_by_its_comment(case: str) -> None:
    path, source, said = DOCUMENTED[case]

    assert read_component(path, source).symbols[0].docstring == said


def test_members_of_two_groups_of_options_are_members_of_the_component_and_keep_their_own_ids() -> None:
    read = read_component(
        "A.vue",
        options(
            "{ data() {}, computed: { a() {} }, methods: { b() {}, data() { function c() {} } }, watch: { a() {} } }"
        ),
    )

    names = ["A", "A.data", "A.a", "A.b", "A.methods.data", "A.methods.data.c", "A.watch.a"]
    assert [name for name, _, _ in names_of(read)] == names
    assert {one.parent_id for one in read.symbols[1:]} == {"A.vue::A", "A.vue::A::methods::data"}


def test_a_class_that_is_the_default_export_is_the_component() -> None:
    read = read_component(
        "A.vue",
        '<script lang="ts">\n/** A card. */\nexport default class UserCard extends Vue {\n  save() {}\n}\n</script>',
    )

    assert names_of(read) == [("A", 1, 6), ("A.save", 4, 4)]
    assert (read.symbols[0].bases, read.symbols[0].docstring) == (("Vue",), "A card.")


def test_a_component_beside_a_function_of_its_name_has_another_one() -> None:
    read = read_component("Card.svelte", "<script module>\nexport function Card() {}\n</script>\n<b/>")

    assert [name for name, _, _ in names_of(read)] == ["CardComponent", "Card"]


def test_the_source_of_a_component_has_its_scripts_and_markup_in_order_without_styles() -> None:
    read = read_component(
        "A.vue", "<template>\n  <p>words</p>\n</template>\n<style>\np{}\n</style>\n" + setup("run( 1 )")
    )
    component = read.symbols[0]

    assert component.canonical_source == "component A\n<template>\n<p>words</p>\n</template>\nrun(1);"
    assert component.line_map == (1, 1, 2, 3, 8)
    assert "p{}" in read.facts.source


def test_what_documents_a_function_of_a_component_is_found_at_its_bytes() -> None:
    source = ("<template><p/></template>\n" + setup("/** Saves. */\nfunction save() {}")).encode()
    start = source.index(b"/**")

    assert documentation_spans("A.vue", "vue", source, {4}) == [(start, start + len("/** Saves. */"))]
