"""Links to lines of a repository on the pages of known git hosts, at a given commit."""

from collections.abc import Mapping
from urllib.parse import quote

from codesum_pipeline.foundation.data_model.digest_record import CitedPlace
from codesum_pipeline.source.git.locations import host_of, is_url, slug_of

_HOSTS = {
    "github.com": "github",
    "gitlab.com": "gitlab",
    "bitbucket.org": "bitbucket",
    "codeberg.org": "gitea",
    "gitea.com": "gitea",
}
# The path of a file at a commit, the first line, and the last one behind it.
_PAGES = {
    "github": ("blob", "L{}", "-L{}"),
    "gitlab": ("-/blob", "L{}", "-{}"),
    "gitea": ("src/commit", "L{}", "-L{}"),
    "bitbucket": ("src", "lines-{}", ":{}"),
}


def web_url(location: str, place: str, *, own_hosts: Mapping[str, str] | None = None) -> str | None:
    """The address of `path#L@commit` of a repository, by where it is cloned from; None if its host is not known.

    `own_hosts` says what runs on others. No user or password of the location is in it.
    """
    found, slug = CitedPlace.parse(place), slug_of(location)
    host = host_of(location) if is_url(location) else ""
    kind = {**_HOSTS, **(own_hosts or {})}.get(host)
    if found is None or slug is None or kind is None:
        return None
    path, first, last = _PAGES[kind]
    page = f"https://{host}/{quote(slug)}/{path}/{found.commit}/{quote(found.path, errors='surrogateescape')}"
    if found.first_line:
        page += f"#{first.format(found.first_line)}"
        page += last.format(found.last_line) if found.last_line not in (None, found.first_line) else ""
    return page
