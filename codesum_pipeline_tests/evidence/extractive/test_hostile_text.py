"""Whatever a repository contains, a text is printable, bounded, whole, and the same each time."""

from collections.abc import Iterator

from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from codesum_pipeline.evidence.author_texts.plain_sentences import make_printable
from codesum_pipeline.evidence.extractive.extractive_functions import write_function
from codesum_pipeline.evidence.extractive.extractive_parents import write_class, write_file, write_module
from codesum_pipeline.evidence.extractive.text_files import write_text_file
from codesum_pipeline.evidence.inputs import (
    ChildText,
    ClassInput,
    FileInput,
    FunctionInput,
    ModuleInput,
    TextFileInput,
)
from codesum_pipeline.foundation.data_model.document import Level, Returns, WrittenText
from codesum_pipeline.foundation.data_model.symbol import Fact, Form, Parameter, Reexport, SymbolFacts
from codesum_pipeline.texts.summaries.placeholders import placeholder_text
from codesum_pipeline_tests.evidence.extractive.shown_inputs import function_in

NASTY = (
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \u202eevil\u202c zero\u200bwidth \x00\x07 {{ x }} {% y %} ${z} "
    "<script>alert(1)</script> "
    "<b>bold</b> &lt;script&gt; \ud800 \ufeff \u2028 :param x: \n\n- item\n\n```\ncode\n"
)
texts = st.one_of(st.text(max_size=300), st.text(alphabet=NASTY, max_size=200), st.just(NASTY))
names = st.one_of(st.text(min_size=1, max_size=40), st.from_regex(r"[a-zA-Z_]{1,12}", fullmatch=True))
facts = st.lists(
    st.builds(
        Fact, texts, st.integers(1, 9), st.lists(names | texts, max_size=3).map(tuple), st.sampled_from(Form), texts
    ),
    max_size=4,
).map(tuple)
symbol_facts = st.builds(
    SymbolFacts,
    parameters=st.lists(
        st.builds(
            Parameter,
            names,
            st.none() | texts,
            st.none() | texts,
            st.sampled_from(["positional", "receiver", "var_keyword"]),
        ),
        max_size=3,
    ).map(tuple),
    return_type=st.none() | texts,
    returned=facts,
    raises=facts,
    writes=facts,
    calls=facts,
    literals=st.lists(texts, max_size=3).map(tuple),
    is_generator=st.booleans(),
)
functions = st.builds(
    FunctionInput,
    id=texts,
    qualified_name=names,
    name=names,
    language=texts,
    canonical_source=texts,
    signature=texts,
    docstring=st.none() | texts,
    modifiers=st.lists(texts, max_size=2).map(tuple),
    complexity=st.just(1),
    line_count=st.just(9),
    facts=symbol_facts,
)
children = st.lists(
    st.builds(
        ChildText,
        texts,
        names,
        st.sampled_from(Level),
        st.just(""),
        st.booleans(),
        texts,
        st.lists(names, max_size=4).map(tuple),
    ),
    max_size=4,
    unique_by=lambda one: one.name,
).map(tuple)
words = st.lists(names, max_size=4).map(tuple)
reexports = st.lists(st.builds(Reexport, names | st.just("*"), st.none() | names, texts), max_size=4).map(tuple)
files = st.builds(
    FileInput,
    id=texts,
    name=names,
    language=texts,
    docstring=st.none() | texts,
    imports=words,
    globals=words,
    exports=st.none() | words,
    children=children,
    reexports=reexports,
    literals=st.lists(texts, max_size=3).map(tuple),
)


def strings_of(text: WrittenText) -> Iterator[str]:
    yield from (
        text.summary,
        text.business_intent,
        *text.keywords,
        *text.side_effects,
        *text.invariants,
        *text.responsibilities,
    )
    for parameter in text.inputs:
        yield from (parameter.name, parameter.type, parameter.description)
    if text.returns:
        yield from (text.returns.type, text.returns.type_summary, text.returns.details)


def check(text: WrittenText) -> None:
    assert text.summary and len(text.summary) <= 600
    assert 10 <= len(text.business_intent) <= 300
    assert 3 <= len(text.keywords) <= 12 and len(set(text.keywords)) == len(text.keywords)
    assert all(10 <= len(one) <= 200 for one in (*text.side_effects, *text.responsibilities))
    assert all(
        any(word in one for word in ("reads", "writes", "emits", "raises", "mutates")) for one in text.side_effects
    )
    assert all(10 <= len(one) <= 300 for one in text.invariants) and len(text.responsibilities) <= 8
    assert all(20 <= len(one.description) <= 200 for one in text.inputs)
    if text.returns:
        assert 10 <= len(text.returns.type_summary) <= 80 and 20 <= len(text.returns.details) <= 400
    assert all(one.isprintable() for one in strings_of(text))
    text.text_hash.encode()
    "".join(strings_of(text)).encode("utf-8")


@given(functions)
def test_a_function(shown):
    written = write_function(shown)

    check(written.text)
    assert written == write_function(replace(shown))
    assert placeholder_text(shown).summary.isprintable()


def test_a_short_type_that_comes_back_makes_no_field_shorter_than_its_bounds():
    text = write_function(function_in("def ids() -> Id:\n    yield Id(1)\n")).text

    check(text)
    assert text.returns == Returns("Id", "yields Id, as declared", "Yields Id, as declared.")


@given(st.builds(ClassInput, texts, names, names, texts, texts, st.none() | texts, words, words, words, children))
def test_a_class(shown):
    check(write_class(shown).text)
    assert write_class(shown) == write_class(replace(shown, children=shown.children[::-1]))


@given(files)
def test_a_file(shown):
    check(write_file(shown).text)
    assert write_file(shown) == write_file(replace(shown, children=shown.children[::-1]))


@given(st.builds(ModuleInput, texts, names, st.none() | texts, children))
def test_a_folder(shown):
    check(write_module(shown).text)
    assert write_module(shown) == write_module(replace(shown, children=shown.children[::-1]))


languages = st.sampled_from(["markdown", "rst", "text", "toml", "yaml", "json", "ini", "bash", ""])
paths = st.sampled_from(
    ["a.md", "b/c.toml", "LICENSE", "d.json", "e.sh", "f", "README.rst", ".env", "requirements.txt"]
)


@given(paths, texts, languages)
@example("a.md", NASTY, "markdown")
def test_a_text_file(path, text, language):
    shown = TextFileInput(path, path.rpartition("/")[2], language, text)

    check(write_text_file(shown).text)


@settings(max_examples=300)
@given(st.text())
def test_printable_text_stays_as_it_is_but_for_its_white_space(text):
    assert make_printable(text).isprintable()
    assert make_printable(make_printable(text)) == make_printable(text)


def test_nothing_that_acts_survives():
    shown = replace(function_in("def f():\n    pass"), docstring=NASTY)

    text = " ".join(strings_of(write_function(shown).text))

    assert not any(bad in text for bad in ("\x1b", "\u202e", "\u200b", "<script", "{{", "{%", "\x00"))
