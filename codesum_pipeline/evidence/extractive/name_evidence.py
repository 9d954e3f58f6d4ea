"""What a name's reading is checked against: parameters, results, owner and body of its function."""

import re
from functools import cached_property

from codesum_pipeline.evidence.author_texts.plain_sentences import word_set
from codesum_pipeline.evidence.extractive.known_calls import effect_kinds, known_calls
from codesum_pipeline.evidence.extractive.name_grammar import (
    ALSO_NOUNS,
    PREPOSITIONS,
    VERBS,
    grammar_list,
    grammar_words,
    is_phrase,
    is_plural,
    noun_phrase,
    type_words,
)
from codesum_pipeline.evidence.extractive.words import name_words, word_in_full
from codesum_pipeline.evidence.inputs import FunctionInput
from codesum_pipeline.foundation.data_model.symbol import Form, Parameter
from codesum_pipeline.foundation.language_facts.language_profiles import Trait, has_trait

_EMPTY_NAMES = word_set("empty_names")
_NO_TYPES = word_set("no_types")
_NO_OWNERS = grammar_words("no_owners")
_SETTING_NAMES = grammar_words("setting_names")
_SETTING_WORDS = frozenset((word,) for word in _SETTING_NAMES)
# What something is run or drawn with.
_SURROUNDINGS = grammar_words("surroundings")
_MAX_SHORT = 6
_MAX_HEAD = 400
# What is handed to constructors that make all sorts of things.
_CARRIED = frozenset(("args", "kwargs", "ctx", "context", "options", "opts", "env"))
_OWNER_PREFIXES = grammar_words("owner_prefixes")
_THINGS = grammar_words("things")
_NO_THINGS = grammar_words("no_things")
_CONTAINERS = grammar_words("containers")
_PROPERTIES = frozenset(("kotlin", "swift"))
_LABELLED = frozenset(("swift",))
_VARIABLES = frozenset(("val", "var"))
_ACCESSORS = frozenset(("property", "get", "getter", "cached"))
# In these an owner may be a module or namespace, and methods are about something else.
_MODULES = frozenset(("elixir", "haskell", "lua", "bash", "c"))
# Types that say how it went, and give no value.
_STATUS_TYPES = frozenset(
    ("error", "status", "bool", "boolean", "result<()>", "task", "valuetask", "promise<void>", "io ()")
)
# A command that succeeds says yes.
_STATUS = frozenset(("bash",))
# What such functions give back is always declared.
_DECLARED = frozenset(("java", "c-sharp", "go", "rust", "zig", "c", "cpp", "swift"))
# In these a value comes back only by a statement, or by a type.
_SAYS_RETURN = _DECLARED | {"python", "javascript", "typescript", "php", "lua"}
_CALLED = grammar_list("function_names")
_SHORT_CALLED = ("cb", "fn", "f", "fun")
_CALLED_TYPES = grammar_list("function_types")


class NameEvidence:
    """The evidence of one function. Words are those of its identifiers."""

    def __init__(self, function: FunctionInput) -> None:
        self.function = function
        self.facts = function.facts

    @cached_property
    def parameters(self) -> list[Parameter]:
        return [one for one in self.facts.parameters if one.kind != "receiver"]

    @cached_property
    def given(self) -> frozenset[str]:
        """The words of what is handed in, by names and types."""
        names = [word for one in self.parameters for word in name_words(one.name)]
        return frozenset([*names, *(word for one in self.parameters for word in type_words(one.type)[0])])

    @cached_property
    def given_pairs(self) -> frozenset[tuple[str, ...]]:
        """The first two words of what is handed in: a name that begins with them begins with a noun."""
        names = [name_words(one.name)[:2] for one in self.parameters]
        return frozenset(
            pair for pair in (*names, *(type_words(one.type)[0][:2] for one in self.parameters)) if pair[1:]
        )

    @cached_property
    def first_parameter(self) -> tuple[str, ...]:
        """The words of the first parameter, by its name or else its type; none where neither says what it is."""
        return _words_of(self.parameters[0]) if self.parameters else ()

    @cached_property
    def label(self) -> str:
        """The preposition that a caller writes before the first parameter: `with` of `sign(with key: Key)`."""
        name = self.parameters[0].name if self.parameters else ""
        before = self.function.signature.partition(f" {name}:")[0].split() if name else []
        written = before[-1].rpartition("(")[2] if before else ""
        return written if self.function.language in _LABELLED and written in PREPOSITIONS else ""

    @cached_property
    def result(self) -> tuple[tuple[str, ...], bool]:
        """The words of the type that is returned, and whether it is many of them."""
        return type_words(self.facts.return_type)

    @property
    def return_type(self) -> str:
        return (self.facts.return_type or "").strip().removeprefix("->").strip(" :'\"")

    @cached_property
    def returns_nothing(self) -> bool:
        """Whether it is certain that no value comes back."""
        written = self.return_type
        if written:
            return written in _NO_TYPES
        returned = [one for one in self.facts.returned if one.form is not Form.NOTHING]
        return not returned and self.function.language in _SAYS_RETURN

    @cached_property
    def gives_value(self) -> bool:
        """Whether a value comes back that is more than a status."""
        written = self.return_type
        if self.function.language in _STATUS:
            return False
        is_status = written.lower() in _STATUS_TYPES or (self.function.language == "c" and written == "int")
        return bool(written or self.facts.returned) and not (self.returns_nothing or is_status)

    @cached_property
    def takes_one(self) -> bool:
        """Whether its first parameter is the only one that it needs, besides settings."""
        return all(
            one.default is not None or one.kind.startswith(("var_", "keyword")) or _is_setting(one.name)
            for one in self.parameters[1:]
        )

    @cached_property
    def only_reads(self) -> bool:
        """Whether it gives back what is there: nothing is handed in, called or written."""
        before = self.function.signature.partition(self.function.name)[0].split()
        is_property = self.function.language in _PROPERTIES and not _VARIABLES.isdisjoint(before)
        is_marked = is_property or not _ACCESSORS.isdisjoint(self.function.modifiers)
        facts = self.facts
        does_more = self.parameters or facts.calls or facts.writes or facts.raises
        return is_marked or (bool(facts.returned) and not does_more)

    @property
    def only_gets(self) -> bool:
        """Whether it gives back what it gets from elsewhere, or what is handed in, and does nothing else."""
        facts = self.facts
        gets = all(one.names and name_words(one.names[-1])[:1] == ("get",) for one in facts.calls)
        return gets and bool(facts.returned) and self.gives_value and not (facts.writes or facts.raises)

    @cached_property
    def may_be_boolean(self) -> bool:
        """Whether nothing contradicts that it answers yes or no."""
        written = self.return_type
        language = self.function.language
        if written:
            lowered = written.lower()
            is_predicate = has_trait(language, Trait.TYPE_PREDICATES) and " is " in written
            is_number = language in ("c", "cpp") and lowered.split()[-1:] == ["int"]
            return "bool" in lowered or is_predicate or is_number
        forms = {one.form for one in self.facts.returned}
        if language in _STATUS:
            return Form.TEXT not in forms
        return bool(forms) and forms.isdisjoint((Form.TEXT, Form.NUMBER, Form.LIST, Form.MAPPING))

    @property
    def is_stored_answer(self) -> bool:
        """Whether it does no more than look up a setting that says yes or no: `uploadPhotos()` of such a setting."""
        names = [one.names[-1].lower() for one in self.facts.returned if one.names]
        return not self.parameters and any(name.startswith(("getbool", "get_bool")) for name in names)

    @property
    def gives_function(self) -> bool:
        """Whether a function comes back, or is what a name stands for."""
        head, _, value = self.function.canonical_source[:_MAX_HEAD].partition("=")
        is_closure = self.function.language in _PROPERTIES and "{" not in head and value.lstrip().startswith("{")
        return is_closure or any(mark in self.return_type for mark in _CALLED_TYPES)

    @property
    def makes_other(self) -> bool:
        """Whether one of a class comes back, which is no answer: an expression of `a == b`."""
        names = [one.names[-1].strip("_") for one in self.facts.returned if one.form is Form.CALL and one.names]
        return any(name[:1].isupper() for name in names)

    @cached_property
    def takes_function(self) -> bool:
        """Whether a function is handed in, so that a name `on_x` registers it."""
        return any(map(_is_function, self.parameters))

    @property
    def around(self) -> str:
        """The name of what is around it: a class, a module, or a function that it is in; "" at the top level."""
        return self.function.qualified_name.rpartition(".")[0].rpartition(".")[2]

    @cached_property
    def owner(self) -> tuple[str, ...]:
        """The words of the class around it; none where that names no thing."""
        name = self.around
        if not name[:1].isupper() or self.function.language in _MODULES or not name.isidentifier():
            return ()
        words = name_words(name)
        while len(words) > 1 and (words[0] in _OWNER_PREFIXES or words[-1] == "impl"):
            words = words[1:] if words[0] in _OWNER_PREFIXES else words[:-1]
        is_numbered = sum(map(str.isdigit, name)) > 2
        is_brand = len(words) == 1 and word_in_full(words[0]) != words[0] and not word_in_full(words[0]).isupper()
        is_one = is_phrase(words) and not is_brand and words[-1] not in _NO_OWNERS and not is_plural(words[-1])
        has_adverb = any(word.endswith("ly") and len(word) > _MAX_SHORT for word in words)
        return words if is_one and not (is_numbered or has_adverb) else ()

    @property
    def owner_in_words(self) -> str:
        """The class around it as a thing: "the connection"; "" where it names none."""
        return f"the {' '.join(map(word_in_full, self.owner))}" if self.owner else ""

    @property
    def is_thing(self) -> bool:
        """Whether the class around it is a thing that has parts, and no one who does something."""
        head = self.owner[-1] if self.owner else ""
        return bool(head) and head not in _NO_THINGS and (not head.endswith(("er", "or", "ing")) or head in _THINGS)

    @cached_property
    def is_method(self) -> bool:
        """Whether it may belong to an object."""
        is_static = "static" in self.function.modifiers
        return self.around[:1].isupper() and self.function.language not in _MODULES and not is_static

    @cached_property
    def makes_owner(self) -> bool:
        """Whether what comes back is one of the class around it."""
        is_itself = "Self" in self.return_type or self.result == (self.owner, False)
        is_class_method = not self.return_type and "classmethod" in self.function.modifiers
        return bool(self.owner) and (is_itself or is_class_method)

    @property
    def takes_settings(self) -> bool:
        """Whether all that is handed in says how something is done."""
        return all(_is_setting(one.name) or one.name.strip("$&*_") in _SURROUNDINGS for one in self.parameters)

    @cached_property
    def is_container(self) -> bool:
        return bool(self.owner) and self.owner[-1] in _CONTAINERS and "static" not in self.function.modifiers

    @cached_property
    def telling_parameters(self) -> list[str]:
        """The parameters that say what they are, as things, those first that are required."""
        wanted = sorted(self.parameters, key=lambda one: one.default is not None)
        words = [
            _words_of(one)
            for one in wanted
            if not _is_function(one)
            and one.name.strip("*&$@_.").lower() not in _CARRIED
            and not one.kind.startswith("var_")
        ]
        known = [one for one in words if one and (one[0] not in VERBS or one[0] in ALSO_NOUNS)]
        return list(filter(None, (noun_phrase(one, article="a") for one in known)))


def _is_function(parameter: Parameter) -> bool:
    is_named_so = parameter.name.lower().endswith(_CALLED) or parameter.name in _SHORT_CALLED
    return is_named_so or any(mark in (parameter.type or "") for mark in _CALLED_TYPES)


def _is_setting(name: str) -> bool:
    bare = name.strip("*&$@_.")
    return bare in _SETTING_NAMES or name_words(bare)[-1:] in _SETTING_WORDS


def _words_of(parameter: Parameter) -> tuple[str, ...]:
    name = parameter.name.strip("*&$@_.")
    words = name_words(name)
    if name.isidentifier() and name.lower().rstrip("0123456789") not in _EMPTY_NAMES and is_phrase(words):
        return words
    return type_words(parameter.type)[0]


IN_DOUBT = grammar_words("verbs_in_doubt")
# So many calls of a function are read.
_MOST_CALLS = 60
# What a called name that begins with the verb may be, too: `edit_user_path`.
_ADDRESSES = frozenset(("path", "url", "route"))
_CHANGING = frozenset(
    (one,) for one in ("set", "add", "remove", "delete", "update", "dispatch", "emit", "send", "save", "post", "put")
)
_BEFORE_STATEMENT = re.compile(r"(?:await|go|defer|try[!?]?|yield|co_await|do|then|else|\{|\|>|!)\s*")


def is_doubtful(base: str, evidence: NameEvidence) -> bool:
    """Whether a value comes back, and nothing shows that what the verb says is done."""
    if base not in IN_DOUBT or not evidence.gives_value or evidence.facts.writes:
        return False
    # `set_rows(rows)`; not `TransactionSetData()`, of which a prefix was left out.
    is_setter = base == "set" and evidence.parameters and name_words(evidence.function.name)[:1] == ("set",)
    return not (is_setter or is_called(base, evidence.function) or _acts(evidence.function))


def is_called(base: str, function: FunctionInput) -> bool:
    """Whether the function calls something whose name begins with the verb."""
    called = (name_words(one.names[-1]) for one in function.facts.calls[:_MOST_CALLS] if one.names)
    return any(words[:1] == (base,) and words[-1] not in _ADDRESSES for words in called)


def _acts(function: FunctionInput) -> bool:
    """Whether it makes a call that changes something, or whose result nobody takes."""
    lines, known = function.canonical_source.split("\n"), known_calls(function.language)
    returned = {one.line for one in function.facts.returned}
    for call in function.facts.calls[:_MOST_CALLS]:
        effect = known.effect_of(call) if known else ""
        if effect and effect_kinds()[effect].kind not in ("computes", "reads"):
            return True
        before = lines[call.line - 1].partition(call.text)[0] if call.text and call.line <= len(lines) else "="
        is_statement = not _BEFORE_STATEMENT.sub("", before.strip()) and call.line not in returned
        if is_statement or (call.names and name_words(call.names[-1])[:1] in _CHANGING):
            return True
    return False
