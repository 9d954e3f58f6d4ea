"""The standing questions that a home knows: `intents.yaml`.

```yaml
intents:
  billing:
    text: Anything that changes what a customer is billed
    repositories: ["shop-*", payments]     # globs over keys; default: all
    threshold: 0.8                         # or top_k: 10
    schedule: {every: weekly, on: monday, at: "07:00", timezone: Europe/Berlin}
    system: default                        # templates of the kinds digest_system and digest_instruction
    instruction: default
    language: German
    channels: [team]
    enabled: true
```
"""

import difflib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import yaml
from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.standing_question import DEFAULT_TEMPLATE, Intent
from codesum_pipeline.foundation.store.atomic import write_text_atomically
from codesum_pipeline.foundation.store.layout import WHOLE_FOLDER, LocalFiles
from codesum_pipeline.foundation.store.locks import lock_exclusively
from codesum_pipeline.notifications.intents.intent_entries import (
    Problems,
    WrittenEntry,
    read_written,
    with_entry,
    with_field,
    without_entry,
)
from codesum_pipeline.notifications.intents.intent_fields import FieldProblem, fields_of, intent_of
from codesum_pipeline.source.git.git_addresses import with_shown_locations


class IntentSurvey(Struct, frozen=True):
    """The content of a file of intents: those that can be used, disabled ones too, and why the others cannot."""

    intents: tuple[Intent, ...]
    problems: Mapping[str, ConfigurationError]

    def named(self, name: str) -> Intent:
        """One intent; raises `ConfigurationError`: what is wrong with it, or the nearest name."""
        if name in self.problems:
            raise self.problems[name]
        found = next((intent for intent in self.intents if intent.name == name), None)
        if found is None:
            raise _unknown(name, [intent.name for intent in self.intents])
        return found


class Intents(Struct, frozen=True):
    """Reads and writes one `intents.yaml`, which is one of the home's `files`; a missing file has no entries.

    Changes keep the rest of the file as it is, comments too. Of two processes that change it at once, one
    waits for the other.
    """

    file: Path
    files: LocalFiles = WHOLE_FOLDER

    def survey(self) -> IntentSurvey:
        """Every entry on its own, by name: one that cannot be does not stop the others.

        Raises `ConfigurationError` if the file as a whole cannot be read.
        """
        written = read_written(self.file)
        intents: list[Intent] = []
        problems: Problems = dict(written.problems)
        by_name: dict[str, list[WrittenEntry]] = {}
        for entry in written.entries:
            by_name.setdefault(entry.name, []).append(entry)
        for entries in by_name.values():
            try:
                intents.append(self._intent(entries))
            except ConfigurationError as error:
                problems.setdefault(entries[0].name, error)
        usable = (intent for intent in intents if intent.name not in problems)
        return IntentSurvey(tuple(sorted(usable, key=lambda intent: intent.name)), dict(sorted(problems.items())))

    def get(self, name: str) -> Intent:
        """One intent; raises `ConfigurationError`: what is wrong with it, or the nearest name."""
        return self.survey().named(name)

    def add(self, intent: Intent, *, check: Callable[[Intent], None] = lambda _intent: None) -> Intent:
        """Write a new entry. `check` may refuse it; nobody else changes the file meanwhile.

        Raises `ConfigurationError` for a name that is taken and fields that cannot be.
        """
        try:
            written = intent_of(intent.name, fields_of(intent))
        except FieldProblem as error:
            raise ConfigurationError(f"{intent.name!r}: {error}") from error

        def put_in() -> Intent:
            with self.locked():
                taken = next((entry for entry in read_written(self.file).entries if entry.name == written.name), None)
                if taken is not None:
                    raise ConfigurationError(
                        f"{self.file.name}:{taken.line}: {written.name!r} is an intent already: change it there, or "
                        "choose another name"
                    )
                check(written)
                self._change(lambda text: with_entry(text, written.name, fields_of(written)))
            return written

        return self.files.edit(self.file, put_in)

    def remove(self, name: str) -> None:
        """Take an entry out, also one that cannot be used; raises `ConfigurationError` with the nearest name."""

        def take_out() -> None:
            if not self.file.exists():
                raise _unknown(name, [])
            with self.locked():
                names = [entry.name for entry in read_written(self.file).entries]
                if name not in names:
                    raise _unknown(name, names)
                self._change(lambda text: without_entry(text, name))

        self.files.edit(self.file, take_out)

    def users_of_template(self, field: str, template: str) -> list[str]:
        """The names of all entries whose `field` (system, instruction) is this template: broken and disabled ones too.

        Raises `ConfigurationError` if a part of the file cannot be read.
        """
        written = read_written(self.file)
        if written.problems:
            raise next(iter(written.problems.values()))
        nodes = [(entry.name, entry.field(field)) for entry in written.entries]
        return sorted({name for name, node in nodes if (node.value if node else DEFAULT_TEMPLATE) == template})

    def rename_template(self, field: str, old: str, new: str) -> list[str]:
        """Have every entry that uses a template use another one, in one write; the names of these entries.

        Within `locked()`. Raises `ConfigurationError` if a part of the file cannot be read.
        """
        users = self.users_of_template(field, old)
        if users:
            self._change(lambda text: with_field(text, users, field, new))
        return users

    @contextmanager
    def locked(self) -> Iterator[None]:
        """A lock: nobody else changes the file between reading and writing."""
        with lock_exclusively(self.file.with_name(f".{self.file.name}.lock")):
            yield

    def _change(self, edit: Callable[[str], str]) -> None:
        text = read_written(self.file).text
        try:
            changed = edit(text)
        except ConfigurationError as error:
            raise ConfigurationError(f"{self.file.name} is not changed while it is broken: {error}") from error
        # What a link leads to is changed, not the link.
        write_text_atomically(self.file.resolve(), changed)

    def _intent(self, entries: list[WrittenEntry]) -> Intent:
        """The intent of all entries of one name."""
        entry, *others = entries
        if others:
            lines = " and ".join(str(each.line) for each in entries)
            raise self._error(entry, f"occurs twice, in lines {lines}: rename or remove one")
        try:
            for field in entry.field_names:
                if len(numbers := entry.lines_of(field)) > 1:
                    raise FieldProblem(f"{field!r} occurs twice, in lines {numbers[0]} and {numbers[1]}: remove one")
            return intent_of(entry.name, entry.plain())
        except FieldProblem as error:
            raise self._error(entry, str(error), path=error.path) from error
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            problem = with_shown_locations(str(getattr(error, "problem", None) or error))
            raise self._error(entry, f"cannot be read: {problem}") from error

    def _error(self, entry: WrittenEntry, problem: str, *, path: tuple[str, ...] = ()) -> ConfigurationError:
        line = entry.lines_of(path[0])[0] if path else entry.line
        return ConfigurationError(f"{self.file.name}:{line}: {entry.name!r}: {problem}")


def _unknown(name: str, names: list[str]) -> ConfigurationError:
    near = difflib.get_close_matches(name.lower(), [known.lower() for known in names], n=1)
    if near:
        hint = f"the nearest is {next(known for known in names if known.lower() == near[0])!r}"
    else:
        hint = "`codesum intent list` lists them" if names else "`codesum intent add` adds one"
    return ConfigurationError(f"no intent {name!r}; {hint}")
