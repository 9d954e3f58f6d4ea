"""The repositories that a home knows: `repos.yaml`.

```yaml
repositories:
  flask:
    url: https://github.com/pallets/flask.git    # or `path:`, relative to this file
    ref: main                                    # branch, tag or commit; default: the remote's HEAD
    subdir: src/flask
    include: ["*.py"]
    exclude: ["docs/"]
    encodings: ["legacy/*.c = cp1250"]           # more than the setting of this name, which is for all
    worktree: false                              # read the folder as it is, committed or not
    submodules: false                            # index submodules, too, each at its pinned commit
    enabled: true
    scip: [build/index.scip]                     # see `source/git/locations.py`
    scip_command: scip-python index .            # run in a sandbox; what it writes is read as such an index
organisations:                                   # see `source/repositories/organisations.py`
  github:acme: {}
```
"""

import difflib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, TypeVar

import yaml
from msgspec import Struct, to_builtins
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, ValidationError

from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, InvalidKey, UnknownRepository
from codesum_pipeline.foundation.data_model.ids import check_repository_key
from codesum_pipeline.foundation.data_model.printable import plain_reason, shorten_text
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.store.atomic import FileState, write_text_atomically
from codesum_pipeline.foundation.store.layout import WHOLE_FOLDER, LocalFiles
from codesum_pipeline.foundation.store.locks import lock_exclusively
from codesum_pipeline.source.git.git_addresses import named_location, shown_location, with_shown_locations
from codesum_pipeline.source.git.locations import check_command, free_key, full_place, is_url, key_base, parse_location
from codesum_pipeline.source.git.remote import check_ref
from codesum_pipeline.source.repositories.organisations import Organisation, organisation_fields, organisation_of
from codesum_pipeline.source.repositories.plain_yaml import read_plain_yaml
from codesum_pipeline.source.repositories.surveys import Survey, SurveyMemory

_ROOT = "repositories"
_ORGANISATIONS = "organisations"
# As the file has them: a key or an entry that cannot be is found when it is looked at.
RawEntries = dict[Any, Any]
# The whole file: both of its mappings, which a change may alter in place.
RawFile = dict[str, RawEntries]
Changed = TypeVar("Changed")
# What stands there in another form than one text may hold a password.
_LOCATION_FIELDS = ("path", "url")
# A wrong value is shown as far as a person needs to find it.
_SHOWN_VALUE = 100
REGISTER_IT = "; register it with `codesum add`"


class _RetirementData(BaseModel):
    """Since when and why an entry is retired."""

    model_config = ConfigDict(extra="forbid", strict=True)

    at: str
    why: str


class _EntryData(BaseModel):
    """An entry as it is written."""

    model_config = ConfigDict(extra="forbid", strict=True)

    path: str | None = None
    url: str | None = None
    ref: str | None = None
    subdir: str = ""
    include: list[str] = []
    exclude: list[str] = []
    worktree: bool = False
    submodules: bool = False
    enabled: bool = True
    organisation: str | None = None
    host_id: str | None = None
    retired: _RetirementData | None = None
    scip: list[str] = []
    scip_command: str = ""
    encodings: list[str] = []


# What all registries of this process remember.
_OF_THIS_PROCESS = SurveyMemory()


class Registry(Struct, frozen=True):
    """Reads and writes one `repos.yaml`, which is one of the home's `files`; a missing file has no entries.

    Hosts in `over_http` may have http addresses. `memory` has what was read before.
    """

    file: Path
    files: LocalFiles = WHOLE_FOLDER
    memory: SurveyMemory = _OF_THIS_PROCESS
    over_http: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: Settings, files: LocalFiles = WHOLE_FOLDER) -> "Registry":
        """The registry of a home."""
        return cls(settings.repos_file, files, over_http=settings.hosts.over_http)

    def survey(self) -> Survey:
        """Every entry on its own: one that cannot be does not stop the others.

        A file that is still the one that was read is not read again.
        Raises `ConfigurationError` if the file as a whole cannot be read.
        """
        read_as, state, begun_at = (self.file.absolute(), self.over_http), FileState.of(self.file), time.monotonic()
        if known := self.memory.find(read_as, state):
            return known
        survey = self._survey(self._read_file()[_ROOT])
        if state:
            self.memory.keep(read_as, state, survey, begun_at=begun_at)
        return survey

    def _survey(self, raw: RawEntries) -> Survey:
        entries: list[RepositoryEntry] = []
        problems: dict[str, ConfigurationError] = {}
        first_spellings = _first_spellings(raw)
        for key in sorted(raw, key=str):
            try:
                entries.append(self._entry(raw, key, first_spellings))
            except ConfigurationError as error:
                problems[str(key)] = error
        return Survey(tuple(entries), problems, {entry.key: entry for entry in entries})

    def entries(self) -> list[RepositoryEntry]:
        """The entries of `survey` without its problems."""
        return list(self.survey().entries)

    def get(self, key: str) -> RepositoryEntry:
        """One entry; raises `UnknownRepository` naming the nearest key, `ConfigurationError` naming the wrong field."""
        return self.survey().by_key.get(key) or self._known(self._read_file()[_ROOT], key)

    def find(self, location: str, *, subdir: str = "") -> RepositoryEntry | None:
        """The first entry, by key, of a location and folder."""
        same = (entry for entry in self.entries() if (entry.location, entry.subdir) == (location, subdir))
        return next(same, None)

    def default_key(self, location: str, *, subdir: str = "", taken: Iterable[str] = ()) -> str:
        """A free key made from a location, none of `taken`; the key that the same location and folder already have."""
        if known := self.find(location, subdir=subdir):
            return known.key
        survey = self.survey()
        keys = {key.lower() for key in (*survey.by_key, *survey.problems, *taken)}
        return free_key(key_base(location, subdir=subdir), keys)

    def add(self, entry: RepositoryEntry) -> RepositoryEntry:
        """Register an entry; one of the same key, location and folder is replaced (and enabled again).

        One that was retired is kept by hand from then on. Raises `ConfigurationError` for a key that another
        repository has, a path that does not exist and fields that cannot be.
        """
        (written,) = self.add_all([entry])
        if isinstance(written, ConfigurationError):
            raise written
        return written

    def add_all(self, entries: Sequence[RepositoryEntry]) -> list[RepositoryEntry | ConfigurationError]:
        """Register entries as `add` does, and write the file once; the error of one that cannot be is in its place."""

        def change(content: RawFile) -> list[RepositoryEntry | ConfigurationError]:
            outcomes: list[RepositoryEntry | ConfigurationError] = []
            for entry in entries:
                try:
                    outcomes.append(self._put(content[_ROOT], entry))
                except ConfigurationError as error:
                    outcomes.append(error)
            return outcomes

        return self._edit(change)

    def _put(self, raw: RawEntries, entry: RepositoryEntry) -> RepositoryEntry:
        if entry.enabled and entry.retired:
            entry = replace(entry, retired=None, organisation=None)
        written = self._checked(check_repository_key(entry.key), _to_raw(entry))
        if not is_url(written.location) and not Path(written.location).is_dir():
            raise self._error(entry.key, f"path {written.location} does not exist or is not a folder")
        for key in raw:
            if str(key).lower() == entry.key.lower():
                known = self._entry(raw, key)
                if (known.key, known.location, known.subdir) != (written.key, written.location, written.subdir):
                    owner = f"{shown_location(known.location)} ({known.key!r})"
                    raise self._error(entry.key, f"the key belongs to {owner}: choose another with --key")
        raw[entry.key] = _to_raw(written)
        return written

    def remove(self, key: str) -> RepositoryEntry:
        """Disable an entry: it stays listed, and what was built of it stays."""

        def change(content: RawFile) -> RepositoryEntry:
            raw = content[_ROOT]
            self._known(raw, key)
            raw[key]["enabled"] = False
            # By hand: the organisation does not put it back.
            raw[key].pop("retired", None)
            return self._entry(raw, key)

        return self._edit(change)

    def purge(self, key: str) -> None:
        """Take an entry out, also one that cannot be used; raises `UnknownRepository`."""

        def change(content: RawFile) -> None:
            if key not in content[_ROOT]:
                self._known(content[_ROOT], key)
            del content[_ROOT][key]

        self._edit(change)

    def revise(
        self, change: Callable[[Sequence[RepositoryEntry], frozenset[str]], Iterable[RepositoryEntry]]
    ) -> list[RepositoryEntry]:
        """Write the entries that `change` makes of those that are there, and of all keys in small letters; at once.

        It may be called more than once.
        """

        def revised(content: RawFile) -> list[RepositoryEntry]:
            raw = content[_ROOT]
            taken = frozenset(str(key).lower() for key in raw)
            made = list(change(self._survey(raw).entries, taken))
            raw.update({entry.key: _to_raw(self._checked(entry.key, _to_raw(entry))) for entry in made})
            return made

        return self._edit(revised)

    def organisations(self) -> list[Organisation]:
        """The organisations whose repositories are registered; raises `ConfigurationError` naming the wrong field."""
        raw = self._read_file()[_ORGANISATIONS]
        return [self._organisation(name, raw[name]) for name in sorted(raw, key=str)]

    def add_organisation(self, organisation: Organisation) -> Organisation:
        """Register an organisation, in place of one of the same name. Its repositories come with the next sync."""
        written = self._organisation(organisation.name, organisation_fields(organisation))
        self._edit(lambda content: content[_ORGANISATIONS].update({written.name: organisation_fields(written)}))
        return written

    def remove_organisation(self, name: str) -> list[RepositoryEntry]:
        """Take an organisation out; its repositories stay registered by hand, as they are. Returns these."""

        def change(content: RawFile) -> list[RepositoryEntry]:
            if name not in content[_ORGANISATIONS]:
                known = ", ".join(map(str, content[_ORGANISATIONS])) or "there is none"
                raise ConfigurationError(f"{self.file.name}: no organisation {name!r}; registered: {known}")
            del content[_ORGANISATIONS][name]
            raw = content[_ROOT]
            remaining = [entry for entry in self._survey(raw).entries if entry.organisation == name]
            for entry in remaining:
                del raw[entry.key]["organisation"]
            return remaining

        return self._edit(change)

    def _edit(self, change: Callable[[RawFile], Changed]) -> Changed:
        """Read the file, change what it says and write it: the only way in which it is changed.

        Nobody else writes in between, and what changes nothing writes nothing. Where the file is in a bucket, the
        newest text is edited.
        """

        def write() -> Changed:
            before = self._read_file()
            content = deepcopy(before)
            changed = change(content)
            if content != before:
                sections = (_ORGANISATIONS, _ROOT) if content[_ORGANISATIONS] else (_ROOT,)
                ordered = {
                    name: dict(sorted(content[name].items(), key=lambda item: str(item[0]))) for name in sections
                }
                text = yaml.safe_dump(ordered, sort_keys=False, allow_unicode=True)
                write_text_atomically(self.file, text)
            return changed

        with lock_exclusively(self.file.with_name(f".{self.file.name}.lock")):
            return self.files.edit(self.file, write)

    def _organisation(self, name: Any, fields: Any) -> Organisation:
        try:
            return organisation_of(name, fields)
        except ConfigurationError as error:
            raise self._error(str(name), str(error)) from error

    def _read_file(self) -> RawFile:
        content = read_plain_yaml(self.file) if self.file.exists() else None
        content = {} if content is None else content
        if not isinstance(content, dict):
            raise ConfigurationError(f"{self.file}: expected a mapping with the key {_ROOT!r}")
        for name in content.keys() - {_ROOT, _ORGANISATIONS}:
            raise ConfigurationError(
                f"{self.file}: unknown key {name!r}; the only ones are {_ROOT!r} and {_ORGANISATIONS!r}"
            )
        for name in (_ROOT, _ORGANISATIONS):
            content[name] = content.get(name) or {}
            if not isinstance(content[name], dict):
                raise ConfigurationError(f"{self.file}: {name!r} is a mapping of keys to entries")
        return content

    def _known(self, raw: RawEntries, key: str) -> RepositoryEntry:
        if key in raw:
            return self._entry(raw, key)
        by_lower_case = {str(known).lower(): str(known) for known in raw}
        hint = "; `codesum repos` lists them" if raw else REGISTER_IT
        if near := difflib.get_close_matches(key.lower(), by_lower_case, n=1):
            hint = f"; the nearest is {by_lower_case[near[0]]!r}"
        raise UnknownRepository(f"{self.file.name}: no repository {shown_location(key)!r}{hint}")

    def _entry(self, raw: RawEntries, key: Any, first_spellings: Mapping[str, Any] | None = None) -> RepositoryEntry:
        """One entry of the file, whose key may not be one and must not be another's in other letters."""
        if not isinstance(key, str):
            raise ConfigurationError(f"{self.file.name}: key {key!r} is not text: put it in quotes")
        try:
            check_repository_key(key)
        except InvalidKey as error:
            raise InvalidKey(f"{self.file.name}: {error}") from error
        first = (first_spellings or _first_spellings(raw))[key.lower()]
        if first != key:
            raise self._error(key, f"differs from {first!r} in case alone: rename one")
        if not isinstance(raw[key], dict):
            raise self._error(key, "has no fields: give it a path or a url")
        return self._checked(key, raw[key])

    def _checked(self, key: str, fields: dict[str, Any]) -> RepositoryEntry:
        try:
            data = _EntryData.model_validate(fields)
        except ValidationError as error:
            raise self._error(key, _explain(error)) from None
        if (data.path is None) == (data.url is None):
            raise self._error(key, "give either a path or a url")
        if data.worktree and (data.ref is not None or data.url is not None):
            raise self._error(key, "worktree reads a folder as it is: it goes with a path and without a ref")
        try:
            folder = self.file.absolute().parent
            location = parse_location(data.path or data.url or "", base=folder, over_http=self.over_http)
            ref = data.ref if data.ref is None else check_ref(data.ref)
            base = folder if is_url(location) else Path(location)
            scip = tuple(full_place(item, base=base) for item in data.scip)
            check_command(data.scip_command)
        except ConfigurationError as error:
            raise self._error(key, str(error)) from error
        if data.path is not None and is_url(location):
            raise self._error(key, f"path: {named_location(data.path)} is a URL: name it url")
        if data.url is not None and not is_url(location) and not data.url.startswith("file:"):
            raise self._error(key, f"url: {named_location(data.url)} is a path: name it path")
        parts = [part for part in data.subdir.split("/") if part not in ("", ".")]
        if ".." in parts or data.subdir.startswith("/"):
            raise self._error(key, f"subdir {data.subdir!r} is not a folder below the git root")
        resolved = {"key": key, "location": location, "ref": ref, "subdir": "/".join(parts), "scip": scip}
        return convert(data.model_dump(exclude={"path", "url"}) | resolved, RepositoryEntry)

    def _error(self, key: str, problem: str) -> ConfigurationError:
        return ConfigurationError(f"{self.file.name}: {key!r}: {problem}")


def _first_spellings(raw: RawEntries) -> dict[str, Any]:
    """For keys that differ in case alone, the first one."""
    first: dict[str, Any] = {}
    for key in raw:
        first.setdefault(str(key).lower(), key)
    return first


def _to_raw(entry: RepositoryEntry) -> dict[str, Any]:
    """An entry's fields as they are written: those that differ from their default."""
    fields = to_builtins(entry)
    fields |= {"include": [*entry.include], "exclude": [*entry.exclude], "scip": [*entry.scip]}
    fields["encodings"] = [*entry.encodings]
    optional = {name: value for name, value in fields.items() if value and name not in ("key", "location", "enabled")}
    raw = {"url" if is_url(entry.location) else "path": entry.location, **optional}
    return raw if entry.enabled else {**raw, "enabled": False}


def _explain(error: ValidationError) -> str:
    first = error.errors()[0]
    name = str(first["loc"][0])
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(name, list(_EntryData.model_fields), n=1, cutoff=0.0)[0]
        return f"unknown field {name!r}; the nearest is {near!r}"
    hint = " (put it in quotes)" if first["type"] == "string_type" else ""
    value, reason = first["input"], plain_reason(first["msg"])
    if name in _LOCATION_FIELDS and isinstance(value, str | list | dict):
        return f"{name}: {reason}{hint}"
    return f"{name} = {shorten_text(with_shown_locations(repr(value)), _SHOWN_VALUE)}: {reason}{hint}"
