"""Every knob, read once.

Defaults < `codesum.toml` < environment (`CODESUM_` + key, nested with `__`) <
flags. An unknown key, in the file or in the environment, is an error that
names the nearest known one.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.options import (
    EvaluationOptions,
    FilterOptions,
    GraphOptions,
    HashPolicy,
    IndexOptions,
    Options,
    ScanOptions,
)
from codesum_pipeline.source.brought_along import check_is_own

ENV_PREFIX = "CODESUM_"
SETTINGS_FILE = "codesum.toml"
HOME_FOLDER = ".codesum"
# Read from the environment before there are settings: which home, and which file.
_LOCATORS = ("home", "settings_file")


class FilterSettings(BaseModel):
    """Which functions get a placeholder instead of a text of their own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    min_lines: int = Field(3, ge=0, description="Functions with fewer canonical lines are placeholders.")
    min_complexity: int = Field(2, ge=0, description="Below it, a name that matches a skip pattern is a placeholder.")
    skip_patterns: tuple[str, ...] = Field(
        ("^get_", "^set_", "^__.*__$"), description="Regular expressions for names of trivial functions."
    )

    @field_validator("skip_patterns")
    @classmethod
    def _compiles(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is not a regular expression: {error}") from error
        return patterns


class PlannerSettings(BaseModel):
    """When Dagster rebuilds a repository by itself."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    nightly_cron: str = Field("0 2 * * *", description="When the nightly schedule looks at every repository (UTC).")
    sensor_interval_s: int = Field(60, ge=5, description="How often the sensor looks for new commits.")
    max_attempts: int = Field(3, ge=1, description="How often one state of a repository is tried.")
    max_requests_per_tick: int = Field(25, ge=1, description="How many runs one tick may ask for.")
    ls_remote_timeout_s: float = Field(20.0, gt=0, description="How long one repository may keep a tick waiting.")


class EvaluationSettings(BaseModel):
    """Whether and on what each build measures its retrieval."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    enabled: bool = Field(
        False,
        description="Measure each new index before it is published. Off, because asking a repository's own questions "
        "takes longer than a first build of it.",
    )
    questions: Path | None = Field(
        None,
        description="A file of questions, one JSON object a line, relative to the home; default: the repository's own "
        "docstrings (asked in a copy without them) and commit messages.",
    )
    sample: int = Field(200, ge=1, description="Functions, and classes, whose docstrings are asked for.")
    commits: int = Field(300, ge=0, description="Commits whose messages are looked at for questions.")
    gate: bool = Field(
        False, description="Keep the published index where the new one is worse by more than the margin."
    )
    margin: float = Field(
        0.02, ge=0, le=1, description="The gate's margin: the whole 95 % interval of the difference lies below it."
    )

    @model_validator(mode="after")
    def _gate_has_figures(self) -> Self:
        if self.gate and not self.enabled:
            raise ValueError("gate = true needs enabled = true: it compares what was measured")
        return self


class Settings(BaseModel):
    """The settings of one home."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    home: Path = Field(description="Where everything is kept.")
    repos_file: Path | None = Field(None, description="The registry; default: repos.yaml in the home.")
    offline: bool = Field(False, description="Never fetch over the network: index what the mirrors hold.")
    hash_policy: HashPolicy = Field(HashPolicy.CANONICAL, description="What content_hash covers: canonical or raw.")
    top_k_callers: int = Field(5, ge=0, description="Callers that a document's context samples.")
    top_k_callees: int = Field(5, ge=0, description="Callees that a document's context samples.")
    filter: FilterSettings = Field(default_factory=FilterSettings)  # type: ignore[arg-type]
    lang_allowlist: tuple[str, ...] = Field((), description="Languages to index; empty: all.")
    skip_patterns: tuple[str, ...] = Field((), description="More gitignore-style patterns of files to skip.")
    max_file_size_mb: float = Field(1.0, gt=0, description="Larger files are skipped.")
    embedder: str = Field(
        "static",
        description="The embedding model: static, minilm, sentence-transformers/ORG/NAME, a folder, litellm/MODEL or "
        "text-embedding-…; see [operations](operations.md#choosing-an-embedding-model).",
    )
    embedder_api_base: str | None = Field(
        None, description="Where a LiteLLM embedding model is asked; default: at its provider."
    )
    summary_embed_max_tokens: int = Field(512, ge=16, description="Tokens of a document's text that are embedded.")
    keep_versions: int = Field(3, ge=2, description="Published versions that are kept.")
    git_timeout_s: float = Field(600.0, gt=0, description="How long one git command may take.")
    lease_wait_s: float = Field(600.0, ge=0, description="How long a build waits for another of the same repository.")
    planner: PlannerSettings = Field(default_factory=PlannerSettings)  # type: ignore[arg-type]
    evaluation: EvaluationSettings = Field(default_factory=EvaluationSettings)  # type: ignore[arg-type]

    @field_validator("embedder_api_base")
    @classmethod
    def _holds_no_secret(cls, url: str | None) -> str | None:
        if url is not None and not re.fullmatch(r"https?://[^@?#\s]+", url):
            raise ValueError("write http(s)://HOST/PATH without a key or password: keys belong in the environment")
        return url

    @property
    def options(self) -> Options:
        """The settings that shape an index, as the stages take them."""
        return Options(
            hash_policy=self.hash_policy,
            scan=ScanOptions(
                skip_patterns=self.skip_patterns,
                lang_allowlist=self.lang_allowlist,
                max_file_size_mb=self.max_file_size_mb,
                offline=self.offline,
                git_timeout_s=self.git_timeout_s,
            ),
            filter=FilterOptions(
                min_lines=self.filter.min_lines,
                min_complexity=self.filter.min_complexity,
                skip_patterns=self.filter.skip_patterns,
            ),
            graph=GraphOptions(top_k_callers=self.top_k_callers, top_k_callees=self.top_k_callees),
            index=IndexOptions(
                embedder=self.embedder,
                embedder_api_base=self.embedder_api_base,
                summary_embed_max_tokens=self.summary_embed_max_tokens,
                keep_versions=self.keep_versions,
            ),
            evaluation=EvaluationOptions(
                enabled=self.evaluation.enabled,
                questions=str(self.home / self.evaluation.questions) if self.evaluation.questions else "",
                sample=self.evaluation.sample,
                commits=self.evaluation.commits,
                gate=self.evaluation.gate,
                margin=self.evaluation.margin,
            ),
        )


def load_settings(flags: Mapping[str, Any] | None = None, *, environ: Mapping[str, str] | None = None) -> Settings:
    """Merge defaults, file, environment and flags; raises `ConfigurationError` naming key, value and source.

    `flags` may hold any key of `Settings` (nested as mappings) and `settings_file`.
    """
    environ = os.environ if environ is None else environ
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    home = Path(given.pop("home", None) or environ.get("CODESUM_HOME") or find_home())
    home = home.expanduser().absolute()
    if "?" in str(home):
        # DuckDB takes what follows for a query and cannot write its file.
        raise ConfigurationError(f"home {str(home)!r}: its path must not hold a '?': choose another with --home")
    file = Path(given.pop("settings_file", None) or environ.get("CODESUM_SETTINGS_FILE") or home / SETTINGS_FILE)
    merged: dict[str, Any] = {}
    for source, values in (
        (str(file), _read_file(file)),
        ("the environment", _read_environment(environ)),
        ("the command line", given),
    ):
        _check_keys(values, Settings, source=source, prefix="")
        _merge(merged, values)
    try:
        return Settings(**{**merged, "home": home})
    except ValidationError as error:
        raise ConfigurationError(_explain(error, file)) from error


def find_home(start: Path | None = None) -> Path:
    """The nearest `.codesum/` upward of `start` (default: the current folder), else one in `start`."""
    start = (start or Path.cwd()).absolute()
    for folder in (start, *start.parents):
        if (folder / HOME_FOLDER).is_dir():
            check_is_own(folder / HOME_FOLDER)
            return folder / HOME_FOLDER
    return start / HOME_FOLDER


def _read_file(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise ConfigurationError(f"{file}: not valid TOML: nested deeper than any setting is") from error
    # Besides what is no TOML: text that is not UTF-8, and numbers too long to be read.
    except ValueError as error:
        raise ConfigurationError(f"{file}: not valid TOML: {error}") from error
    if "home" in values:
        raise ConfigurationError(f"{file}: 'home' cannot be set in a file inside the home: use CODESUM_HOME or --home")
    return values


def _read_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in sorted(environ):
        if not name.upper().startswith(ENV_PREFIX):
            continue
        path = name[len(ENV_PREFIX) :].lower().split("__")
        if path[0] in _LOCATORS:
            continue
        target = values
        for part in path[:-1]:
            target = target.setdefault(part, {})
        target[path[-1]] = _from_text(environ[name])
    return values


def _from_text(text: str) -> Any:
    """A TOML list as a list; anything else stays text, which the settings convert."""
    if text.startswith("["):
        try:
            return tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            return text
    return text


def _check_keys(values: Mapping[str, Any], model: type[BaseModel], *, source: str, prefix: str) -> None:
    known = model.model_fields
    for key, value in values.items():
        if key not in known:
            near = difflib.get_close_matches(key, list(known), n=1, cutoff=0.0)
            hint = f"; the nearest known key is {prefix + near[0]!r}" if near else ""
            raise ConfigurationError(f"{source}: unknown setting {prefix + key!r}{hint}")
        nested = known[key].annotation
        if isinstance(nested, type) and issubclass(nested, BaseModel) and isinstance(value, Mapping):
            _check_keys(value, nested, source=source, prefix=f"{prefix}{key}.")


def _merge(into: dict[str, Any], values: Mapping[str, Any]) -> None:
    for key, value in values.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = dict(value) if isinstance(value, Mapping) else value


def _explain(error: ValidationError, file: Path) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    # What is no address may be the key that somebody put there.
    value = "" if key == "embedder_api_base" else f" = {first['input']!r}"
    return (
        f"setting {key!r}{value}: {first['msg']} "
        f"(set in {file}, by {ENV_PREFIX}{key.upper().replace('.', '__')} or by a flag)"
    )
