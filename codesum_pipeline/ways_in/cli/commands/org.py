"""`codesum org`: organisations of code hosts, whose repositories are registered as they come and go."""

import os

import typer
from msgspec import to_builtins

from codesum_pipeline.foundation.data_model.errors import CodesumError, ConfigurationError
from codesum_pipeline.foundation.data_model.printable import count_noun, one_line
from codesum_pipeline.source.code_hosts.registry_changes import SyncPlan
from codesum_pipeline.source.git.git_addresses import shown_location
from codesum_pipeline.source.repositories.organisations import Organisation, organisation_of, token_variable
from codesum_pipeline.ways_in.cli.cli_app import CommandGroup
from codesum_pipeline.ways_in.cli.invocation import Invocation, make_home
from codesum_pipeline.ways_in.cli.render import (
    MISCONFIGURED,
    complain,
    make_table,
    present_rows,
    show_parts,
    write_note,
)

org = CommandGroup("org")
# What a person reads of a long list.
_NAMED = 10
_NO_ORGANISATION = "no organisation is registered: `codesum org add HOST:OWNER` registers one"


@org.command()
def add(
    invocation: Invocation,
    account: str,
    include: list[str] | None = None,
    exclude: list[str] | None = None,
    archived: bool = False,
    forks: bool = False,
    url: str | None = None,
    token_env: str | None = None,
    ssh: bool = False,
    name: str | None = None,
) -> None:
    """Register an organisation, group or user of GitHub, GitLab, Gitea or Forgejo. The next sync asks the host
    for its repositories.

    codesum org add github:acme --include 'svc-*' --exclude '*-archive'
    """
    host, colon, owner = account.partition(":")
    if not colon:
        raise ConfigurationError(f"{account!r}: give HOST:OWNER, as github:{account or 'acme'}")
    chosen = {"include": include, "exclude": exclude, "archived": archived, "forks": forks}
    fields = {"host": host, "owner": owner, "url": url, **chosen, "ssh": ssh, "token_env": token_env}
    wanted = organisation_of(name or account, {field: value for field, value in fields.items() if value})
    make_home(invocation.settings)
    written = invocation.registry.add_organisation(wanted)
    show_parts(f"{written.name}: registered, {written.owner} at {written.url}")
    show_parts(f"next: codesum org sync {written.name}")


@org.command("list")
def list_(invocation: Invocation, as_json: bool = False) -> None:
    """List the organisations, with the numbers of their repositories.

    They stand in repos.yaml in the home, which can also be edited by hand.
    """
    entries, rows, values = invocation.entries(), [], []
    for each in invocation.registry.organisations():
        own = [entry for entry in entries if entry.organisation == each.name]
        retired = sum(entry.retired is not None for entry in own)
        numbers = {"enabled": sum(entry.enabled for entry in own), "retired": retired}
        chosen = [*(each.include or ["all"]), *(f"not {glob}" for glob in each.exclude)]
        chosen += ["archived"] * each.archived + ["forks"] * each.forks
        rows.append((each.name, each.url, ", ".join(chosen), *numbers.values()))
        values.append(to_builtins(each) | numbers)
    columns = ("organisation", "server", "repositories", "enabled", "retired")
    present_rows(
        values, lambda: make_table(columns, rows, right=columns[3:]), as_json=as_json, otherwise=_NO_ORGANISATION
    )


@org.command()
def sync(invocation: Invocation, names: list[str] | None = None, preview: bool = False, yes: bool = False) -> None:
    """Ask the hosts which repositories there are: register new ones, retire those that are gone.

    A retired repository keeps its index, is no longer built, and comes back when its host lists it again. The schedule
    [bold]sync_organisations[/] does the same once an hour.
    """
    if invocation.settings.offline:
        raise ConfigurationError("offline = true: no code host is asked: leave out --offline, or set offline = false")
    known = {each.name: each for each in invocation.registry.organisations()}
    if not known:
        raise ConfigurationError(_NO_ORGANISATION)
    for name in names or ():
        if name not in known:
            raise ConfigurationError(f"no organisation {name!r}; registered: {', '.join(known)}")
    failed = False
    for name in names or known:
        try:
            plan = invocation.home.syncer().sync(known[name], is_confirmed=yes, is_preview=preview)
        except CodesumError as error:
            complain(str(error))
            failed = True
            continue
        if plan.added and not preview:
            # Dagster's UI knows of new repositories at once.
            from codesum_pipeline.builds.dagster.control import register_partitions

            register_partitions(invocation.home, [entry.key for entry in plan.added])
        _tell(known[name], plan, is_preview=preview)
        failed = failed or bool(plan.why_held)
    if failed:
        raise typer.Exit(MISCONFIGURED)


@org.command()
def remove(invocation: Invocation, name: str) -> None:
    """Forget an organisation. Its repositories stay registered; from then on they are managed by hand."""
    left = invocation.registry.remove_organisation(name)
    show_parts(f"{name}: forgotten; {count_noun(len(left), 'repository', 'repositories')} of it stay registered")


def _tell(organisation: Organisation, plan: SyncPlan, *, is_preview: bool) -> None:
    changes = (("new", plan.added), ("moved", plan.moved), ("back", plan.returned), ("retired", plan.retired))
    would = "would be " if is_preview else ""
    counts = [f"{len(entries):,} {would}{word}" for word, entries in changes if entries]
    counts += [f"{plan.kept:,} as before"] if plan.kept else []
    left_out = ", ".join(f"{number:,} {why}" for why, number in plan.left_out)
    counts += [f"left out: {left_out}"] if left_out else []
    show_parts(f"{organisation.name}: {', '.join(counts) or 'nothing to register'}")
    for word, entries in (*changes, ("held", plan.held)):
        for entry in entries[:_NAMED]:
            detail = entry.retired.why if entry.retired else shown_location(entry.location)
            show_parts(f"  {word} {entry.key}: {one_line(detail)}")
        if len(entries) > _NAMED:
            show_parts(f"  {word}: {len(entries) - _NAMED:,} more")
    for problem in plan.unusable:
        complain(f"left out: {problem}")
    if plan.why_held:
        complain(f"{organisation.name}: nothing is retired: {plan.why_held}")
        write_note(f"`codesum org sync {organisation.name} --yes` retires what is held")
    variable = token_variable(organisation)
    if not plan.written and not plan.kept and variable and not os.environ.get(variable):
        write_note(f"without a token in {variable} the host lists what is public")
