"""What a model is shown: everything between markers, masked, with no path below the module level."""

import re

from msgspec.structs import replace

from codesum_pipeline.evidence.inputs import ChildText, ClassInput, FileInput, ModuleInput, TextFileInput
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.texts.llm.templates import resolve_template
from codesum_pipeline.texts.summaries.by_model.prompting import Prompter
from codesum_pipeline.texts.summaries.by_model.shown_contexts import ShownContext

SOURCE = "def total(orders):\n    return sum(order.price for order in orders)\n"
CHILD = ChildText("src/a.py::total", "total", Level.FUNCTION, "", False, "Adds up prices of orders.", ("price",))


def prompter(level: Level, max_prompt_chars: int = 200_000) -> Prompter:
    return Prompter(resolve_template(None, level, language="English"), max_prompt_chars)


def labels(prompt: str) -> list[str]:
    return re.findall(r"^<<<(\w+) ", prompt, re.MULTILINE)


def test_each_level_is_shown_its_pieces_under_the_names_that_the_system_prompt_explains() -> None:
    file = FileInput("src/a.py", "a.py", "python", "Orders.", ("os",), ("RATE",), None, (CHILD,))
    shown = [
        prompter(Level.FUNCTION).of_function("total", "python", SOURCE, ShownContext(("report",), ("in file: a.py",))),
        prompter(Level.CLASS).of_upper(
            Level.CLASS, ClassInput("a::B", "B", "B", "python", "class B", None, (), (), (), (CHILD,))
        ),
        prompter(Level.FILE).of_upper(Level.FILE, file),
        prompter(Level.FILE).of_upper(Level.FILE, TextFileInput("docs/a.md", "a.md", "markdown", "# A\n\nWords.")),
        prompter(Level.MODULE).of_upper(Level.MODULE, ModuleInput("src", "src", "Words.", (CHILD,), "README.md")),
    ]

    assert [labels(prompt.text) for prompt in shown] == [
        ["name", "source", "context"],
        ["name", "metadata", "children"],
        ["name", "metadata", "children"],
        ["name", "metadata", "text"],
        ["name", "metadata", "children"],
    ]
    system = resolve_template(None, Level.FILE, language="English").system
    explained = set(re.findall(r"^- `(\w+)`:", system, re.MULTILINE))
    assert {label for prompt in shown for label in labels(prompt.text)} <= explained
    assert not any("src/" in prompt.text or "docs/" in prompt.text for prompt in shown)
    assert "\na.py\n" in shown[2].text and "\na.md\n" in shown[3].text


def test_lines_are_numbered_and_an_answer_is_held_to_those_that_are_shown() -> None:
    source = "def f():\n" + "    call_something_with_a_name()\n" * 2_000
    whole = prompter(Level.FUNCTION).of_function("f", "python", source, ShownContext())
    cut = prompter(Level.FUNCTION, 40_000).of_function("f", "python", source, ShownContext())

    assert (whole.bounds.line_count, "\n2001|     call_something_with_a_name()\n" in whole.text) == (2_001, True)
    last = cut.bounds.line_count or 0
    assert 100 < last < 2_001
    assert f"\n{last}|" in cut.text
    assert f"\n{last + 1}|" not in cut.text


def test_names_of_neighbours_are_shown() -> None:
    context = ShownContext(("Report.make",), ("in file: a.py",), ("calls to_cents: def to_cents(amount)",))
    found = prompter(Level.FUNCTION).of_function("f", "python", SOURCE, context)

    assert "\nin file: a.py\ncalled by: Report.make\ncalls to_cents: def to_cents(amount)\n" in found.text


def test_names_that_stand_in_the_context_alone_must_not_be_named() -> None:
    context = ShownContext((), code="class Till(Service); fields: price, list_price\ndef to_cents(amount)")
    found = prompter(Level.FUNCTION).of_function("Till.total", "python", SOURCE, context)

    assert {"Service", "list_price", "to_cents"} <= set(found.bounds.context_names)
    assert {"Till", "price", "total"}.isdisjoint(found.bounds.context_names)


def test_what_is_told_besides_a_body_takes_at_most_half_of_the_room() -> None:
    file = FileInput("a.py", "a.py", "python", "Orders.\n" * 20_000, (), (), None, (CHILD,))
    found = prompter(Level.FILE, 40_000).of_upper(Level.FILE, file)

    assert "[cut here]" in found.text
    assert "- total (function): Adds up prices of orders." in found.text
    assert len(found.text) + len(prompter(Level.FILE).template.system) < 40_000 * 0.85


def test_secrets_are_taken_out_and_counted() -> None:
    key = "AKIA" + "Q4XZ7J2MNB5K3WPL"
    masking = prompter(Level.FUNCTION)
    found = masking.of_function("f", "python", f'def f():\n    use("{key}")\n', ShownContext())

    assert key not in found.text
    assert sum(masking.masked.values()) == 1


def test_of_many_children_the_last_are_counted_and_only_the_shown_ones_may_be_named() -> None:
    children = tuple(replace(CHILD, id=str(number), name=f"part{number}") for number in range(3_000))
    found = prompter(Level.MODULE, 40_000).of_upper(Level.MODULE, ModuleInput("src", "src", None, children))

    shown = len(found.bounds.child_names)
    assert 10 < shown < 3_000
    assert f"({3_000 - shown} more are not shown)" in found.text
    assert found.bounds.child_names == tuple(f"part{number}" for number in range(shown))
