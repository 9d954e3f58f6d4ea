"""The functions that a decorator registers under a text: `@app.route("/pay")`.

Who uses the registering object, or runs the function around, may run them all. A test runs one only if its text is
written on the way to the test.
"""

import re
from collections.abc import Callable
from functools import cached_property

from msgspec import Struct

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.ways_in.agent_tools.document_tree import NOTHING, JoinedDocuments
from codesum_pipeline.ways_in.agent_tools.held_values import HeldValues
from codesum_pipeline.ways_in.agent_tools.mentioned_names import MentionedNames

# The first argument of a decorator, up to a parameter in it: `/pay/` of `@app.route("/pay/<int:order>")`.
_REGISTERED = re.compile(r"(?m)^[ \t]*@[\w.]+\.\w+\(\s*['\"]([^'\"<{]+)")
# Texts with fewer letters stand for anything: `/`.
SHORTEST_TEXT = 3


class RegisteredFunctions(Struct, eq=False, dict=True):
    """Who runs functions by the texts under which they are registered; `is_test` says what a framework runs."""

    documents: JoinedDocuments
    held: HeldValues
    names: MentionedNames
    is_test: Callable[[int], bool]

    def users_by_text(self, number: int) -> frozenset[int]:
        """Who runs a function only by the text under which it is registered; nobody where it has none, or no test
        writes it, so that the text may be put together."""
        if number not in self._users:
            text = self._text(number)
            is_known = text and any(
                self.is_test(one) and self.writes_text(one, number) for one in self.names.with_text(text)
            )
            owner = int(self.documents.parents[number])
            users = {owner, *self.held.users_of_registrars(number)} if is_known else set()
            self._users[number] = frozenset(users - {NOTHING})
        return self._users[number]

    def writes_text(self, user: int, registered: int) -> bool:
        """Whether a document writes the text of a registered function, or its file does so outside of definitions. What
        is around the function does not count: it has the decorator."""
        if self.documents[registered].id.startswith(f"{self.documents[user].id}{SEPARATOR}"):
            return False
        writing = self.names.with_text(self._text(registered))
        return user in writing or int(self.documents.files[user]) in writing

    def _text(self, number: int) -> str:
        if self.documents[number].level is not Level.FUNCTION:
            return ""
        match = _REGISTERED.search("\n".join(self.held.decorators(number)))
        return match[1] if match and len(re.sub(r"\W", "", match[1])) >= SHORTEST_TEXT else ""

    @cached_property
    def _users(self) -> dict[int, frozenset[int]]:
        return {}
