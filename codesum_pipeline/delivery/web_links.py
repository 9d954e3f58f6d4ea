"""Where a place of a repository is shown on the web: pages of known git hosts, at the commit that is meant."""

from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from codesum_pipeline.model.digests import CitedPlace
from codesum_pipeline.source.locations import is_url, slug_of

_HOSTS = {
    "github.com": "github",
    "gitlab.com": "gitlab",
    "bitbucket.org": "bitbucket",
    "codeberg.org": "gitea",
    "gitea.com": "gitea",
}
# Of the file at a commit, then of its lines from the first to the last.
_PATHS = {"github": "blob", "gitlab": "-/blob", "gitea": "src/commit", "bitbucket": "src"}
_LINES = {"github": "L{}-L{}", "gitlab": "L{}-{}", "gitea": "L{}-L{}", "bitbucket": "lines-{}:{}"}
_LINE = {"github": "L{}", "gitlab": "L{}", "gitea": "L{}", "bitbucket": "lines-{}"}


def web_url(location: str, place: str, *, own_hosts: Mapping[str, str] | None = None) -> str | None:
    """The address of `path#L@commit` of a repository, by where it is cloned from; None where its host is not known.

    `own_hosts` says what runs on others. No user or password of the location is in it.
    """
    found, slug = CitedPlace.parse(place), slug_of(location)
    host = host_of(location)
    kind = {**_HOSTS, **(own_hosts or {})}.get(host)
    if found is None or slug is None or kind is None:
        return None
    page = f"https://{host}/{quote(slug)}/{_PATHS[kind]}/{found.commit}/{quote(found.path, errors='surrogateescape')}"
    return f"{page}#{_fragment(kind, found)}" if found.first_line else page


def _fragment(kind: str, place: CitedPlace) -> str:
    if place.last_line and place.last_line != place.first_line:
        return _LINES[kind].format(place.first_line, place.last_line)
    return _LINE[kind].format(place.first_line)


def host_of(location: str) -> str:
    if not is_url(location):
        return ""
    if "://" in location:
        return (urlsplit(location).hostname or "").lower()
    return location.partition(":")[0].rpartition("@")[2].lower()
