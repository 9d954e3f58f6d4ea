"""What the definitions say of the stages: each asset's code version, table and upstream assets, and tables' columns.

Reading them imports every stage. A process that only records what another one
builds is given them instead.
"""

from collections.abc import Mapping

from msgspec import Struct


class Column(Struct, frozen=True):
    """A column as the UI lists it."""

    name: str
    type: str
    description: str | None
    is_nullable: bool


class AssetFacts(Struct, frozen=True):
    """What the definition of one asset says of its step: `deps` are the assets whose outputs the step reads."""

    code_version: str
    table: str
    deps: tuple[str, ...]


class StageFacts(Struct, frozen=True):
    """Assets in the order of their steps, and columns by table."""

    assets: Mapping[str, AssetFacts]
    columns: Mapping[str, tuple[Column, ...]]


_known: list[StageFacts] = []


def use_facts(facts: StageFacts) -> None:
    """Take another process's word for what the stages are."""
    _known[:] = [facts]


def stage_facts() -> StageFacts:
    """Those that were given, else those of the stages."""
    if not _known:
        from codesum_pipeline.defs.building.read_facts import read_facts

        use_facts(read_facts())
    return _known[0]
