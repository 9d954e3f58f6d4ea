"""Functions and classes as a name's reader sees them, from a few words."""

from collections.abc import Sequence
from dataclasses import dataclass

from codesum_pipeline.evidence.extractive.name_clauses import clause_of_class, clause_of_function
from codesum_pipeline.evidence.inputs import ChildText, ClassInput, FunctionInput
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.symbol import Fact, Form, Parameter, SymbolFacts

# What a body may do: it does something and gives something back, or nothing, or gives back what is there.
GIVES = SymbolFacts(
    returned=(Fact("made()", 2, ("made",), Form.CALL),), calls=(Fact("made()", 2, ("made",), Form.CALL),)
)
ACTS = SymbolFacts(calls=(Fact("act()", 2, ("act",), Form.CALL),))
ANSWERS = SymbolFacts(returned=(Fact("True", 2, (), Form.TRUTH),), calls=ACTS.calls)
READS = SymbolFacts(returned=(Fact("self.x", 2, ("self", "x"), Form.NAME),))


@dataclass(frozen=True)
class Written:
    """A function as it is written: its name, what it takes and gives, and where it is."""

    name: str
    takes: str = ""
    gives: str = ""
    owner: str = ""
    language: str = "python"
    body: SymbolFacts = ACTS
    modifiers: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()

    def clause(self) -> str:
        parameters = [one.strip().partition(": ") for one in self.takes.split(",") if one.strip()]
        facts = SymbolFacts(
            parameters=tuple(Parameter(name, kind or None, None, "positional") for name, _, kind in parameters),
            return_type=self.gives or None,
            returned=self.body.returned,
            calls=self.body.calls,
        )
        path = f"{self.owner}.{self.name}" if self.owner else self.name
        function = FunctionInput(
            f"src/a.x::{path.replace('.', '::')}", path, self.name, self.language, "", f"{self.name}({self.takes})",
            None, self.modifiers, 3, 5, facts,
        )  # fmt: skip
        return clause_of_function(function, self.prefix)


def class_clause(
    name: str,
    *,
    bases: str = "",
    members: str = "",
    head: str = "class",
    language: str = "python",
    fields: Sequence[str] = (),
) -> str:
    children = tuple(
        ChildText(f"a::{name}::{one}", f"{name}::{one}", Level.FUNCTION, "", False) for one in members.split()
    )
    signature = head if "=" in head else f"{head} {name}"
    return clause_of_class(
        ClassInput(
            f"a::{name}", name, name, language, signature, None, tuple(bases.split()), (), tuple(fields), children
        )
    )
