"""The functions that a decorator registers under a text: `@app.route("/pay")`.

Who uses the registering object, or runs the function around, may run them all. A test runs one only if its text, or
its name as a text, is written on the way to the test.
"""

import re
from collections.abc import Callable

from msgspec import Struct, field

from codesum_pipeline.answers.agent_tools.document_tree import NOTHING, JoinedDocuments
from codesum_pipeline.answers.agent_tools.held_values import HeldValues
from codesum_pipeline.answers.agent_tools.mentioned_names import MentionedNames
from codesum_pipeline.answers.agent_tools.registrar_users import RegistrarUsers
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, own_name

# The object of a decorator, and its first argument up to a parameter: `/pay/` of `@app.route("/pay/<int:order>")`.
_REGISTERED = re.compile(r"(?m)^[ \t]*@(\w+)(?:\.\w+)+\(\s*['\"]([^'\"<{]+)")
# Texts with fewer letters stand for anything: `/`.
SHORTEST_TEXT = 3


class RegisteredFunctions(Struct, eq=False):
    """Who runs functions by the texts under which they are registered; `is_test` says what a framework runs."""

    documents: JoinedDocuments
    held: HeldValues
    registrars: RegistrarUsers
    names: MentionedNames
    is_test: Callable[[int], bool]
    _texts: dict[int, str] = field(default_factory=dict)
    _users: dict[int, frozenset[int]] = field(default_factory=dict)

    def users_by_text(self, number: int) -> frozenset[int]:
        """Who runs a function only by the text under which it is registered; nobody where it has none, or no test
        writes it, so that the text may be put together."""
        if number not in self._users:
            text = self._text(number)
            is_known = text and any(
                self.is_test(one) and self.writes_text(one, number) for one in self.names.with_text(text)
            )
            owner = int(self.documents.parents[number])
            users = {owner, *self.registrars.of(number)} if is_known else set()
            self._users[number] = frozenset(users - {NOTHING})
        return self._users[number]

    def writes_text(self, user: int, registered: int) -> bool:
        """Whether a document writes the text of a registered function, or its name as a text (`url_for("pay")`), or its
        file does so outside of definitions. What is around the function does not count: it has the decorator."""
        if self.documents[registered].id.startswith(f"{self.documents[user].id}{SEPARATOR}"):
            return False
        writing = self.names.with_text(self._text(registered))
        naming = self.names.with_quoted(own_name(self.documents[registered].id))
        return any(one in writing or one in naming for one in (user, int(self.documents.files[user])))

    def _text(self, number: int) -> str:
        """The text of the first decorator that has one and is of an object of the repository: `@click.option("--name")`
        registers nothing."""
        if number not in self._texts:
            is_function = self.documents[number].level is Level.FUNCTION
            decorators = "\n".join(self.held.decorators(number)) if is_function else ""
            file = int(self.documents.files[number])
            texts = (
                match[2] for match in _REGISTERED.finditer(decorators)
                if not self.registrars.is_from_outside(file, match[1])
            )  # fmt: skip
            text = next(texts, "")
            self._texts[number] = text if len(re.sub(r"\W", "", text)) >= SHORTEST_TEXT else ""
        return self._texts[number]
