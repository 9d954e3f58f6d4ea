"""What lies in deploy/ parses, and names only what there is."""

import configparser
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.settings.operation_settings import BROKER_VARIABLE, POSTGRES_VARIABLE
from codesum_pipeline.ways_in.cli.cli_app import COMMANDS, load_command

DEPLOY = Path(__file__).parent.parent / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
COMPOSE = yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text())
HELM = yaml.safe_load((DEPLOY / "helm" / "values.yaml").read_text())
OURS = ("webserver", "daemon", "webhooks", "worker")
# A value of each kind that a file leaves to the person.
FILLED = {"CODESUM_HOME": "/nowhere", "CODESUM_ENGINE__MAX_CONCURRENT_RUNS": "2"}


def _unit(file: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(file.read_text())
    return parser


def commands() -> Iterator[list[str]]:
    """Every call of codesum."""
    for unit in UNITS:
        yield shlex.split(_unit(unit)["Service"]["ExecStart"])
    for name in OURS:
        yield COMPOSE["services"][name]["command"]


def variables() -> Iterator[dict[str, str]]:
    """The environments that are given to codesum, filled in."""
    for file in (DEPLOY / "systemd" / "environment.example", DEPLOY / "compose" / "environment.example"):
        lines = [line.removeprefix("#") for line in file.read_text().splitlines() if re.match(r"#?[A-Z_]+=", line)]
        yield dict(line.split("=", 1) for line in lines)
    for name in OURS:
        yield COMPOSE["services"][name]["environment"]
    for deployment in HELM["dagster-user-deployments"]["deployments"]:
        yield deployment["env"]


@pytest.mark.parametrize("arguments", list(commands()), ids=" ".join)
def test_each_command_exists_with_its_options(arguments: list[str]) -> None:
    program, name, *rest = arguments
    assert Path(program).name == "codesum"
    assert name in {command.name for command in COMMANDS}
    known = {option for each in load_command(name).params for option in each.opts}

    assert {each for each in rest if each.startswith("--")} <= known


@pytest.mark.parametrize("chosen", list(variables()), ids=lambda chosen: f"{len(chosen)} variables")
def test_each_variable_is_a_setting_or_a_secret_that_is_read(chosen: dict[str, str], tmp_path: Path) -> None:
    ours = {name: FILLED.get(name, value) for name, value in chosen.items() if name.startswith("CODESUM_")}
    # A name for browsers is the compose file's own.
    ours.pop("CODESUM_HOST_NAME", None)

    settings = load_settings({"home": tmp_path}, environ=ours)

    secrets = {POSTGRES_VARIABLE, BROKER_VARIABLE}
    assert settings.engine.launcher == "local" or secrets <= set(ours)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_each_unit_reads_the_environment_and_starts_again(unit: Path) -> None:
    found = _unit(unit)

    assert found["Service"]["EnvironmentFile"] == "/etc/codesum/environment"
    assert found["Service"]["Restart"] == "always"
    assert found["Install"]["WantedBy"] == "multi-user.target"


def test_the_compose_file_asks_for_every_password_and_holds_none() -> None:
    text = (DEPLOY / "compose" / "compose.yaml").read_text()
    required = set(re.findall(r"\$\{([A-Z_]+):\?", text))
    example = (DEPLOY / "compose" / "environment.example").read_text()

    assert required == {"POSTGRES_PASSWORD", "REDIS_PASSWORD"}
    assert set(re.findall(r"\$\{([A-Z_]+)", text)) - {"CODESUM_IMAGE"} <= set(re.findall(r"(?m)^([A-Z_]+)=", example))
    assert all(f"{name}=\n" in example for name in required)
    assert set(COMPOSE["services"]) == {"postgres", "redis", *OURS}


def test_the_chart_loads_the_definitions_and_names_the_driver_of_postgres() -> None:
    (deployment,) = HELM["dagster-user-deployments"]["deployments"]

    assert deployment["dagsterApiGrpcArgs"] == ["--module-name", "codesum_pipeline.definitions"]
    assert HELM["postgresql"]["postgresqlScheme"] == "postgresql+psycopg2"
    assert HELM["runLauncher"]["type"] == "K8sRunLauncher"
