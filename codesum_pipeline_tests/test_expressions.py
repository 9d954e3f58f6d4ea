"""Every regular expression of the package reads every text in linear time: names, comments, queries, answers and paths
are written by others."""

import re
from fnmatch import translate
from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from codesum_pipeline.evidence.author_texts import docstrings
from codesum_pipeline.evidence.author_texts.inline_marks import remove_markup
from codesum_pipeline.evidence.extractive.known_calls import known_calls
from codesum_pipeline.foundation.data_model.patterns import OrderedPatterns, read_patterns
from codesum_pipeline.foundation.language_facts.file_languages import language_of_file
from codesum_pipeline.foundation.language_facts.language_profiles import profiles
from codesum_pipeline.languages.declarations import handed_names, rust_macros, torn_branches
from codesum_pipeline.languages.declarations.c_family import function_heads, macros
from codesum_pipeline.languages.declarations.language_registry import declarations
from codesum_pipeline.languages.declarations.naming_calls import naming_calls
from codesum_pipeline.languages.declarations.plain_lines import definition_lines
from codesum_pipeline.languages.declarations.python import cython
from codesum_pipeline.languages.declarations.python.python_recovery import LINES
from codesum_pipeline.languages.outlines.outline_table import outline_tables, respelled_source
from codesum_pipeline.search.retrieval.hits import literal_of, occurrence_in
from codesum_pipeline.source.files.notebooks import _without_magics
from codesum_pipeline.source.masking import secrets
from codesum_pipeline.symbols.parsing.condition_texts import Conditions
from codesum_pipeline.symbols.parsing.outline_pieces import cut_in_pieces
from codesum_pipeline.texts.llm.server_hints import RefusedCall, find_hint
from codesum_pipeline_tests.support.attacks import LINEAR, attacks_on, growth, seconds_of
from codesum_pipeline_tests.support.expressions import Expression, expressions_of_package

NO_TOKENS: Any = ()
# What functions make of what they are given, if no call below makes one: the call, and an expression like that.
MADE_OF_ARGUMENTS = {
    "builds/compaction/compactable_rows.py: translate(selection.ids or '*')": translate("*?*?*?a*[!b]*c"),
    "builds/dagster/instance_file.py: f'(?m)^{key}:'": "(?m)^run_coordinator:",
    "foundation/language_facts/writing_systems.py: f'[{letters}]'": "[\u4e00-\u9fff\u3041-\u309f]",
    "foundation/settings/marks.py: expression": r"(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?",
    "indexes/embedders/static.py: '|'.join(map(re.escape, self._special)) or '(?!)'": r"\[CLS\]|\[SEP\]|<unk>",
    "texts/llm/checking.py: f\"this (?:{_EVERY_KIND})\\\\b|the (?:{'|'.join(_KINDS[level])})\\\\b\"": (
        r"this (?:class)\b"
    ),
    "search/overviews/framework_catalogue.py: '|'.join((translate(file) for _, file in wild))": "|".join(
        map(translate, ("*.a", "b*c"))
    ),
    "search/overviews/overview.py: '[\\\\W_]{1,40}'.join(map(re.escape, words))": r"one[\W_]{1,40}two[\W_]{1,40}three",
    "symbols/parsing/masks.py: f'(?<![A-Za-z0-9_])(?:{found})(?![A-Za-z0-9_])'": (
        r"(?<![A-Za-z0-9_])(?:a1b|a)(?![A-Za-z0-9_])"
    ),
    "symbols/parsing/outline_definitions.py: table.hidden": r"(?:^|\.)_",
    "evidence/extractive/code_facts.py: f'\\\\b{re.escape(_bare(parameter.name))}\\\\b'": r"\brow\b",
    "evidence/extractive/raw_texts.py: pattern": r"^(?:abstract |final )*(?:class|enum)\s+(\w+)",
    "answers/agent_tools/constants.py: f'(?<![\\\\w$]){re.escape(name)}(?![\\\\w$])'": r"(?<![\w$])MOST(?![\w$])",
    "answers/agent_tools/constants.py: f'{word}{_NEAR}=(?!=)|{_DECLARING}{_NEAR}{word}'": (
        r"(?<!\.)(?<![\w$])MOST(?![\w$])[^=\n]{0,80}=(?!=)|"
        r"\b(?:const|define|final|let|static|val|var)\b[^=\n]{0,80}(?<!\.)(?<![\w$])MOST(?![\w$])"
    ),
    'answers/agent_tools/mentioned_names.py: f"""[\'\\\\".:/]{re.escape(name)}[\'\\\\"]"""': r"['\".:/]pay['\"]",
    "answers/agent_tools/mentioned_names.py: f'{re.escape(text)}(?:(?![\\\\w-])|(?<!\\\\w))'": (
        r"/pay(?:(?![\w-])|(?<!\w))"
    ),
    "answers/agent_tools/registrar_users.py: f'{start}{re.escape(name)}(?![\\\\w$])'": (
        r"(?:\bweb\.|(?<![\w$.@]))app(?![\w$])"
    ),
    "answers/agent_tools/replaced_definitions.py: pattern": r"\b(?:orders\.tax|shop\.tax)\b",
    "answers/agent_tools/uncounted.py: f'(?<![\\\\w$]){named}[ \\\\t]{{0,8}}\\\\({bare}'": (
        r"(?<![\w$])save[ \t]{0,8}\(|\.save\b"
        r"|^save[ \t]{1,8}(?!(?:and|if|in|or|rescue|then|unless|until|while)\b)[\w:'\"@]"
    ),
    "ways_in/web/rendering.py: f'^{re.escape(title_of(row))}(: |$)'": r"^Cart\.add(: |$)",
}
# The longest text that an expression meets, where its cost is bounded by that alone.
SHORT_TEXTS = {
    "foundation/data_model/patterns.py _CLASS": 2000,
    "search/retrieval/hits.py _QUOTED": 8000,
    "foundation/settings/channel_settings.py _MAILBOX": 1000,
    "source/files/path_rules.py _TEST_FOLDER": 4000,
    "symbols/parsing/outline_parser.py _BODY_MARKS": 1200,
    "symbols/parsing/condition_texts.py _CLASS": 80,
    "symbols/parsing/condition_texts.py text": 80,
    "symbols/parsing/calls_with_names.py _CALLEE": 120,
    # Patterns of our own tables.
    "languages/declarations/plain_lines.py _LETTERS": 1000,
    "source/files/path_rules.py _TEST_LIBRARY": 4000,
    "evidence/author_texts/plain_sentences.py _LAST_WORD": 16,
    "evidence/author_texts/plain_sentences.py _OPEN_BRACKET": 600,
}


# The patterns of Cython that are looked for anywhere in a statement; the others are matched at its beginning.
SEARCHED_IN_CYTHON = ("token", "statement", "step", "sizes", "suffix", "pointer", "expression")
MOST_SECONDS_OF_A_SHORT_TEXT = 0.3


def is_anchored(expression: Expression) -> bool:
    """Whether it is matched from the beginning alone: by PyYAML, by rules of test frameworks, at a place in code."""
    signatures = [one.tests.signatures for one in declarations() if one.tests.signatures]
    at_a_place = [macros._PATTERNS[name] for name in ("has_body", "class_opened", "label", "call_line")]
    at_a_place += [torn_branches._PATTERNS[name] for name in ("label", "else")]
    at_a_place += [pattern for name, pattern in cython._PATTERNS.items() if name not in SEARCHED_IN_CYTHON]
    at_a_place += [function_heads._PATTERNS["plain"], handed_names._PATTERNS["list"], docstrings._ASIDES["empty_talk"]]
    anchored: set[object] = {each.pattern for each in (*signatures, *at_a_place, rust_macros._PATTERNS["closed"])}
    return expression.place == "notifications/intents/intent_entries.py" or expression.pattern in anchored


def make_expressions() -> None:
    """Call what makes expressions of tables and of what others write."""
    for declaration in declarations():
        for line in declaration.definition_lines:
            list(definition_lines("x", (line,)))
        Conditions((), NO_TOKENS, declaration.conditions)._spelled("a is b")
    for line in LINES:
        list(definition_lines("x", (line,)))
    for table in outline_tables().values():
        respelled_source(table, b"x")
    for language in ("ruby", "elixir", "go"):
        words = naming_calls(language)
        assert words is not None
        assert words.openings.groups >= words.titled.groups
    for language in profiles():
        known_calls(language)
        remove_markup("`a` [b](c)", language)
        list(_without_magics("x", language))
        for ending in profiles()[language].shared:
            language_of_file(f"a.{ending}", b"")
    for table in outline_tables().values():
        respelled_source(table, b"")
        if table.marks is not None:
            cut_in_pieces(table.marks, b"CREATE TABLE a (b int);")
    find_hint("x", RefusedCall("a/b", "", 1))
    rules = (*secrets.PRIVATE_KEYS, *secrets._RULES)
    secrets.mask_secrets("\n".join(keyword for rule in rules for keyword in rule.keywords))
    for line in ("*?*a*b?c", "**/a*/**/*b*c/**/*d", "/[!a]*[b-d]*/**", "a/*/b/", "a/**/b*c*/**/d*e"):
        OrderedPatterns.of([line, "!x"])
    read_patterns(["*?*a*b?c", "**/a*/**/*b*c/**/*d", "/[!a]*[b-d]*/**", "a/*/b/"], "pattern")
    for source in ("two one three", "said('cannot read %s of %s: too long')", "one two three"):
        for query in ("cannot read a of b: too long", '"one two three"'):
            wanted = literal_of(query)
            assert wanted is not None
            occurrence_in(source, wanted)


@cache
def all_expressions() -> tuple[tuple[Expression, ...], frozenset[str]]:
    known, unknown = expressions_of_package(f"{__name__}:{make_expressions.__name__}")
    found = [replace(each, uses=("match",)) if is_anchored(each) else each for each in known]
    made = [
        # Those of globs are matched from the beginning alone.
        Expression(call, "", pattern, 0, ("match" if "translate(" in call else "finditer",))
        for call, pattern in MADE_OF_ARGUMENTS.items()
    ]
    return tuple(sorted([*found, *made], key=str)), frozenset(unknown)


def test_each_expression_of_the_package_is_known() -> None:
    found, unknown = all_expressions()

    assert unknown == set(MADE_OF_ARGUMENTS)
    assert len(found) > 500


def slow_ones(*, variants: int, length: int, part: int, parts: int) -> list[str]:
    """Expressions that take much more than four times as long for four times the text."""
    slow = []
    for expression in all_expressions()[0][part::parts]:
        longest = SHORT_TEXTS.get(f"{expression.place} {expression.name}")
        for attack in attacks_on(expression.pattern, expression.flags, variants=variants):
            if longest is not None:
                is_slow = all(
                    seconds_of(expression, attack.text(longest)) > MOST_SECONDS_OF_A_SHORT_TEXT for _ in range(3)
                )
            else:
                is_slow = growth(expression, attack, length) > LINEAR
            if is_slow:
                slow.append(f"{expression}: {attack}")
                break
    return slow


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_no_expression_is_slow_for_any_text_that_can_be_made_of_it(part: int) -> None:
    assert slow_ones(variants=5, length=4000, part=part, parts=4) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "is_slow"),
    [
        pytest.param(r"(a+)+b", True, id="a repetition in a repetition"),
        pytest.param(r"\s+$", True, id="a run that is tried from each of its characters"),
        pytest.param(r"<!--.*?-->", True, id="a beginning whose end is looked for from each"),
        pytest.param(r"\s*,?\s*x", True, id="two repetitions that read the same"),
        pytest.param(r"(?<!\s)\s++$", False, id="a run that is tried once"),
        pytest.param(r"<!--(?:.*?-->|.*)", False, id="a beginning that takes all where it has no end"),
        pytest.param(r"\w+|\s+", False, id="repetitions that do not compete"),
    ],
)
def test_an_expression_that_tries_ways_anew_is_found(pattern: str, is_slow: bool) -> None:
    expression = Expression("", "", pattern, re.DOTALL, ("finditer",))
    attacks = attacks_on(pattern, re.DOTALL, variants=2)

    assert any(growth(expression, attack, 2000) > LINEAR for attack in attacks) is is_slow
