"""A worker in a process of its own: `python -m … FOLDER BUCKET REPO LEASE_S [STEP]`.

With a step, it says so before that step and waits for a line on its input: it can be stopped or killed there.
"""

import sys
from pathlib import Path

from codesum_pipeline.builds.steps.reuse import carry_out
from codesum_pipeline.builds.steps.step_list import STEPS
from codesum_pipeline.foundation.store.lease import hold_repository
from codesum_pipeline_tests.support.bucket_workers import worker_at, workspace_at
from codesum_pipeline_tests.support.repositories import GitRepo

if __name__ == "__main__":
    folder, bucket, repository, lease_s, *waiting = sys.argv[1:]
    worker = worker_at(Path(folder), bucket, storage={"lease_s": float(lease_s)})
    with hold_repository(worker.layout, "shop", run_id=folder, wait_s=60) as record:
        workspace = workspace_at(worker, GitRepo(Path(repository)), run_id=folder)
        for step in STEPS:
            if step.name in waiting:
                sys.stdout.write(f"before {step.name}\n")
                sys.stdout.flush()
                sys.stdin.readline()
            else:
                record.check()
            carry_out(step, workspace)
            if step.name == "published_index":
                record.commit()
    sys.stdout.write("built\n")
