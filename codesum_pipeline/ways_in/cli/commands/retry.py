"""`codesum retry`: have the fleet build repositories again that failed, or that a person stopped."""

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.ways_in.cli.invocation import Invocation
from codesum_pipeline.ways_in.cli.render import print_json, show_parts, write_note


def retry(invocation: Invocation, key: str | None = None, all_failed: bool = False, as_json: bool = False) -> None:
    """Build again the repositories whose builds failed too often or were stopped by a person.

    The run goes into the queue of Dagster: the daemon starts it like any other, and nothing is built on this machine.
    Failed attempts are counted anew, and a repository that was stopped by hand is no longer held.
    """
    if (key is None) != all_failed:
        raise ConfigurationError("retry: name one repository, or --all for each whose last run failed or was cancelled")
    home = invocation.home
    from codesum_pipeline.builds.dagster.control import retry_repositories

    done = retry_repositories(home, key)
    if as_json:
        print_json(*({"repo": repo, "run": run_id} for repo, run_id in done.run_ids.items()))
    else:
        show_parts(*(f"{repo}: in the queue, as run {run_id}" for repo, run_id in done.run_ids.items()))
    for repo in done.active:
        write_note(f"{repo}: a run is in the queue or under way already")
    if not done.run_ids and not done.active:
        write_note("no repository's last run failed or was cancelled")
    if done.run_ids and not done.is_served:
        write_note("no daemon has reported in the last minutes: the queue waits for `codesum dev`")
