"""What `codesum mcp` and `codesum web` serve: the indexes of a home, kept up to date, with an audit of who asks."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

from msgspec.structs import replace

from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.worktree_indexes.follower import Follower
from codesum_pipeline.answers.worktree_indexes.settler import Settler
from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.foundation.data_model.printable import one_line
from codesum_pipeline.foundation.data_model.repository import RepositoryScope
from codesum_pipeline.ways_in.cli.document_views import catalogue_of
from codesum_pipeline.ways_in.cli.first_use import FirstIndex
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import write_note
from codesum_pipeline.ways_in.http_serving.access_tokens import TokenSource
from codesum_pipeline.ways_in.http_serving.audit_log import AuditLog, Auditor
from codesum_pipeline.ways_in.http_serving.people import People
from codesum_pipeline.ways_in.metrics.server_metrics import ServerMetrics


def auditor_of(invocation: Invocation, entrance: str, metrics: ServerMetrics | None) -> Auditor:
    """Writes down who asks with a token, as far as the settings say, and has each request measured."""
    audit = invocation.settings.audit
    max_bytes = int(audit.max_mb * 1_000_000)
    log = AuditLog(invocation.layout.audit, max_bytes, audit.files) if audit.enabled else None
    return Auditor(log, entrance, audit.questions, measure=metrics.requests.measure if metrics else None)


def note_token_problems(source: TokenSource, catalogue: IndexCatalogue, people: People | None) -> None:
    """Say what a token or group names that is not there now, which may come, and which tokens have expired."""
    try:
        keys = {entry.key for entry in catalogue.entries(lambda _: None)}
    except CodesumError as error:
        write_note(one_line(str(error)))
        return
    if source.requires_token and not source.tokens:
        write_note(f"--token-file {source.file} names no token: nobody is served by one until it does")
    named = {f"the token [{token.name}]": token.scope.plain_names for token in source.tokens}
    if people:
        write_note(f"people sign in at {people.settings.issuer}")
        groups = people.settings.groups.items()
        named |= {f"the group {name!r}": RepositoryScope(patterns).plain_names for name, patterns in groups}
    for token in source.tokens:
        if not token.is_valid(utc_now()):
            write_note(f"the token [{token.name}] has expired: it opens nothing")
    for who, names in named.items():
        for name in names:
            if "/" not in name and name not in keys:
                write_note(f"{who} names {name!r}, which is not registered or served here now")


@contextmanager
def served_catalogue(invocation: Invocation, names: Sequence[str]) -> Iterator[IndexCatalogue]:
    """What the home of a call holds, or of that the named repositories, kept up to date while a server runs.

    The checkout of the current folder is indexed, unless it is or others are named.
    """
    follower = Follower(invocation.settings.home)
    catalogue = replace(catalogue_of(invocation), settler=Settler(), follower=follower)
    with closing(follower):
        if names:
            yield catalogue.limited_to(names)
            return
        with FirstIndex(invocation).running() as first:
            yield replace(catalogue, first_index=first.state)
