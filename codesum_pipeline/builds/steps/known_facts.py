"""The facts of the stages that this process's definitions show.

Reading them imports every stage: a process that only records what another one builds is given them instead.
"""

from codesum_pipeline.builds.reports.build_values import StageFacts


class KnownFacts:
    """The facts that were given to this process, else those read from the stages, once."""

    def __init__(self) -> None:
        self._facts: StageFacts | None = None

    def use(self, facts: StageFacts) -> None:
        """Use the facts that another process read; to be called before definitions are imported."""
        self._facts = facts

    def get(self) -> StageFacts:
        """The facts."""
        if self._facts is None:
            # It imports every stage, which takes seconds.
            from codesum_pipeline.builds.steps.read_facts import read_facts

            self._facts = read_facts()
        return self._facts


# Of the whole process: definitions are modules, to which nothing can be passed.
STAGE_FACTS = KnownFacts()
