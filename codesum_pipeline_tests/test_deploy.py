"""What lies in deploy/ parses, and names only what there is."""

import configparser
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.settings.operation_settings import BROKER_VARIABLE, POSTGRES_VARIABLE
from codesum_pipeline.ways_in.cli.cli_app import COMMANDS, load_command
from codesum_pipeline_tests.support.serving import served

DEPLOY = Path(__file__).parent.parent / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
COMPOSE = yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text())
HELM = DEPLOY / "helm"
DAGSTERS = yaml.safe_load((HELM / "dagster-values.yaml").read_text())
OURS = ("webserver", "daemon", "webhooks", "worker", "web", "mcp")
EXAMPLES = [DEPLOY / place / "environment.example" for place in ("systemd", "compose")]
# What the chart calls the settings of `identity`.
IDENTITY = {
    "issuer": "ISSUER",
    "webUrl": "WEB_URL",
    "clientId": "CLIENT_ID",
    "mcpUrl": "MCP_URL",
    "groups": "GROUPS",
}
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
    for file in EXAMPLES:
        yield named_variables(file)
    for name in OURS:
        yield COMPOSE["services"][name]["environment"]
    for deployment in DAGSTERS["dagster-user-deployments"]["deployments"]:
        yield deployment["env"]


def named_variables(file: Path) -> dict[str, str]:
    """The variables of a file, those that are commented out, too, as Docker and systemd read them."""
    lines = [line.removeprefix("#") for line in file.read_text().splitlines() if re.match(r"#?[A-Z_]+=", line)]
    quoted = re.compile(r"""(['"])(.*)\1""")
    return {name: quoted.sub(r"\2", value) for name, value in (line.split("=", 1) for line in lines)}


def documented_variables() -> set[str]:
    """The variables that the page says every part is given."""
    table = (
        DEPLOY.parent.joinpath("docs/deploy.md").read_text().partition("| variables | for |")[2].partition("\n\n")[0]
    )
    return {name for row in table.splitlines() for name in re.findall(r"`([A-Z_]+)`", row.split("|")[1] if row else "")}


def interpolated(value: str, given: dict[str, str]) -> str:
    """A text of the compose file as Docker reads it; `KeyError` for a variable that must be given and is not."""

    def fill(found: re.Match[str]) -> str:
        name, operator, word = found["name"], found["operator"], found["word"]
        return given[name] if given.get(name) or operator != ":-" else word

    return re.sub(r"\$\{(?P<name>[A-Z_]+)(?P<operator>:[-?])?(?P<word>[^}]*)\}", fill, value)


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

    assert required == {"POSTGRES_PASSWORD", "REDIS_PASSWORD", "CODESUM_WEBHOOK_SECRET"}
    assert set(re.findall(r"\$\{([A-Z_]+)", text)) - {"IMAGE"} <= set(re.findall(r"(?m)^([A-Z_]+)=", example))
    assert all(f"{name}=\n" in example for name in required)
    assert set(COMPOSE["services"]) == {"postgres", "redis", *OURS}


def test_the_chart_loads_the_definitions_and_names_the_driver_of_postgres() -> None:
    (deployment,) = DAGSTERS["dagster-user-deployments"]["deployments"]

    assert deployment["dagsterApiGrpcArgs"] == ["--module-name", "codesum_pipeline.definitions"]
    assert DAGSTERS["postgresql"]["postgresqlScheme"] == "postgresql+psycopg2"
    assert DAGSTERS["runLauncher"]["type"] == "K8sRunLauncher"


def test_a_line_of_the_file_reaches_every_part_of_compose_and_nothing_else_sets_it() -> None:
    example = named_variables(EXAMPLES[1])
    parts = [COMPOSE["services"][name] for name in OURS]

    assert {part["env_file"] for part in parts} == {"environment"}
    assert all("./files:/etc/codesum:ro" in part["volumes"] for part in parts)
    # What is set beside the file is given by it, or never empty.
    given = {name: value or "given" for name, value in example.items()}
    for part in parts:
        filled = {name: interpolated(value, given) for name, value in part["environment"].items()}
        assert all(filled.values())
        assert {name: value for name, value in given.items() if filled.get(name, value) != value} == {}
    # Those that the file itself sets from others.
    assert documented_variables() - {"CODESUM_POSTGRES_URL", "CODESUM_BROKER_URL"} <= set(example)


SIGN_IN = {"CODESUM_OIDC_CLIENT_SECRET", *(f"CODESUM_IDENTITY__{name}" for name in IDENTITY.values())}


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.parent.name)
def test_where_people_sign_in_no_token_is_needed(file: Path, tmp_path: Path) -> None:
    example = named_variables(file)
    given = {name: example[name] or "secret" for name in SIGN_IN}
    found = load_settings({"home": tmp_path}, environ=given).identity

    assert found.has_web and found.has_mcp
    assert found.groups == {"developers": ("*", "!payments-*"), "payments": ("payments-*",)}
    (tmp_path / "home").mkdir()
    for name, *arguments in (COMPOSE["services"][part]["command"][1:] for part in ("web", "mcp")):
        here = [re.sub(r":?\d{4}$", lambda port: ":0" if ":" in port[0] else "0", each) for each in arguments]
        shown = [interpolated(each, {}) for each in here]
        with served(tmp_path / "home", tmp_path, name, *shown, env=given) as address:
            assert address.startswith("http://")


def test_what_may_be_left_out_is_not_set_to_nothing() -> None:
    for file in EXAMPLES:
        set_here = {line.partition("=")[0] for line in file.read_text().splitlines() if re.match(r"[A-Z_]+=", line)}

        assert not {name for name in set_here if name.startswith(("AWS_", "GIT"))}


def test_every_unit_reads_the_file_that_names_each_variable() -> None:
    started = {shlex.split(_unit(unit)["Service"]["ExecStart"])[1] for unit in UNITS}

    assert started == {"dev", "worker", "web", "mcp", "webhooks"}
    assert documented_variables() - {"CODESUM_WEBHOOK_SECRET"} <= set(named_variables(EXAMPLES[0]))


def test_the_values_of_the_chart_are_as_its_schema_says() -> None:
    schema = json.loads((HELM / "values.schema.json").read_text())

    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(yaml.safe_load((HELM / "values.yaml").read_text()), schema)


SIGNED_IN = {
    "issuer": "https://login.example.org/realms/acme",
    "webUrl": "https://code.example.org",
    "clientId": "codesum",
    "mcpUrl": "https://code.example.org/mcp",
    "groups": {"developers": ["*", "!payments-*"]},
}


@pytest.mark.parametrize(
    ("left_out", "given", "is_fine"),
    [
        pytest.param((), {}, True, id="the page and MCP"),
        pytest.param(("webUrl", "clientId"), {}, True, id="MCP alone"),
        pytest.param(("mcpUrl",), {}, True, id="the page alone"),
        pytest.param(("groups",), {}, False, id="no groups"),
        pytest.param(("webUrl", "mcpUrl"), {}, False, id="no address"),
        pytest.param((), {"issuer": "http://login.example.org"}, False, id="an address that others can read"),
        pytest.param((), {"issur": "https://login.example.org"}, False, id="a misspelt name"),
    ],
)
def test_the_schema_says_what_a_provider_needs(left_out: tuple[str, ...], given: dict[str, str], is_fine: bool) -> None:
    schema, values = (
        json.loads((HELM / "values.schema.json").read_text()),
        yaml.safe_load((HELM / "values.yaml").read_text()),
    )
    chosen = {name: value for name, value in SIGNED_IN.items() if name not in left_out}
    # As Helm merges them: what a person leaves out is as in the chart's own values.
    values["identity"] = {**values["identity"], **chosen, **given}

    assert jsonschema.Draft7Validator(schema).is_valid(values) == is_fine


def rendered(values: dict[str, Any]) -> list[dict[str, Any]]:
    """What Helm makes of the chart."""
    import helm_python

    with helm_python.Chart.load(str(HELM)) as chart:
        texts = chart.render(values, name="release", namespace="default")
    return [each for text in texts.values() for each in yaml.safe_load_all(text) if each]


def containers(objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The containers of all deployments by name."""
    pods = [each["spec"]["template"]["spec"] for each in objects if each["kind"] == "Deployment"]
    return {one["name"]: one for pod in pods for one in pod["containers"]}


@pytest.mark.distributed
def test_the_chart_starts_every_part_with_the_same_variables_and_files() -> None:
    given = {"AWS_REGION": "eu-central-1", "AWS_ENDPOINT_URL": "https://minio.example.com"}
    values = {"environment": given, "secrets": ["codesum", "hosts"], "files": "certificates", "caBundle": "ca.pem"}
    objects = rendered({**values, "hostNames": ["code.example.com"], "worker": {"replicas": 4}})
    found = containers(objects)

    assert set(found) == set(OURS)
    for each in found.values():
        program, name, *rest = each["args"]
        known = {option for one in load_command(name).params for option in one.opts}
        assert program == "codesum" and {word for word in rest if word.startswith("--")} <= known
        environment = {one["name"]: one["value"] for one in each["env"]}
        assert given.items() <= environment.items()
        assert all(environment.values())
        assert not {name for name in environment if name.startswith("AWS_")} - set(given)
        assert environment["CODESUM_CA_BUNDLE"] == "/etc/codesum/ca.pem"
        assert environment["CODESUM_ENGINE__MAX_CONCURRENT_RUNS"] == "4"
        assert [one["secretRef"]["name"] for one in each["envFrom"]] == ["codesum", "hosts"]
        assert {"name": "files", "mountPath": "/etc/codesum", "readOnly": True} in each["volumeMounts"]
        ours = {name: value for name, value in environment.items() if name not in ("CODESUM_HOME", "CODESUM_CA_BUNDLE")}
        assert load_settings({"home": Path("/nowhere")}, environ=ours).engine.launcher == "celery"
    assert found["web"]["args"][-2:] == found["mcp"]["args"][-2:] == ["--host-name", "code.example.com"]
    services = {each["metadata"]["name"] for each in objects if each["kind"] == "Service"}
    assert services == {f"release-{name}" for name in ("webserver", "webhooks", "web", "mcp")}


@pytest.mark.distributed
def test_the_provider_of_the_chart_reaches_the_page_and_mcp() -> None:
    without, found = containers(rendered({})), containers(rendered({"identity": SIGNED_IN}))

    assert not any("IDENTITY" in one["name"] for each in without.values() for one in each["env"])
    for name in ("web", "mcp"):
        ours = {one["name"]: one["value"] for one in found[name]["env"] if "IDENTITY" in one["name"]}
        identity = load_settings({"home": Path("/nowhere")}, environ=ours).identity
        assert identity.has_web and identity.has_mcp
        assert identity.groups == {"developers": ("*", "!payments-*")}
    only_mcp = containers(rendered({"identity": {**SIGNED_IN, "webUrl": "", "clientId": ""}}))["mcp"]
    assert all(one["value"] for one in only_mcp["env"])


@pytest.mark.distributed
def test_webhooks_share_the_disk_of_the_one_daemon() -> None:
    (pod,) = [each["spec"] for each in rendered({}) if each["metadata"]["name"] == "release-daemon"]

    assert (pod["replicas"], pod["strategy"]) == (1, {"type": "Recreate"})
    daemon, webhooks = pod["template"]["spec"]["containers"]
    assert daemon["volumeMounts"] == webhooks["volumeMounts"]


@pytest.mark.distributed
@pytest.mark.parametrize(
    ("values", "place"),
    [
        pytest.param({"wrker": {}}, "'wrker' not allowed", id="a misspelt name"),
        pytest.param({"home": "/var/lib/codesum"}, "/home", id="a folder as the home"),
        pytest.param({"home": "s3://key:secret@bucket/home"}, "/home", id="a password in the home"),
        pytest.param({"environment": {"AWS_REGION": ""}}, "/environment/AWS_REGION", id="an empty variable"),
        pytest.param(
            {"environment": {"CODESUM_HOME": "s3://a/b"}}, "'CODESUM_HOME'", id="a variable of the chart's own"
        ),
        pytest.param({"caBundle": "ca.pem"}, "/files", id="a bundle without its Secret"),
        pytest.param({"daemon": {"replicas": 2}}, "/daemon/replicas", id="two daemons"),
    ],
)
def test_helm_refuses_values_that_cannot_be(values: dict[str, Any], place: str) -> None:
    with pytest.raises(ValueError, match=re.escape(place)):
        rendered(values)


@pytest.mark.distributed
def test_the_chart_has_no_fault_that_helm_knows() -> None:
    import helm_python

    assert helm_python.lint(str(HELM))["errors"] == []
