"""What the members of a class tell of it, and what they do not."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest

from codesum_pipeline.evidence.extractive.extractive_parents import write_class
from codesum_pipeline.evidence.extractive.type_phrases import type_phrase
from codesum_pipeline.evidence.inputs import ChildText, ClassInput
from codesum_pipeline.evidence.own_sources import own_source
from codesum_pipeline.foundation.data_model.document import Level


def summary(
    source: str,
    *,
    language: str,
    methods: Mapping[str, str] | None = None,
    parts: Mapping[str, str] | None = None,
    bases: Sequence[str] = (),
    fields: Sequence[str] = (),
    qualified_name: str = "",
    path: str = "a",
    docstring: str | None = None,
) -> str:
    source = source.strip("\n")
    head = source.split("\n")[0].rstrip("{: ")
    words = head.replace("(", " ").replace(":", " ").split()
    name = next(word for before, word in pairwise(words) if before in KINDS)
    children = [
        ChildText(f"{path}::{name}::{one}", f"{name}::{one}", level, "", False, said)
        for level, found in ((Level.FUNCTION, methods or {}), (Level.CLASS, parts or {}))
        for one, said in found.items()
    ]
    class_ = ClassInput(
        f"{path}::{name}", qualified_name or name, name, language, head, docstring, tuple(bases), (), tuple(fields),
        tuple(children), own_source=own_source(source),
    )  # fmt: skip
    return write_class(class_).text.summary


KINDS = ("class", "interface", "module", "struct", "enum", "type")

CLASSES: dict[str, tuple[str, dict[str, Any], str]] = {
    "a test double stands in and does nothing itself": (
        "class FakeReviewManager : ReviewManager {\n    var hasLaunched = false\n}",
        {"language": "kotlin", "bases": ["ReviewManager"], "methods": {"launch": "Launches the review."}},
        "Stands in for the real review manager.",
    ),
    "what only begins like a double is none": (
        "class FakeNewsDetector {\n}",
        {"language": "kotlin", "methods": {"detect": "Detects lies in articles."}},
        "Detects lies in articles.",
    ),
    "what is not implemented is not told": (
        "class Languages {\n}",
        {
            "language": "typescript",
            "methods": {"detect": "Detects the language. Raises an error: Not implemented.", "list": "Lists names."},
        },
        "Lists names.",
    ),
    "methods that a framework fixes give way to what is held": (
        "struct Dock: UIViewRepresentable {\n    let assetNames: [String]\n}",
        {
            "language": "swift",
            "bases": ["UIViewRepresentable"],
            "fields": ["assetNames: [String]"],
            "methods": {"makeUIView": "Makes a UI view.", "updateUIView": "Updates a UI view."},
        },
        "Holds a list of texts (asset names).",
    ),
    "one method is followed by what is held": (
        "class Repository {\n    private final Database database;\n}",
        {"language": "java", "fields": ["database: Database"], "methods": {"save": "Saves orders."}},
        "Saves orders. Holds a database.",
    ),
    "an author's name with a filler word is followed by what it does": (
        "class AppearanceSettings : public QGroupBox {\n    void applyChanges();\n    void resetChanges();\n}",
        {
            "language": "cpp",
            "docstring": "Appearance settings page.",
            "methods": {"applyChanges": "", "resetChanges": ""},
        },
        "Appearance settings page. Applies changes; resets changes.",
    ),
    "a module that wraps says what is in it": (
        "module Components\n    module GenerateToken\n    end\nend",
        {"language": "ruby", "parts": {"GenerateToken": ""}},
        "Holds generate token.",
    ),
    "what its only part holds is told": (
        "interface SignIn {\n    data class Result(val token: String)\n}",
        {"language": "kotlin", "parts": {"Result": "Holds the text token."}},
        "Holds result with the text token.",
    ),
    "a migration is told once": (
        "class RenameUsersTable < ActiveRecord::Migration[7.0]\n    def change\n"
        "        rename_table :users, :profiles\n    end\nend",
        {
            "language": "ruby",
            "bases": ["ActiveRecord::Migration"],
            "methods": {"change": "Renames the users table."},
        },
        "Is a migration that renames the table users to profiles.",
    ),
    "of many fields the others are counted": (
        "type Props = {\n}",
        {
            "language": "typescript",
            "fields": [f"on{one}: () => void" for one in ("A", "B", "C", "D", "E", "F", "G")],
        },
        "Holds callbacks (on a, on b, on c, on d and on e), and 2 more.",
    ),
}


@pytest.mark.parametrize(("source", "shown", "said"), CLASSES.values(), ids=CLASSES.keys())
def test_a_class_says_what_its_members_tell(source: str, shown: Any, said: str) -> None:
    assert summary(source, **shown) == said


MISSING = {
    "() => Row | null": False,
    "(() => Row) | null": True,
    "(() -> Unit)?": True,
    "() -> Unit?": False,
    "Array<string | null>": False,
    "string | null": True,
}


@pytest.mark.parametrize(("written", "is_optional"), MISSING.items(), ids=MISSING.keys())
def test_only_the_whole_of_a_type_may_be_missing(written: str, is_optional: bool) -> None:
    found = type_phrase(written)

    assert found is not None
    assert found.is_optional is is_optional


def test_a_function_type_holds_nothing_of_what_it_takes() -> None:
    head = "type Listener = (meta: Readonly<{ key: Key; size: Size }>, done: Done) => void"

    assert summary(head, language="typescript", fields=("key: Key", "size: Size")) == "Type listener."


def test_alternatives_with_a_field_of_the_same_name_hold_it_once() -> None:
    fields = ('action: "None"', 'action: "Copy"', "items: Set<string>")

    told = summary("type Board = { action: string } | { items: Set }", language="typescript", fields=fields)

    assert "more" not in told
