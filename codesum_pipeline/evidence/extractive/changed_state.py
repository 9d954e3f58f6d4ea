"""What a function changes that outlives it: its arguments and the fields of its object.

An assignment counts only where the language makes certain that the caller's value changes: by a pointer or a mutable
reference where values are copied, and never to a name that was given another value before.
"""

import re
from collections.abc import Iterator
from itertools import islice

from codesum_pipeline.evidence.extractive.code_facts import CodeFacts
from codesum_pipeline.evidence.extractive.composing import RECEIVERS
from codesum_pipeline.evidence.extractive.known_calls import Effect, field_words, known_calls
from codesum_pipeline.evidence.extractive.words import in_a_row, name_in_words, name_words
from codesum_pipeline.evidence.inputs import FunctionInput
from codesum_pipeline.foundation.data_model.symbol import Fact, Form, Parameter

_ASSIGNED = re.compile(
    r"^[ \t]*(?:(?:if|for|let|const|var|val|local|auto|final|mut|static|\() ?){0,3}"
    r"((?:\w{1,80}, ?){0,4}\w{1,80})(?: ?: ?[^=\n]{1,60})? ?(?::=|=(?![=>~])|\bin\b|\bof\b)",
    re.M,
)
# A name that stands right behind another, as in a declaration.
_DECLARED = re.compile(r"(?<=[\w>\]*&?])\s++[*&]?([A-Za-z_]\w{0,80})")
# So many assignments of bare names are read.
_MOST_ASSIGNMENTS = 200
# A statement that assigns a bare name; and the languages in which that may be a field of the object.
_BARE_ASSIGNED = re.compile(r"^[ \t]+([A-Za-z_]\w{2,80}) ?(?:[-+*/|&]?=(?![=>])|\+\+|--)", re.M)
_BARE_FIELDS = frozenset(("java", "kotlin", "c-sharp", "scala", "cpp"))
_MAX_SOURCE_CHARS = 100_000
_MAX_NAMES = 3
# Conditions under which a field has no value yet.
_MISSING = (
    "!{}", "not {}", "{} is None", "{} == null", "{} === null", "{} === undefined", "{} == undefined", "{} == nil",
    "{}.nil?", "not {}.present?",
)  # fmt: skip
_ANY = "any"


def assigned_names(function: FunctionInput) -> frozenset[str]:
    """The names that the function gives a value of its own."""
    source = function.canonical_source[:_MAX_SOURCE_CHARS]
    return frozenset(name.strip() for match in _ASSIGNED.finditer(source) for name in match[1].split(","))


def changed_arguments(function: FunctionInput) -> Iterator[Effect]:
    """The arguments of which it assigns an attribute or an item, as one effect."""
    given = {_bare(one.name): one for one in function.facts.parameters if one.kind in ("positional", "keyword")}
    assigned = [one for one in function.facts.writes if one.names and one.names[0] in given]
    known = known_calls(function.language)
    if not assigned or known is None:
        return
    own = assigned_names(function)
    changed = [
        one
        for one in assigned
        if one.names[0] not in own
        and one.names[0] not in RECEIVERS
        and _reaches_caller(one, _as_declared(function, given[one.names[0]]), known.field_marks, known.item_marks)
    ]
    names = list(dict.fromkeys(one.names[0] for one in changed))[:_MAX_NAMES]
    if names:
        is_named = all(len(name) > 1 for name in names)
        text = f"changes its argument{'s' if len(names) > 1 else ''}" + (f" {in_a_row(names)}" if is_named else "")
        yield Effect("mutates", text, changed[0].line, text)


def changed_fields(code: CodeFacts) -> Iterator[Effect]:
    """The fields of its own object that it assigns, as one effect; a constructor's are no news."""
    if code.is_constructor():
        return
    fields = _written_fields(code)
    bare = [*_bare_fields(code.function)]
    if fields or bare:
        found = [*(path[0] for _, path in fields), *(name for name, _ in bare)]
        names = list(dict.fromkeys(name_in_words(field_name(name)) for name in found if _is_thing(name)))[:_MAX_NAMES]
        is_set = all(one.form is Form.NAME and len(path) == 1 for one, path in fields)
        verb = "sets" if is_set and names else "changes"
        is_kept = (
            len(fields) == 1 and verb == "sets" and not bare and _is_kept(fields[0][0], code.function.canonical_source)
        )
        text = f"{verb} its {in_a_row(names) if names else 'state'}{' when missing' if is_kept and names else ''}"
        yield Effect("mutates", text, fields[0][0].line if fields else bare[0][1], text)


def set_fields(code: CodeFacts) -> list[str]:
    """The names of the fields of its own object that it assigns whole, in their order."""
    return [path[0] for one, path in _written_fields(code) if len(path) == 1 and one.form is Form.NAME and not one.when]


def _written_fields(code: CodeFacts) -> list[tuple[Fact, tuple[str, ...]]]:
    receivers = {_bare(one.name) for one in code.facts.parameters if one.kind == "receiver"} | {*RECEIVERS}
    return [(one, path) for one in code.facts.writes if (path := _path_in_object(one, receivers))]


def _is_kept(written: Fact, source: str) -> bool:
    """Whether a field is assigned only where it has no value yet."""
    name, code = written.text, source[:_MAX_SOURCE_CHARS]
    kept = sum(code.count(f"{name} {sign} ") for sign in ("||=", "??="))
    is_only = code.count(f"{name} = ") + kept == 1
    return is_only and (kept == 1 or written.when in {one.format(name) for one in _MISSING})


def _bare_fields(function: FunctionInput) -> Iterator[tuple[str, int]]:
    """The fields that it assigns by their bare names, and the lines: names that nothing in the function declares."""
    owner = function.qualified_name.rpartition(".")[0].rpartition(".")[2]
    if function.language not in _BARE_FIELDS or not owner[:1].isupper() or "static" in function.modifiers:
        return
    source = function.canonical_source[:_MAX_SOURCE_CHARS]
    declared = {*_DECLARED.findall(source), *(_bare(one.name) for one in function.facts.parameters)}
    open_brackets, line, done = 0, 1, 0
    for match in islice(_BARE_ASSIGNED.finditer(source), _MOST_ASSIGNMENTS):
        between = source[done : match.start(1)]
        open_brackets += between.count("(") - between.count(")")
        line += between.count("\n")
        done = match.start(1)
        if not open_brackets and match[1] not in declared and not between.rstrip(" \t\n").endswith((",", "=")):
            yield match[1], line


def field_name(name: str) -> str:
    """A field's name without the mark of its being one: `m_rows`, `mRows`."""
    return re.sub(r"^m_|^m(?=[A-Z])", "", name)


def _path_in_object(written: Fact, receivers: set[str]) -> tuple[str, ...]:
    """The names within its object that lead to what is assigned; none for what is another object's."""
    if "(" in written.text:
        return ()
    if written.text.startswith("@"):
        return written.names
    return written.names[1:] if written.names and written.names[0] in receivers else ()


def _is_thing(name: str) -> bool:
    """Whether a field's name is a noun of its own: not a letter, not a claim such as `isOpen`, not `last`."""
    words = name_words(name)
    is_claim = words[:1] and (
        words[0] in field_words("claims") or (len(words) == 1 and words[0] in field_words("no_things"))
    )
    return len(name.strip("_")) > 2 and not is_claim


def _as_declared(function: FunctionInput, parameter: Parameter) -> str:
    """A parameter with its type and what else its signature says of it: `&$row`, `row: inout Row`."""
    name = re.search(rf"\b{re.escape(_bare(parameter.name))}\b", function.signature)
    before, after = (function.signature[: name.start()], function.signature[name.end() :]) if name else ("", "")
    sign = before.rpartition(",")[2].rpartition("(")[2]
    return f"{sign}{parameter.name} {parameter.type or ''} {after.partition(',')[0]}"


def _reaches_caller(written: Fact, declared: str, field_marks: str, item_marks: str) -> bool:
    """Whether an assignment through a parameter changes what the caller holds."""
    is_item = written.form is Form.ITEM
    if not is_item and (written.form is not Form.NAME or (len(written.names) < 2 and written.text[:1] != "*")):
        return False
    marks = item_marks if is_item else field_marks
    shown = f"{declared} {'->' if '->' in written.text else ''}"
    return marks == _ANY or (any(mark in shown for mark in marks.split()) and "const " not in shown)


def _bare(name: str) -> str:
    return name.strip("*&$@. ")
