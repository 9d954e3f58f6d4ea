"""The clause of a class, by the agent noun, error, settings or enumeration that its name says it is."""

from collections.abc import Sequence

from codesum_pipeline.evidence.extractive.name_grammar import (
    ALSO_NOUNS,
    BASE_OF_THIRD,
    PREPOSITIONS,
    grammar_table,
    grammar_words,
    is_adjective,
    is_listed,
    is_phrase,
    is_plural,
    noun_phrase,
    pluralize,
    verb_at,
    with_a,
)
from codesum_pipeline.evidence.extractive.words import name_words, word_in_full
from codesum_pipeline.evidence.inputs import ClassInput

_AGENTS = {name.lower(): verb for name, verb in grammar_table("agents").items()}
_MADE_HOW = grammar_words("made_how")
_ERRORS = ("error", "exception", "err")
_FAULTS = grammar_words("faults")
_MISHAPS = grammar_words("mishaps")
_SETTINGS = grammar_table("settings")
_KINDS = grammar_table("kinds")
_STATES = ("status", "state", "phase")
_STAND_INS = frozenset(("test", "mock", "fake", "stub", "dummy", "null", "noop"))
_TEST_BASES = frozenset(("test", "tests", "case", "suite", "spec"))
# There the classes of tests are named so, whatever their methods are called.
_TESTS_BY_NAME = frozenset(("java", "kotlin", "c-sharp"))
# In the others an enumeration's values may hold further data.
_PLAIN_ENUMS = frozenset(("java", "kotlin", "c", "cpp", "c-sharp", "python", "typescript", "php"))
# How methods of a stand-in begin, which is no test.
_ACCESSORS = (("get",), ("set",), ("is",))
_MAKING = (("create",), ("make",), ("build",), ("new",), ("of",), ("produce",))
_TOOLS = frozenset(("helper", "handler", "manager", "service", "controller", "listener", "api", "utils", "client"))
_ENUM_BASES = frozenset(("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"))
_HEAD_WORDS = 6
_PLAIN_FORMATS = grammar_words("plain_formats")


def class_clause(class_: ClassInput, words: Sequence[str]) -> str:
    """One clause about a class; "" where its name says nothing certain."""
    if not words:
        return ""
    if holds_tests(class_, words):
        return _tests(words)
    if is_error(class_, words):
        return _signals(words)
    if is_enumeration(class_):
        return _lists(class_, words)
    if words[-1] in _AGENTS and words[0] not in _STAND_INS:
        return _acts(class_, words)
    if words[-1] in _SETTINGS:
        return _holds(words)
    return role_clause(class_, words)


def holds_tests(class_: ClassInput, words: Sequence[str]) -> bool:
    """Whether a class holds tests: its name says so, and a test in it, its base or its language confirms it."""
    own = [child.name.rpartition("::")[2].rpartition(".")[2] for child in class_.children]
    has_tests = any(name_words(name)[:1] == ("test",) for name in own if name != class_.name)
    extends_tests = any(_last_word(base) in _TEST_BASES for base in class_.bases)
    if words[0] in ("test", "tests"):
        return (has_tests or extends_tests) and class_.language != "elixir"
    is_usual = class_.language in _TESTS_BY_NAME and any(name_words(name)[:1] not in _ACCESSORS for name in own)
    return words[-1] in ("test", "tests", "spec") and (has_tests or extends_tests or is_usual)


def is_error(class_: ClassInput, words: Sequence[str]) -> bool:
    is_raised = any(_last_word(base) in (*_ERRORS, "throwable") for base in class_.bases)
    return is_raised or (words[-1] in _ERRORS and len(words) > 1)


def is_enumeration(class_: ClassInput) -> bool:
    head = [*class_.modifiers, *class_.signature.replace("(", " ").replace("{", " ").split()[:_HEAD_WORDS]]
    extends_one = class_.language == "python" and any(base.rpartition(".")[2] in _ENUM_BASES for base in class_.bases)
    return "enum" in head or extends_one


def _last_word(base: str) -> str:
    """The last word of a base: `case` of `unittest.TestCase`, `error` of `Foo::Error`."""
    return next(iter(name_words(base.partition("(")[0].partition("[")[0].partition("<")[0])[-1:]), "")


def _tests(words: Sequence[str]) -> str:
    rest = words[1:] if words[0] in ("test", "tests") else words[:-1]
    rest = rest[:-1] if rest[-1:] in (("test",), ("tests",), ("case",)) else rest
    is_thing = rest[-1:] and (rest[-1] in _AGENTS or rest[-1] in _TOOLS)
    phrase = noun_phrase(rest) or ("" if is_thing else action_phrase(rest, form="ing"))
    return f"tests {phrase}" if phrase else ""


def _signals(words: Sequence[str]) -> str:
    """What an error says happened: `UserNotFound`, `InvalidTokenError`, `ParseError`."""
    rest = words[:-1] if words[-1] in _ERRORS else words
    if not rest:
        return ""
    if (is_adjective(rest[-1]) and rest[-1].endswith("ed")) or rest[-1] == "found":
        return _signals_that(rest)
    if rest[0] in _FAULTS or rest[-1] in _MISHAPS:
        phrase = noun_phrase(rest, article="a")
    else:
        phrase = "" if rest is words else noun_phrase((*rest, "error"), article="a")
    return f"signals {phrase}" if phrase else ""


def _signals_that(words: Sequence[str]) -> str:
    is_not = len(words) > 1 and words[-2] == "not"
    named = words[: -2 if is_not else -1]
    phrase = noun_phrase(named, article="a")
    was = "were" if named and is_plural(named[-1]) else "was"
    return f"signals that {phrase} {was} {'not ' if is_not else ''}{words[-1]}" if phrase else ""


def _lists(class_: ClassInput, words: Sequence[str]) -> str:
    """An enumeration: `TokenKind` lists the kinds of tokens, `Color` the possible colors."""
    words = words[:-1] if words[-1] == "enum" and len(words) > 1 else words
    if words[-1] in _KINDS and len(words) > 1:
        phrase = noun_phrase(words[:-1], article="a")
        many = spoken_many(words[:-1])
        return f"lists the {_KINDS[words[-1]]} of {phrase if words[-1] in _STATES else many}" if phrase else ""
    is_plain = class_.language in _PLAIN_ENUMS and verb_at(words, len(words) - 1) is None
    return f"lists the possible {spoken_many(words)}" if is_plain and is_phrase(words) else ""


def spoken_many(words: Sequence[str]) -> str:
    return " ".join(map(word_in_full, (*words[:-1], pluralize(words[-1]))))


def _acts(class_: ClassInput, words: Sequence[str]) -> str:
    """An agent: `TokenParser` parses tokens, if a member confirms that it is about tokens."""
    rest = tuple(word for word in words[:-1] if word not in _MADE_HOW)
    if not rest or len(rest) > 2 or not is_phrase(rest) or rest[-1].endswith("ing"):
        return ""
    names = [child.name.rpartition("::")[2] for child in class_.children]
    members = {word for name in names if name != class_.name for word in name_words(name)[-1:]}
    base = BASE_OF_THIRD.get(_AGENTS[words[-1]].partition(" ")[0], "")
    does_so = any(name_words(name)[:1] == (base,) for name in names)
    if _AGENTS[words[-1]] == "creates" and not any(name_words(name)[:1] in _MAKING for name in names):
        return ""
    is_confirmed = does_so or rest[-1] in _PLAIN_FORMATS or not members.isdisjoint((rest[-1], pluralize(rest[-1])))
    return f"{_AGENTS[words[-1]]} {spoken_many(rest)}" if is_confirmed else ""


def _holds(words: Sequence[str]) -> str:
    """Settings: `ServerConfig` holds the settings of the server, `ParseOptions` the options of parsing."""
    rest, kind = words[:-1], _SETTINGS[words[-1]]
    verb = verb_at(rest)
    if verb and len(rest) == 1:
        return f"holds the {kind} of {verb.ing}" if kind != "properties" else ""
    phrase = action_phrase(rest, form="ing") or noun_phrase(rest)
    return f"holds the {kind} of {phrase}" if phrase else ""


_BRING_IN = grammar_words("bring_in")
_FRAMEWORK_CONTROLLERS = grammar_words("framework_controllers")
_ROLES = grammar_words("roles")
_ASKING = frozenset(("command", "request", "query"))
_RUNNING = frozenset(("execute", "run", "handle", "call", "invoke", "perform", "configure", "process", "main"))
_ACCESS = frozenset(("repository", "dao"))
# There a controller answers requests; elsewhere it may control anything.
_WEB = frozenset(("php", "ruby", "elixir", "c-sharp", "scala"))
# Controllers of these do something, and are about nothing.
_ACTIONS = frozenset(("create", "update", "delete", "list", "add", "remove", "destroy", "show", "edit"))


def role_clause(class_: ClassInput, words: Sequence[str]) -> str:
    """What a class of such a role does; "" of others."""
    if "migration" in {_last_word(base) for base in class_.bases} and words[-1] != "migration":
        # One that may begin with a noun does not say what it does: `TagModerationLog`.
        verb = verb_at(words)
        action = action_phrase(words) if verb and verb.base not in ALSO_NOUNS else ""
        return f"is a migration that {action}" if action else ""
    head, rest = words[-1], words[:-1]
    if not rest:
        return ""
    if head == "controller":
        return _controller(class_, rest)
    if head in _ACCESS and is_phrase(rest):
        return f"gives access to {spoken_many(rest)}"
    return _role(class_, head, rest) if head in _ROLES else ""


def action_phrase(words: Sequence[str], *, form: str = "third") -> str:
    """`AddIndexToPosts` as "adds an index to posts"; `form` is one of the forms of a verb."""
    verb = verb_at(words)
    if verb is None or (verb.base in ALSO_NOUNS and len(words) < _MIN_SURE and not is_plural(words[-1])):
        return ""
    rest = words[verb.length :]
    cut = next((place for place, word in enumerate(rest) if word in PREPOSITIONS), len(rest))
    phrase = noun_phrase(rest[:cut], article="a" if verb.base in _BRING_IN or form != "third" else "the")
    part = noun_phrase(rest[cut + 1 :]) if rest[cut:] else ""
    if not phrase or (rest[cut:] and not part):
        return ""
    return " ".join(filter(None, (getattr(verb, form), phrase, *rest[cut : cut + 1], part)))


_MIN_SURE = 3


def _controller(class_: ClassInput, words: Sequence[str]) -> str:
    if (verb := verb_at(words)) and words[1:]:
        own = {name_words(child.name.rpartition("::")[2])[:1] for child in class_.children}
        is_sure = class_.language in _WEB and bool(own & {(verb.base,), ("invoke",), ("call",)})
        action = action_phrase(words, form="said") if is_sure else ""
        return f"answers requests to {action}" if action else ""
    is_told = words[-1] not in _FRAMEWORK_CONTROLLERS | _ACTIONS
    is_sure = class_.language in _WEB and is_told and is_phrase(words) and is_listed(words[-1])
    return f"answers requests about {spoken_many(words)}" if is_sure else ""


def _role(class_: ClassInput, head: str, words: Sequence[str]) -> str:
    """A command, task or dialog that its name says the action of."""
    own = {child.name.rpartition("::")[2].rpartition(".")[2] for child in class_.children}
    only_holds = own <= {class_.name, "constructor", "__init__", "init"}
    if head == "request" or (only_holds and head in _ASKING and class_.fields):
        asked = action_phrase(words, form="said")
        return f"asks to {asked}" if asked else ""
    is_run = any(name_words(name)[:1] and name_words(name)[0] in _RUNNING for name in own)
    is_sure = is_run or any(_last_word(base) == head for base in class_.bases)
    action = action_phrase(words) if is_sure else ""
    return f"is {with_a(head)} that {action}" if action else ""
