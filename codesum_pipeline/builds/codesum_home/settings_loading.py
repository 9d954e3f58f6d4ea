"""Settings from their places.

Defaults < `codesum.toml` < environment (`CODESUM_` + key, nested with `__`) < flags. An unknown key, in the file or in
the environment, is an error that names the nearest known one. A variable takes a list or table as JSON.
"""

import difflib
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from codesum_pipeline.builds.codesum_home.home_folders import bucket_of, check_is_own, open_copy
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.printable import plain_reason
from codesum_pipeline.foundation.settings.certificates import trust_certificates
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.marks import BY_RUN, group_of

ENV_PREFIX = "CODESUM_"
SETTINGS_FILE = "codesum.toml"
HOME_FOLDER = ".codesum"
_KINDS = {"[": "a list", "{": "a table"}
# What pydantic says of a text where a list or table is wanted.
_NO_TEXT = ("tuple_type", "dict_type", "model_type")
# Read from the environment before there are settings: which home, and which file.
_LOCATORS = ("home", "bucket", "settings_file")
# Secrets of a process, and no settings.
_SECRETS = ("mcp_token", "web_token", "webhook_secret", "postgres_url", "broker_url", "oidc_client_secret")
# What TOML says of a table that has settings before its heading, as in `llm.model = "…"` before `[llm]`.
_TWICE = re.compile(r"Cannot declare \('(\w+)',\) twice")
# What pydantic says of a word that is none of a closed set.
_NO_CHOICE = ("literal_error", "enum")
# What counts as true in the environment before there are settings.
_TRUE = frozenset({"1", "true", "t", "yes", "y", "on"})


def load_settings(
    flags: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    run: Mapping[str, Any] | None = None,
) -> Settings:
    """Merge defaults, file, environment, flags and run config; raises `ConfigurationError` naming key and source.

    `flags` may hold any key of `Settings` (nested as mappings) and `settings_file`; `run` what is settable by a run.
    Without `environ` they are this process's, which then trusts the certificates that they name.
    """
    check_is_settable_by_run(run or {})
    is_own_environment = environ is None
    environ = os.environ if environ is None else environ
    flags_in_use = {name: value for name, value in (flags or {}).items() if value is not None}
    address = flags_in_use.pop("home", None) or environ.get("CODESUM_HOME") or find_home()
    bucket = bucket_of(str(address))
    if bucket and is_own_environment and (bundle := environ.get(f"{ENV_PREFIX}CA_BUNDLE")):
        # The bucket is asked for its settings before there are any.
        trust_certificates(Path(bundle).expanduser())
    is_offline = flags_in_use.get("offline") or environ.get(f"{ENV_PREFIX}OFFLINE", "").lower() in _TRUE
    home = open_copy(bucket, environ, is_offline=bool(is_offline)) if bucket else Path(address).expanduser().absolute()
    if "?" in str(home):
        # DuckDB takes what follows for a query and cannot write its file.
        raise ConfigurationError(f"home {str(home)!r}: its path must not hold a '?': choose another with --home")
    for path in (home, *home.parents):
        if path.exists() and not path.is_dir():
            what = "is a file" if path == home else f"lies below the file {path}"
            raise ConfigurationError(f"home {str(home)!r} {what}: name a folder with --home or CODESUM_HOME")
    named = flags_in_use.pop("settings_file", None) or environ.get("CODESUM_SETTINGS_FILE")
    file = Path(named or home / SETTINGS_FILE).expanduser()
    if named and not file.is_file():
        raise ConfigurationError(f"settings file {str(file)!r}: there is no such file")
    merged: dict[str, Any] = {}
    for source, values in (
        (str(file), _read_file(file)),
        ("the environment", _read_environment(environ)),
        ("the command line", flags_in_use),
        ("the run config", run or {}),
    ):
        for key, field, known in _fields_of(values):
            if field is None:
                raise ConfigurationError(f"{source}: {_explain_unknown(key, known, values)}")
        if "bucket" in values:
            raise ConfigurationError(f"{source}: 'bucket' cannot be set: give the bucket's URL as the home")
        _merge(merged, values)
    try:
        settings = Settings(**{**merged, "home": home, "bucket": bucket})
    except ValidationError as error:
        raise ConfigurationError(_explain(error, file)) from error
    if is_own_environment and settings.ca_bundle:
        trust_certificates(settings.ca_bundle.expanduser())
    return settings


def find_home(start: Path | None = None) -> Path:
    """The nearest `.codesum/` upward of `start` (default: the current folder), else one in `start`.

    Raises `ConfigurationError` for one that is not the user's own.
    """
    start = (start or Path.cwd()).absolute()
    return nearest_home(start) or start / HOME_FOLDER


def nearest_home(start: Path) -> Path | None:
    """The home that is there, as `find_home`."""
    for folder in (start, *start.parents):
        if (folder / HOME_FOLDER).is_dir():
            check_is_own(folder / HOME_FOLDER)
            return folder / HOME_FOLDER
    return None


def _read_file(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise ConfigurationError(f"{file}: not valid TOML: nested deeper than any setting is") from error
    # Besides what is no TOML: text that is not UTF-8, and numbers too long to be read.
    except ValueError as error:
        twice = _TWICE.search(str(error))
        hint = f": below [{twice[1]}] write its settings without '{twice[1]}.'" if twice else ""
        raise ConfigurationError(f"{file}: not valid TOML: {error}{hint}") from error
    for key in ("home", "bucket"):
        if key in values:
            raise ConfigurationError(
                f"{file}: {key!r} cannot be set in a file inside the home: use CODESUM_HOME or --home"
            )
    return values


def _read_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in sorted(environ):
        if not name.upper().startswith(ENV_PREFIX):
            continue
        path = name[len(ENV_PREFIX) :].lower().split("__")
        if path[0] in (*_LOCATORS, *_SECRETS):
            continue
        target = values
        for part in path[:-1]:
            target = target.setdefault(part, {})
            if not isinstance(target, dict):
                raise ConfigurationError(
                    f"{name}: {ENV_PREFIX}{part.upper()} is also set, and not to a table: remove one of the two"
                )
        target[path[-1]] = environ[name] if _is_text(path) else _from_text(name, environ[name])
    return values


def _is_text(path: Sequence[str]) -> bool:
    """Whether a setting takes a text, which may begin with any sign; so does what lies inside a table of names."""
    model: type[BaseModel] | None = Settings
    field = None
    for part in path:
        if model is None or part not in model.model_fields:
            return True
        field = model.model_fields[part]
        model = group_of(field)
    return field is not None and field.annotation in (str, Path, str | None, Path | None)


def _from_text(name: str, text: str) -> Any:
    """A list or table in JSON, or in TOML; anything else stays text, which the settings convert."""
    kind = _KINDS.get(text.strip()[:1])
    if kind is None:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        with suppress(ValueError, RecursionError):
            return tomllib.loads(f"value = {text}")["value"]
        fault = "nested deeper than any setting is" if isinstance(error, RecursionError) else str(error)
        raise ConfigurationError(f"{name}: begins like {kind} and is not valid JSON: {fault}") from None


def check_is_settable_by_run(values: Mapping[str, Any]) -> None:
    """Raises `ConfigurationError` for a setting that a run's config must not say: all that have no mark for it."""
    for key, field, _ in _fields_of(values):
        if field and BY_RUN not in field.metadata:
            raise ConfigurationError(
                f"setting {key!r} cannot be set by the config of a run: set it in {SETTINGS_FILE} in the home, or by "
                f"{_variable(key)} where Dagster is started"
            )


def _fields_of(
    values: Mapping[str, Any], model: type[BaseModel] = Settings, prefix: str = ""
) -> Iterator[tuple[str, FieldInfo | None, list[str]]]:
    """Each key that is given, with its field if there is one, and the keys that it could be."""
    for key, value in values.items():
        field = model.model_fields.get(key)
        if (group := group_of(field)) and isinstance(value, Mapping):
            yield from _fields_of(value, group, f"{prefix}{key}.")
        else:
            yield prefix + key, field, [prefix + known for known in model.model_fields]


def _explain_unknown(key: str, known: Sequence[str], values: Mapping[str, Any]) -> str:
    """A key that no setting has; one whose table is named twice, as in `llm.model` below `[llm]`, was copied so."""
    table, _, last = key.rpartition(".")
    inner = values.get(table, {}).get(last) if table and table == last else None
    if isinstance(inner, Mapping) and inner:
        named = ", ".join(map(repr, inner))
        return f"unknown setting {key!r}: below [{table}] write {named} without '{table}.'"
    (near,) = difflib.get_close_matches(key, known, n=1, cutoff=0.0)
    return f"unknown setting {key!r}; the nearest known key is {near!r}"


def _variable(key: str) -> str:
    return f"{ENV_PREFIX}{key.upper().replace('.', '__')}"


def _merge(into: dict[str, Any], values: Mapping[str, Any]) -> None:
    for key, value in values.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = dict(value) if isinstance(value, Mapping) else value


def _explain(error: ValidationError, file: Path) -> str:
    first = error.errors()[0]
    # Within a channel pydantic names its kind, too, which is no key.
    where = [part for at, part in enumerate(first["loc"]) if not (first["loc"][1:2] == ("channels",) and at == 3)]
    key = ".".join(map(str, where))
    if not key:
        # What is wrong with several settings together names them itself, and all that was given is no value to show.
        return f"{plain_reason(first['msg'])} (set in {file}, by variables that begin with {ENV_PREFIX}, or by flags)"
    # What is no address may be the key that somebody put there.
    may_be_secret = key.endswith("api_base") or key.startswith("delivery.channels")
    value = "" if may_be_secret else f" = {first['input']!r}"
    variable = _variable(".".join(_named_parts(where)))
    hint = f": a list or table, in {variable} as JSON" if first["type"] in _NO_TEXT else ""
    if first["type"] in _NO_CHOICE and (choices := re.findall(r"'([^']*)'", first["ctx"]["expected"])):
        hint = f"; the nearest is {difflib.get_close_matches(str(first['input']), choices, n=1, cutoff=0.0)[0]!r}"
    return f"setting {key!r}{value}: {plain_reason(first['msg'])}{hint} (set in {file}, by {variable} or by a flag)"


def _named_parts(where: Sequence[str | int]) -> Iterator[str]:
    """The parts of a place that name a setting: what follows is inside a list or table, which a variable has whole."""
    model: type[BaseModel] | None = Settings
    for part in map(str, where):
        if model is None or part not in model.model_fields:
            return
        yield part
        model = group_of(model.model_fields[part])
