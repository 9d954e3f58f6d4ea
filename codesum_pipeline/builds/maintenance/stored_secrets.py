"""Secrets that earlier versions stored in a home: where they are, which command removes them, and their removal.

What this version stores of a repository is masked, and names the version of the rules. So only what is older is read,
and the records that name no version: the newest first, up to a number of characters, unless all are asked for. No
secret is shown: what is found is counted by kind.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from functools import cached_property
from pathlib import Path
from shlex import quote
from urllib.parse import quote as url_quote

import pyarrow as pa
import pyarrow.compute as pc
import yaml
from msgspec import Struct

from codesum_pipeline.builds.codesum_home.wiring import Home
from codesum_pipeline.foundation.data_model.errors import BrokenIndex, BrokenStore
from codesum_pipeline.foundation.store.atomic import write_bytes_atomically
from codesum_pipeline.foundation.store.sqlite_tables import BUSY_TIMEOUT_S
from codesum_pipeline.indexes.file_formats.version_folder import DOCUMENTS, read_version
from codesum_pipeline.source.masking.secrets import SECRETS_VERSION, mask_of, mask_secrets, secrets_in

# About a second of reading, for each of: the tables of all repositories, their versions, and the home's records.
MOST_CHARS = 4_000_000

IN_KEY = "key or location"
IN_TEXT = "assigned-password"
# How `add` made a key of an address with a token in its parameters.
_KEY_OF_ADDRESS = re.compile(
    r"\.git-(?:[\w.-]{1,40}-)?(?:(?:access|private|api|job|deploy)[_.-]?)?"
    r"(?:token|key|auth|password|passwd|pwd|secret|sig|signature)-(?P<s>[A-Za-z0-9._-]{4,100})",
    re.IGNORECASE,
)
# A line of a file, in a text that was composed of several, as only earlier versions did.
_WITHIN_A_LINE = re.compile(
    r"(?i:passw(?:or)?d|passphrase|pwd|secret|token)[\"']?: {0,2}"
    r"(?P<s>(?=[^\s\"'`\\]{0,60}[A-Za-z])(?=[^\s\"'`\\]{0,60}\d)(?=[^\s\"'`\\]{0,60}[!#%^*+~$&@])[^\s\"'`\\«»]{8,100})(?=\s)"
)
# How Markdown and JSON write a character as itself.
_ESCAPES = re.compile(r"(?<!\\)\\++(?=[^\w\s\\\"'/]|_)")
_OPENED, _CLOSED = re.compile(r"(?<!\\)\\++u00ab"), re.compile(r"(?<!\\)\\++u00bb")
_USER = re.compile(r"://([^\s/?#@]+)@")
_NO_KEY_CHARS = re.compile(r"[^A-Za-z0-9._-]+")
_LEAST_CHARS = 4
# Tables to which every build adds, so that no build rewrites their rows: the columns that hold texts.
_BOOKS: Mapping[str, tuple[str, ...]] = {
    "document_history": ("id", "cause_ids"),
    "evaluation_answers": ("query",),
    "ledger": ("id", "answer", "error"),
    "plan": ("id", "cause_ids"),
}
_DATABASES = (".db", ".sqlite", ".vectors")
_TEXTS = (".json", ".jsonl", ".txt", ".out", ".err", ".log")
# Neither records nor of our making: git's objects, and what the tables and versions are looked at for.
_ELSEWHERE = ("warehouse", "mirrors", "index_root", "overlays", "texts")
_MIRRORS_NOTES = ("config", "FETCH_HEAD", "packed-refs")


class StoredSecrets(Struct, frozen=True):
    """Secrets at one place, by kind, and the command that removes them. `repository` is shown, so no key with a secret
    is one."""

    repository: str | None
    place: str
    kinds: Mapping[str, int]
    way_out: str

    def __str__(self) -> str:
        counts = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.kinds.items()))
        return f"{self.place}: {counts}, stored by an earlier version"


class SecretsOfHome:
    """One search for the secrets of a home. `is_cut` says after a look whether there was more than `most_chars`; which
    repositories and secrets are known is found out once."""

    def __init__(self, home: Home, most_chars: int | None = MOST_CHARS) -> None:
        self.home = home
        self.most_chars = most_chars
        self.is_cut = False

    def find(self) -> Iterator[StoredSecrets]:
        """One for each place."""
        for key in self._keys_with_secrets:
            short = self._short(key)
            way_out = f"codesum remove {quote(short)} --purge, then `codesum add` with the address alone"
            yield StoredSecrets(None, f"repos.yaml or data of {short}", {IN_KEY: 1}, way_out)
        for key, is_built in self._repositories.items():
            # What a bucket has lost is not looked through; that is another problem.
            with suppress(BrokenStore):
                yield from self._in_repository(key, is_built=is_built)
        kinds: dict[str, Counter[str]] = {}
        left = self.most_chars
        for path, texts in self._records():
            for text in texts:
                if left is not None and left <= 0:
                    self.is_cut = True
                    break
                kinds.setdefault(self._place_of(path), Counter()).update(self._kinds_in(text))
                left = left if left is None else left - len(text)
        for place, found in kinds.items():
            if found:
                yield StoredSecrets(None, place, found, "codesum maintain --secrets")

    def mask_records(self) -> Iterator[tuple[str, int]]:
        """Mask all secrets in the home's records; yields each place, and how many texts were changed there."""
        for path in self._record_files():
            is_database = path.suffix in _DATABASES
            if changed := self._mask_database(path) if is_database else self._mask_file(path):
                yield self._place_of(path), changed

    def mask_books(self, key: str) -> int:
        """Mask all secrets in a repository's books, whose lease is held; returns how many texts were changed."""
        changed = 0
        for table, columns in _BOOKS.items():
            rows = before = self.home.tables.read_or_empty(table, key)
            for name in columns:
                values = rows.column(name).to_pylist()
                masked = [self._masked_value(value) for value in values]
                if different := sum(one != other for one, other in zip(values, masked, strict=True)):
                    place = rows.schema.get_field_index(name)
                    kind = rows.schema.field(place)
                    rows = rows.set_column(place, kind, pa.array(masked, kind.type))
                    changed += different
            if rows is not before:
                self.home.tables.write(table, key, rows, note=self.home.tables.note(table, key))
        return changed

    def _masked_value(self, value: str | list[str] | None) -> str | list[str] | None:
        if isinstance(value, list):
            return [self.masked(each) for each in value]
        return value and self.masked(value)

    def old_versions(self, key: str) -> list[Path]:
        """The versions of a repository that an earlier version wrote, but for the published one; overlays, too."""
        layout = self.home.layout
        published = layout.published(key).resolve()
        folders = [*_folders(layout.versions(key)), *_folders(layout.overlays(key))]
        return [folder for folder in folders if folder != published and not _is_masked_version(folder)]

    def masked(self, text: str) -> str:
        """A text without secrets, and otherwise as it was."""
        kinds = self._secrets_of(text)
        if not kinds:
            return text
        masks = {_ESCAPES.sub("", value): mask_of(kind) for value, kind in kinds.items()}
        longest_first = sorted(masks, key=lambda value: (-len(value), value))
        pattern = re.compile("|".join(map(_as_written, longest_first)))
        return pattern.sub(lambda match: masks.get(_ESCAPES.sub("", match[0]), mask_of("key")), text)

    def _secrets_of(self, text: str) -> dict[str, str]:
        """Each secret in a text with its kind, however the text escapes it."""
        # As JSON has the marks of a mask.
        plain = _CLOSED.sub("»", _OPENED.sub("«", _ESCAPES.sub("", text)))
        found = secrets_in(plain)
        found |= {
            match["s"]: IN_TEXT for match in _WITHIN_A_LINE.finditer(mask_secrets(plain).text if found else plain)
        }
        found |= {match["s"]: IN_KEY for match in _KEY_OF_ADDRESS.finditer(plain)}
        return found | {value: IN_KEY for value in self._known if value in plain}

    def shown(self, text: str) -> str:
        """A text about the home: keys that hold a secret end before it, as `codesum remove` takes them."""
        for key in self._keys_with_secrets:
            text = text.replace(key, self._short(key))
        for value in self._known:
            text = text.replace(value, mask_of("key"))
        return text

    def _short(self, key: str) -> str:
        place = self._place_in_key(key)
        return f"{key[:place]}*" if place < len(key) else key

    def _kinds_in(self, text: str) -> Counter[str]:
        return Counter(self._secrets_of(text).values())

    def _in_repository(self, key: str, *, is_built: bool) -> Iterator[StoredSecrets]:
        purge = f"codesum remove {quote(key)} --purge"
        again = f"codesum index {quote(key)}" if is_built else purge
        if kinds := self._kinds_of(self._texts_of_tables(key)):
            yield StoredSecrets(key, "tables", kinds, again)
        published = self.home.layout.published(key).resolve()
        if (
            published.is_dir()
            and not _is_masked_version(published)
            and (kinds := self._kinds_of(_documents(published)))
        ):
            yield StoredSecrets(key, "published version", kinds, again)
        old = Counter[str]()
        for folder in self.old_versions(key):
            old += self._kinds_of(_documents(folder))
        if old:
            yield StoredSecrets(key, "versions kept besides the published one", old, "codesum maintain --secrets")
        if kinds := self._kinds_of(self._texts_of_books(key)):
            yield StoredSecrets(key, "books of questions and calls", kinds, "codesum maintain --secrets")
        notes = (self.home.layout.mirror(key) / name for name in _MIRRORS_NOTES)
        if kinds := self._kinds_of(text for path in notes for text in _text_of(path)):
            yield StoredSecrets(key, "mirror", kinds, purge)

    def _kinds_of(self, texts: Iterable[str]) -> Counter[str]:
        found: Counter[str] = Counter()
        left = self.most_chars
        for text in texts:
            if left is not None:
                self.is_cut = self.is_cut or left < len(text)
                text, left = text[: max(0, left)], left - len(text)
            found += self._kinds_in(text)
            if left is not None and left <= 0:
                break
        return found

    def _texts_of_tables(self, key: str) -> Iterator[str]:
        """What was parsed by an earlier version; all other tables are made of it."""
        tables = self.home.tables
        for parsers in tables.read_parts("file_facts", key, columns=["parser"]) if self._has_table(key) else ():
            if not pc.all(pc.match_substring(parsers.column("parser"), SECRETS_VERSION)).as_py():
                break
        else:
            return
        for part in tables.read_parts("file_facts", key, columns=["parser", "source"]):
            is_older = pc.invert(pc.match_substring(part.column("parser"), SECRETS_VERSION))
            yield from part.filter(is_older).column("source").to_pylist()

    def _has_table(self, key: str) -> bool:
        return self.home.tables.readable_path("file_facts", key) is not None

    def _texts_of_books(self, key: str) -> Iterator[str]:
        for table, columns in _BOOKS.items():
            rows = self.home.tables.read_or_empty(table, key, columns=[*columns])
            for name in columns:
                for value in filter(None, rows.column(name).to_pylist()):
                    yield from [value] if isinstance(value, str) else value

    @cached_property
    def _repositories(self) -> Mapping[str, bool]:
        """The repositories with data whose keys can be shown, and whether they are built."""
        survey = self.home.registry.survey()
        built = {entry.key: entry.enabled for entry in survey.entries}
        every = {**dict.fromkeys(self.home.unregistered_keys(), False), **built}
        return {key: is_built for key, is_built in every.items() if key not in self._keys_with_secrets}

    @cached_property
    def _known(self) -> tuple[str, ...]:
        """The secrets of addresses, as the registry has them and as keys have them; longest first."""
        found = {value for entry in _raw_entries(self.home) for value in _secrets_of_address(entry)}
        found |= {_NO_KEY_CHARS.sub("-", value).strip("-") for value in found}
        return tuple(
            sorted((value for value in found if len(value) >= _LEAST_CHARS), key=lambda each: (-len(each), each))
        )

    @cached_property
    def _keys_with_secrets(self) -> tuple[str, ...]:
        survey = self.home.registry.survey()
        registered = {entry.key: entry.location for entry in survey.entries} | dict.fromkeys(survey.problems, "")
        every = {*registered, *self.home.unregistered_keys()}
        return tuple(
            sorted(
                key
                for key in every
                if self._place_in_key(key) < len(key) or [*_secrets_of_address(registered.get(key, ""))]
            )
        )

    def _place_in_key(self, key: str) -> int:
        """Where a secret begins in a key; its length where there is none."""
        places = [place for value in self._known if (place := key.lower().find(value.lower())) > 0]
        match = _KEY_OF_ADDRESS.search(key)
        return min([*places, match.start("s") if match else len(key)])

    def _place_of(self, path: Path) -> str:
        """What a file of records is called; its name may hold a key."""
        home = self.home.layout.home
        if path.is_relative_to(self.home.settings.summary_cache_dir):
            return "models' texts in the cache"
        first = path.relative_to(home).parts[0]
        return {"dagster": "Dagster's storage", "state": "notes of builds"}.get(first, first)

    def _records(self) -> Iterator[tuple[Path, Iterator[str]]]:
        for path in self._record_files():
            yield path, _texts_in_database(path) if path.suffix in _DATABASES else _text_of(path)

    def _record_files(self) -> list[Path]:
        """The home's databases and notes, the newest first."""
        home, cache = self.home.layout.home, self.home.settings.summary_cache_dir
        tops = (
            [path for path in home.iterdir() if path.name not in _ELSEWHERE and path != cache] if home.is_dir() else []
        )
        files = [file for top in (*tops, cache) for file in (top.rglob("*") if top.is_dir() else [top])]
        known = [
            file for file in files if file.suffix in (*_DATABASES, *_TEXTS) and not file.is_symlink() and file.is_file()
        ]
        return sorted(known, key=lambda file: (-file.stat().st_mtime, str(file)))

    def _mask_file(self, path: Path) -> int:
        for text in _text_of(path):
            if (masked := self.masked(text)) != text:
                write_bytes_atomically(path, masked.encode())
                return 1
        return 0

    def _mask_database(self, path: Path) -> int:
        changed = 0
        with closing(sqlite3.connect(path, timeout=BUSY_TIMEOUT_S)) as connection:
            if not _is_database(connection):
                return 0
            connection.execute("PRAGMA secure_delete = ON")
            for table, column in _text_columns(connection):
                chosen = f'SELECT rowid, "{column}" FROM "{table}" WHERE typeof("{column}") = \'text\''
                rows = [(self.masked(text), row, text) for row, text in connection.execute(chosen)]
                different = [(masked, row) for masked, row, text in rows if masked != text]
                connection.executemany(f'UPDATE OR REPLACE "{table}" SET "{column}" = ? WHERE rowid = ?', different)
                changed += len(different)
            connection.commit()
            if changed:
                # What was there before is in free pages, and in the log.
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return changed


def _as_written(value: str) -> str:
    """A pattern for a text, with or without the escapes of Markdown and JSON."""
    written = "".join(
        char if char.isalnum() else r"\\++" if char == "\\" else rf"\\*+{re.escape(char)}" for char in value
    )
    return written if value[:1].isalnum() else rf"(?<!\\){written}"


def _raw_entries(home: Home) -> Iterator[str]:
    """The addresses in the registry's file, those of unusable entries, too."""
    with suppress(OSError, ValueError, yaml.YAMLError, AttributeError):
        content = yaml.safe_load(home.registry.file.read_text(encoding="utf-8"))
        for entry in content["repositories"].values():
            yield from (value for value in entry.values() if isinstance(value, str) and "://" in value)


def _secrets_of_address(address: str) -> Iterator[str]:
    """What may be secret in an address: the password, or a token in its place, and the values of parameters."""
    if user := _USER.search(address):
        name, _, password = user[1].partition(":")
        if password or address.startswith("http"):
            yield password or name
    if "://" in address:
        for part in re.split(r"[?&#;]", address)[1:]:
            yield part.partition("=")[2] or part


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def _is_masked_version(folder: Path) -> bool:
    try:
        return SECRETS_VERSION in str(read_version(folder).manifest.get("versions", {}).get("parser"))
    except (BrokenIndex, OSError):
        return False


def _documents(folder: Path) -> Iterator[str]:
    with suppress(OSError), (folder / DOCUMENTS).open(encoding="utf-8", errors="replace") as lines:
        yield from lines


def _text_of(path: Path) -> Iterator[str]:
    with suppress(OSError, UnicodeDecodeError):
        yield path.read_text(encoding="utf-8")


def _is_database(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.DatabaseError:
        return False
    return True


def _text_columns(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    tables = [
        name
        for name, sql in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        if not name.startswith("sqlite_") and "WITHOUT ROWID" not in str(sql).upper()
    ]
    return [
        (table, row[1]) for table in tables for row in connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    ]


def _texts_in_database(path: Path) -> Iterator[str]:
    """All texts of a database, the newest rows of each table first."""
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"file:{url_quote(str(path))}?mode=ro", uri=True)) as connection,
    ):
        for table, column in _text_columns(connection):
            chosen = f'SELECT "{column}" FROM "{table}" WHERE typeof("{column}") = \'text\' ORDER BY rowid DESC'
            for (text,) in connection.execute(chosen):
                yield text
