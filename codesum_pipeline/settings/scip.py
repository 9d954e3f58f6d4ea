"""Settings of commands that make compilers' indexes."""

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from codesum_pipeline.model.options import ScipOptions

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class ScipSettings(BaseModel):
    """How a `scip_command` of repos.yaml is run: [a compiler's index](scip.md)."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    sandbox: Literal["bubblewrap", "none"] = Field(
        "bubblewrap",
        description="What a `scip_command` runs in: bubblewrap (it sees its checkout and the system's programs alone) "
        "or none (it may do whatever the user who builds may do).",
    )
    network: bool = Field(False, description="Whether a command in the sandbox may use the network.")
    timeout_s: float = Field(1800.0, gt=0, description="How long a command may take.")
    max_memory_mb: int = Field(
        4096, ge=16, description="Memory that a command and all that it starts may have at one time."
    )
    max_index_mb: int = Field(
        4096,
        ge=1,
        description="How large all indexes of a repository together may be, uncompressed, and each file of a command.",
    )
    environment: tuple[str, ...] = Field(
        (), description="Names of environment variables that a command gets; it gets no others but PATH and the like."
    )
    read_only: tuple[str, ...] = Field(
        (), description="Further folders that a command may read, such as the one that an indexer is installed in."
    )

    @field_validator("environment")
    @classmethod
    def _are_names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if not _VARIABLE.fullmatch(name):
                raise ValueError(f"{name[:60]!r} is not the name of an environment variable: give the name alone")
        return names

    @field_validator("read_only")
    @classmethod
    def _are_folders(cls, folders: tuple[str, ...]) -> tuple[str, ...]:
        for folder in folders:
            if not folder.startswith("/") or not folder.strip("/") or ".." in folder.split("/"):
                raise ValueError(f"{folder!r} is not an absolute path of a folder below /")
        return folders

    def options(self) -> ScipOptions:
        """These settings, as the stages take them."""
        return ScipOptions(**self.model_dump())
