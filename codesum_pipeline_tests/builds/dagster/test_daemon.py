"""Dagster's daemon as it is started here."""

import subprocess
import sys
import threading
import time

from codesum_pipeline.ways_in.dagster_ui.guarded_ui import ShortRest

# In a process of its own, since it changes Dagster.
ELAPSED = """
import sys, time
from types import SimpleNamespace
from dagster._core.definitions.sensor_definition import SensorType
from dagster._core.scheduler.instigation import InstigatorType, SensorInstigatorData
from dagster._daemon import sensor
from codesum_pipeline.ways_in.dagster_ui.guarded_ui import steady_sensors
steady_sensors()
for later_s in (-10, -100, 3600):
    data = SensorInstigatorData(last_tick_timestamp=time.time() + later_s, sensor_type=SensorType.STANDARD)
    state = SimpleNamespace(instigator_data=data, instigator_type=InstigatorType.SENSOR)
    print(sensor.is_under_min_interval(state, SimpleNamespace(min_interval_seconds=60)))
"""


def test_a_sensor_rests_for_its_interval_but_not_until_a_clock_that_was_set_back_is_there_again() -> None:
    done = subprocess.run([sys.executable, "-c", ELAPSED], check=True, capture_output=True, text=True)

    assert done.stdout.split() == ["True", "False", "False"]


def test_a_loop_that_measured_a_negative_time_rests_no_longer_than_others() -> None:
    began, event = time.monotonic(), threading.Event()

    assert not ShortRest(event, 0.01).wait(3_600)

    assert time.monotonic() - began < 3_600
    event.set()
    assert ShortRest(event, 0.01).is_set()
