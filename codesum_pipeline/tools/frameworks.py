"""`get_framework_analysis`: what a repository is built with and how it starts, each fact with its place."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field

from codesum_pipeline.model.printable import one_line
from codesum_pipeline.tools.answers import AnswerPage, Name, Names, PagedArguments, counted
from codesum_pipeline.tools.call import ToolContext
from codesum_pipeline.tools.facts import Facts, one_index, read_facts
from codesum_pipeline.tools.finding import shortened
from codesum_pipeline.tools.text import with_frame

_TOOL = "get_framework_analysis"
_EVIDENCE_TOLD = 3
_ENTRY_POINT = "entry point"


class FrameworkArguments(PagedArguments):
    """Of which repository, and what kinds of frameworks."""

    repo: Name = ""
    kinds: Annotated[
        Names, Field(description='As answers name them: "web framework", "entry point"; default: all')
    ] = []
    limit: int = Field(40, ge=1, le=200)


class FrameworkEntry(BaseModel):
    """A framework, a tool or an entry point: where it is named first, and what is said of it."""

    place: str
    kind: str
    name: str
    text: str = ""
    more_places: list[str] = []
    changed_since: bool = False


class FrameworkPage(AnswerPage):
    """Findings: frameworks and tools first, then entry points."""

    findings: list[FrameworkEntry] = []


def get_framework_analysis(call: ToolContext, asked: FrameworkArguments) -> FrameworkPage:
    """An answer without findings says why there are none."""
    index = one_index(call, asked.repo)
    facts = read_facts(call, index)
    every = list(findings_of(facts)) if facts else []
    kinds = sorted({each.kind for each in every})
    unknown = [kind for kind in asked.kinds if kind not in kinds]
    for kind in unknown if every else ():
        call.tell(f"left out: kind {shortened(kind)!r} is not found here; kinds are: {', '.join(kinds)}")
    wanted = [kind for kind in asked.kinds if kind in kinds] or kinds
    found = [each for each in every if each.kind in wanted]
    part = call.part(_TOOL, asked, [index], found, finding_line)
    return FrameworkPage(as_of=call.as_of([index.repo]), notes=call.notes, findings=part.items, **part.frame)


def frameworks_text(page: FrameworkPage) -> str:
    return with_frame(page, [*map(finding_line, page.findings)] or ["no framework was found"], what="findings")


def finding_line(each: FrameworkEntry) -> str:
    more = f"  also {', '.join(each.more_places)}" if each.more_places else ""
    text = f": {each.text}" if each.text else ""
    changed = "  (changed since)" if each.changed_since else ""
    return f"{each.place}  {each.kind}  {each.name}{text}{more}{changed}"


def findings_of(facts: Facts) -> Iterator[FrameworkEntry]:
    """The frameworks of a repository, then how its programs start."""
    yield from map(_framework, facts["frameworks"])
    for each in facts["entry_points"]:
        target = one_line(each["target"] or "")
        text = " ".join(part for part in (one_line(each["kind"]), f"-> {target}" if target else "") if part)
        yield FrameworkEntry(place=one_line(each["place"]), kind=_ENTRY_POINT, name=one_line(each["name"]), text=text)


def _framework(found: Mapping[str, Any]) -> FrameworkEntry:
    places = list(dict.fromkeys(one_line(each["place"]) for each in found["evidence"]))
    importing = found["importing_files"]
    said = (
        one_line(found["constraint"] or ""),
        "for development" if found["development_only"] else "",
        f"imported by {counted(importing, 'file')}" if importing else "",
    )
    return FrameworkEntry(
        place=places[0] if places else "",
        kind=found["kind"],
        name=found["name"],
        text=", ".join(part for part in said if part),
        more_places=places[1:_EVIDENCE_TOLD],
    )
