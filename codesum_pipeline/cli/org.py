"""`codesum org`: organisations of code hosts, whose repositories are registered as they come and go."""

import os
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from msgspec import to_builtins

from codesum_pipeline.cli.commands import CommandGroup
from codesum_pipeline.cli.failures import MISCONFIGURED, complain
from codesum_pipeline.cli.invocation import Invocation, invocation, make_home
from codesum_pipeline.cli.options import argument, option, switch
from codesum_pipeline.cli.render import note, safe_json, show, table
from codesum_pipeline.hosts.planning import SyncPlan
from codesum_pipeline.model.errors import CodesumError, ConfigurationError
from codesum_pipeline.model.printable import counted, one_line
from codesum_pipeline.model.repository import RepositoryEntry
from codesum_pipeline.source.locations import redact
from codesum_pipeline.source.organisations import Organisation, organisation_of, token_variable
from codesum_pipeline.wiring import Home

org = CommandGroup("org")
JsonOption = Annotated[bool, switch("--json", "Print one JSON object per organisation.")]
# What a person reads of a long list.
_NAMED = 10


@org.command()
def add(
    ctx: typer.Context,
    account: Annotated[str, argument("HOST:OWNER", "As github:acme; also gitlab and gitea.")],
    include: Annotated[list[str] | None, option("GLOB", "Only such names, as 'svc-*'. Can be repeated.")] = None,
    exclude: Annotated[list[str] | None, option("GLOB", "No such names. Can be repeated.")] = None,
    archived: Annotated[bool, switch("--archived", "Archived repositories, too.")] = False,
    forks: Annotated[bool, switch("--forks", "Forks, too.")] = False,
    url: Annotated[str | None, option("URL", "The server, if it is not github.com or gitlab.com.")] = None,
    token_env: Annotated[
        str | None,
        option(
            "NAME",
            "The environment variable with the API's token. Default: GITHUB_TOKEN or GITLAB_TOKEN, "
            "of the public servers alone.",
        ),
    ] = None,
    ssh: Annotated[bool, switch("--ssh", "Fetch by ssh. Default: by https.")] = False,
    name: Annotated[str | None, option("NAME", "What to call it. Default: HOST:OWNER.")] = None,
) -> None:
    """Register an organisation, group or user of GitHub, GitLab, Gitea or Forgejo; nothing is asked of the host yet.

    codesum org add github:acme --include 'svc-*' --exclude '*-archive'
    """
    called = invocation(ctx)
    host, colon, owner = account.partition(":")
    if not colon:
        raise ConfigurationError(f"{account!r}: give HOST:OWNER, as github:{account or 'acme'}")
    given: dict[str, Any] = {
        "host": host,
        "owner": owner,
        "url": url,
        "include": include,
        "exclude": exclude,
        "archived": archived,
        "forks": forks,
        "ssh": ssh,
        "token_env": token_env,
    }
    wanted = organisation_of(name or account, {field: value for field, value in given.items() if value})
    make_home(called.settings)
    written = called.registry.add_organisation(wanted)
    show(f"{written.name}: registered, {written.owner} at {written.url}")
    show(f"next: codesum org sync {written.name}")


@org.command("list")
def list_(ctx: typer.Context, as_json: JsonOption = False) -> None:
    """List the organisations, with the numbers of their repositories.

    They stand in repos.yaml in the home, which can also be edited by hand.
    """
    called = invocation(ctx)
    organisations, entries = called.registry.organisations(), called.entries()
    if as_json:
        for each in organisations:
            typer.echo(safe_json(to_builtins(each) | _numbers(each, entries)))
        return
    if not organisations:
        note("no organisation is registered: `codesum org add HOST:OWNER` registers one")
        return
    rows = [(each.name, each.url, _selection(each), *_numbers(each, entries).values()) for each in organisations]
    show(table(("organisation", "server", "repositories", "enabled", "retired"), rows, right=("enabled", "retired")))


@org.command()
def sync(
    ctx: typer.Context,
    names: Annotated[list[str] | None, argument("NAME", "Default: all of them.")] = None,
    preview: Annotated[bool, switch("--preview", "Show what would change, and change nothing.")] = False,
    yes: Annotated[bool, switch("--yes", "Retire however many are gone.")] = False,
) -> None:
    """Ask the hosts which repositories there are: register new ones, retire those that are gone.

    A retired repository keeps its index, is built no more, and comes back when its host lists it again.
    The schedule [bold]sync_organisations[/] does the same once an hour.
    """
    called = invocation(ctx)
    home = Home(called.settings)
    if called.settings.offline:
        raise ConfigurationError("offline = true: no host is asked")
    failed = False
    for each in _chosen(called, names or []):
        try:
            plan = home.syncer().sync(each, is_confirmed=yes, is_preview=preview)
        except CodesumError as error:
            complain(str(error))
            failed = True
            continue
        _register(home, plan, is_preview=preview)
        _tell(each, plan, is_preview=preview)
        failed = failed or bool(plan.why_held)
    if failed:
        raise typer.Exit(MISCONFIGURED)


@org.command()
def remove(ctx: typer.Context, name: Annotated[str, typer.Argument(metavar="NAME", help="An organisation.")]) -> None:
    """Forget an organisation. Its repositories stay registered as they are, by hand from then on."""
    left = invocation(ctx).registry.remove_organisation(name)
    show(f"{name}: forgotten; {counted(len(left), 'repository', 'repositories')} of it stay registered")


def _chosen(called: Invocation, names: list[str]) -> list[Organisation]:
    known = {each.name: each for each in called.registry.organisations()}
    if not known:
        raise ConfigurationError("no organisation is registered: `codesum org add HOST:OWNER` registers one")
    for name in names:
        if name not in known:
            raise ConfigurationError(f"no organisation {name!r}; registered: {', '.join(known)}")
    return [known[name] for name in names or known]


def _register(home: Home, plan: SyncPlan, *, is_preview: bool) -> None:
    """Let Dagster's UI know of new repositories at once."""
    if plan.added and not is_preview:
        from codesum_pipeline.defs.control import register_partitions

        register_partitions(home, [entry.key for entry in plan.added])


def _tell(organisation: Organisation, plan: SyncPlan, *, is_preview: bool) -> None:
    changes = (("new", plan.added), ("moved", plan.moved), ("back", plan.returned), ("retired", plan.retired))
    would = "would be " if is_preview else ""
    said = [f"{len(entries):,} {would}{word}" for word, entries in changes if entries]
    said += [f"{plan.kept:,} as before"] if plan.kept else []
    left_out = ", ".join(f"{number:,} {why}" for why, number in plan.left_out)
    said += [f"left out: {left_out}"] if left_out else []
    show(f"{organisation.name}: {', '.join(said) or 'nothing to register'}")
    for word, entries in (*changes, ("held", plan.held)):
        _name(word, entries)
    for problem in plan.unusable:
        complain(f"left out: {problem}")
    if plan.why_held:
        complain(f"{organisation.name}: nothing is retired: {plan.why_held}")
        note(f"`codesum org sync {organisation.name} --yes` retires what is held")
    variable = token_variable(organisation)
    if not plan.written and not plan.kept and variable and not os.environ.get(variable):
        note(f"without a token in {variable} the host lists what is public")


def _name(word: str, entries: Sequence[RepositoryEntry]) -> None:
    for entry in entries[:_NAMED]:
        show(f"  {word} {entry.key}: {one_line(entry.retired.why if entry.retired else redact(entry.location))}")
    if len(entries) > _NAMED:
        show(f"  {word}: {len(entries) - _NAMED:,} more")


def _selection(organisation: Organisation) -> str:
    parts = [*organisation.include] or ["all"]
    parts += [f"not {glob}" for glob in organisation.exclude]
    parts += ["archived"] * organisation.archived + ["forks"] * organisation.forks
    return ", ".join(parts)


def _numbers(organisation: Organisation, entries: list[RepositoryEntry]) -> dict[str, int]:
    own = [entry for entry in entries if entry.organisation == organisation.name]
    return {"enabled": sum(entry.enabled for entry in own), "retired": sum(entry.retired is not None for entry in own)}
