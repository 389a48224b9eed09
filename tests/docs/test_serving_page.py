"""The page about the server and the files of units beside it say what the command, its limits and its figures are."""

import configparser
import json
import re
import shlex
from pathlib import Path

import click

from suffice import NaiveBayes
from suffice.cli.serve import command, limits_of
from suffice.server.hosting import Host, Hosts
from suffice.server.metrics import Metrics
from suffice.server.problems import Problem
from suffice.server.routes import ENDPOINTS
from suffice.server.settings import Limits, Settings

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "serving.md").read_text()
PYPROJECT = (DOCS.parent / "pyproject.toml").read_text()


def section(heading):
    return PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]


def cells(heading, column=0):
    """The code in a column of the table of a section."""
    lines = [line for line in section(heading).splitlines() if line.startswith("| ")][1:]
    return [each for line in lines for each in re.findall("`([^`]*)`", line.split(" | ")[column])]


def parsed(words):
    """The parameters of `suffice serve` with these arguments."""
    with command.make_context("serve", list(words)) as context:
        return context.params


def test_limits():
    names, values = cells("Limits"), cells("Limits", 1)
    for name, value in zip(names, values, strict=True):
        assert limits_of([f"{name}={value}"]) == Limits(), name
    assert len(names) == len(vars(Limits()))
    example = re.findall(r"`(--limit [^`]*)`", section("Limits"))[1]
    assert limits_of(parsed(["m.suffice", *shlex.split(example)])["limits"]) != Limits()


def test_addresses():
    names = {each.replace("/models/NAME", "", 1) for each in cells("Addresses") if each != "/models/NAME"}
    assert names == {each.path for each in ENDPOINTS} - {"", "/assets/{name}"}
    line = re.search(r"^(.*) need no token\.$", PAGE, flags=re.M)[1]
    opened = {each.path.replace("{name}", "…") for each in ENDPOINTS if each.access == "open"}
    assert set(re.findall("`([^`]*)`", line)) == opened


def test_metrics():
    model = NaiveBayes().fit([[1.0], [2.0], [5.0], [7.0]], ["a", "a", "b", "b"])
    metrics = Metrics(Hosts([Host("m", "m.suffice", Settings(), model)]), [])
    families = {family.name: family for family in metrics.collect()}
    names = {name.removesuffix("_total") for name in cells("Metrics") if name != "process_…"}
    assert names == set(families)


def test_statuses_have_a_meaning():
    found = [int(each) for each in cells("Errors")]
    assert len(found) == len(set(found)) > 15
    for each in found:
        assert Problem(each, "Why.").document()["title"]


def test_options():
    known = {option for each in command.params for option in each.opts} | {"--help"}
    named = set(re.findall(r"`(--[a-z-]+)[^`]*`", PAGE.split("## Run it as a service")[0]))
    assert named <= known
    every = {option for each in command.params if isinstance(each, click.Option) for option in each.opts}
    assert every - named == {"-q", "--quiet", "--debug"}


def test_web_servers_pass_the_name_on():
    blocks = re.findall(r"```text\n(.*?)```", section("Other machines"), re.DOTALL)
    assert len(blocks) == 2
    assert all("127.0.0.1:8000" in each for each in blocks)
    assert "proxy_set_header Host $host;" in blocks[1]


# ---------------------------------------------------------------------- files


def test_the_unit_of_systemd():
    unit = configparser.RawConfigParser(strict=False, delimiters=("=",), comment_prefixes=("#",))
    unit.optionxform = str
    unit.read(DOCS / "serving" / "suffice.service")
    service = unit["Service"]
    program, name, *words = shlex.split(service["ExecStart"])
    assert (program, name) == ("/opt/suffice/bin/suffice", "serve")
    found = parsed(words)
    assert found["state"] == "${STATE_DIRECTORY}"
    assert found["token_file"] == f"${{CREDENTIALS_DIRECTORY}}/{service['LoadCredential'].split(':')[0]}"
    assert found["learn"]
    assert service["Type"] == "notify"
    assert service["StateDirectory"]
    hardened = ("DynamicUser", "NoNewPrivileges", "ProtectHome", "PrivateTmp", "MemoryDenyWriteExecute")
    assert all(service[each] == "yes" for each in hardened)
    assert service["ProtectSystem"] == "strict"
    assert int(service["LimitNOFILE"]) > Limits().connections + 1000


def test_the_container():
    lines = (DOCS / "serving" / "Containerfile").read_text().replace("\\\n", " ").splitlines()
    steps = [line.split(None, 1) for line in lines if line and not line.startswith("#")]
    last = dict(steps[max(i for i, step in enumerate(steps) if step[0] == "FROM") :])
    lowest = re.search(r'requires-python = ">=([\d.]+)"', PYPROJECT)[1]
    assert {value.split()[0] for name, value in steps if name == "FROM"} == {f"docker.io/library/python:{lowest}-slim"}
    program, name = json.loads(last["ENTRYPOINT"])
    assert (program, name) == ("/opt/suffice/bin/suffice", "serve")
    found = parsed(json.loads(last["CMD"]))
    assert (found["host"], found["port"], found["state"]) == ("0.0.0.0", int(last["EXPOSE"]), last["VOLUME"])
    assert last["USER"] == "suffice"
    checked = json.loads(last["HEALTHCHECK"].partition(" CMD ")[2])
    assert checked[:2] == ["/opt/suffice/bin/python", "-c"]
    assert re.search(r"'http://127\.0\.0\.1:8000(/\w+)'", checked[2])[1] in {each.path for each in ENDPOINTS}
    compile(checked[2], "health", "exec")


def test_the_extra_exists():
    assert re.search(r"^server = \[", PYPROJECT, flags=re.M)
    assert "pip install '.[server]'" in PAGE
