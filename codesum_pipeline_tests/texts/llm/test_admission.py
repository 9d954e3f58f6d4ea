"""What is put aside for calls of which some cost more than their request allows."""

import asyncio

from codesum_pipeline.texts.llm.attempts import Admission


def test_dear_calls_at_the_same_time_make_later_ones_as_dear_as_one_of_them() -> None:
    async def calls() -> list[float]:
        admission = Admission(100.0)
        put_aside = [await admission.enter(1.0) for _ in range(4)]
        for each in put_aside:
            admission.leave(each, 3.0, 1.0)
        return [*put_aside, await admission.enter(2.0)]

    assert asyncio.run(calls()) == [1.0, 1.0, 1.0, 1.0, 6.0]
