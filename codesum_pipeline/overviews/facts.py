"""An overview as JSON, for programs: every fact with its place."""

from dataclasses import asdict
from typing import Any

from codesum_pipeline.overviews.frameworks import Framework
from codesum_pipeline.overviews.neighbourhoods import Community
from codesum_pipeline.overviews.overview import Overview
from codesum_pipeline.overviews.view import RankedDocument

# Each answer made of the facts reads all of them.
_MOST_MEMBERS = 10
_MOST_NEIGHBOURHOODS = 300
_MOST_ENTRY_POINTS = 500


def facts_of(overview: Overview) -> dict[str, Any]:
    """What a page says, and more of it; long lists are cut, and how much is left out is told."""
    entries, groups = overview.entry_points, overview.neighbourhoods
    return {
        "repo": overview.repo,
        "commit": overview.commit,
        "committed_at": overview.committed_at,
        "opening": asdict(overview.opening),
        "by_model": asdict(overview.words),
        "languages": dict(overview.languages),
        "files": overview.files,
        "definitions": overview.definitions,
        "frameworks": [_framework(each) for each in overview.frameworks],
        "entry_points": [
            {"name": each.name, "kind": each.kind, "place": f"{each.path}:{each.line}", "target": each.target}
            for each in entries[:_MOST_ENTRY_POINTS]
        ],
        "entry_points_left_out": max(len(entries) - _MOST_ENTRY_POINTS, 0),
        "parts": _parts(overview),
        "neighbourhoods": [_neighbourhood(each) for each in groups[:_MOST_NEIGHBOURHOODS]],
        "neighbourhoods_left_out": max(len(groups) - _MOST_NEIGHBOURHOODS, 0),
        "where_to_start": [
            {**_place(each.file), "definitions": [_place(one) for one in each.definitions]} for each in overview.starts
        ],
        "commits": [asdict(each) for each in overview.commits],
        "unread_manifests": dict(overview.malformed),
    }


def _framework(each: Framework) -> dict[str, Any]:
    return {
        "name": each.name,
        "kind": each.kind,
        "constraint": each.constraint,
        "development_only": each.is_for_development,
        "importing_files": each.importing_files,
        "places": each.places,
        "evidence": [
            {"place": one.place, "known_by": one.known_by.name.lower(), "said": one.said} for one in each.evidence
        ],
    }


def _neighbourhood(each: Community) -> dict[str, Any]:
    return {
        "name": each.name,
        "size": each.size,
        "folder": each.folder,
        "folder_share": each.folder_share,
        "words": list(each.words),
        "members": [_place(member) for member in each.members[:_MOST_MEMBERS]],
    }


def _parts(overview: Overview) -> dict[str, Any]:
    division = asdict(overview.division)
    for part in division["parts"]:
        part["files"] = len(part.pop("paths"))
        part["summary"] = overview.part_texts.get(part["name"], "")
    return division


def _place(place: RankedDocument) -> dict[str, Any]:
    return {"id": place.id, "place": f"{place.path}:{place.line}", "level": place.level, "summary": place.summary}
