"""The registry follows code hosts, by schedule: a job of one op, since no table comes of it."""

import dagster as dg

from codesum_pipeline.defs.partitions import add_partitions
from codesum_pipeline.defs.resource import CodesumResource
from codesum_pipeline.defs.steps import OWNER
from codesum_pipeline.model.errors import CodesumError
from codesum_pipeline.wiring import Home


@dg.op(description="Asks each organisation's host which repositories it has, and brings repos.yaml up to date.")
def follow_hosts(context: dg.OpExecutionContext, codesum: CodesumResource) -> None:
    """What one host refuses keeps no other from being asked; the run fails at its end."""
    home = codesum.open_home()
    problems = _follow(home, context)
    if problems:
        raise dg.Failure("\n".join(problems), allow_retries=False)


@dg.job(
    name="sync_organisations",
    description="Register what is new in the organisations of code hosts, and retire what is gone.",
    owners=[OWNER],
    executor_def=dg.in_process_executor,
)
def sync_organisations() -> None:
    """One op: hosts are asked one after the other."""
    follow_hosts()


def _follow(home: Home, context: dg.OpExecutionContext) -> list[str]:
    problems = []
    for organisation in home.registry.organisations():
        try:
            plan = home.syncer().sync(organisation)
        except CodesumError as error:
            problems.append(str(error))
            continue
        if plan.added:
            add_partitions(context.instance, [entry.key for entry in plan.added])
        for word, entries in (("new", plan.added), ("moved", plan.moved), ("back", plan.returned)):
            for entry in entries:
                context.log.info("%s: %s: %s", organisation.name, word, entry.key)
        for entry in plan.retired:
            context.log.warning("%s: retired: %s", entry.key, entry.retired.why if entry.retired else "")
        for problem in plan.unusable:
            context.log.warning("%s: left out: %s", organisation.name, problem)
        context.log.info("%s: %d repositories as before", organisation.name, plan.kept)
        if plan.why_held:
            problems.append(
                f"{organisation.name}: nothing is retired: {plan.why_held}; "
                f"`codesum org sync {organisation.name} --yes` retires them"
            )
    return problems
