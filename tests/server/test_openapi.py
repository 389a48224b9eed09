"""The OpenAPI document: its structure, and examples that the server accepts and answers as the document says."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from every_estimator import documents
from scoring_cases import HOSTILE, mixed_table
from suffice import NaiveBayes, TextNaiveBayes
from suffice.naive_bayes import ComplementNB
from suffice.server.app import build
from suffice.server.hosting import Hosts, open_host
from suffice.server.openapi import document
from suffice.server.schemas import MOST_ENUMERATED, choice
from suffice.server.settings import Settings
from suffice.server.tokens import Tokens

SETTINGS = Settings(learn=True)
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "number": (int, float),
    "integer": int,
}
JSON = "application/json"
METHODS = {"get", "post"}


def models():
    """Models of a table of all types, of texts, of numbers without names, and one without a density."""
    rng = np.random.default_rng(0)
    y = np.resize([0, 1, 2], 90)
    table = mixed_table(rng, y)
    counts = rng.poisson(3.0, (90, 2)).astype(float)
    stays = pd.DataFrame({"stay": pd.to_timedelta(rng.integers(10, 500, 90) + 100 * y, unit="s")})
    return {
        "table": NaiveBayes({HOSTILE[3]: "poisson"}).fit(table, np.array(["no", "yes", "<b>"])[y]),
        "stays": NaiveBayes().fit(stays, y),
        "texts": TextNaiveBayes().fit(documents(rng, y), y % 2 == 0),
        "plain": NaiveBayes().fit(counts + rng.random((90, 2)), y),
        "complement": ComplementNB().fit(counts, y),
    }


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    folder, found = tmp_path_factory.mktemp("models"), []
    for name, model in models().items():
        model.save(folder / f"{name}.suffice")
        found.append(open_host(name, str(folder / f"{name}.suffice"), SETTINGS))
    yield Hosts(found)
    for each in found:
        each.close()


@pytest.fixture(scope="module")
def api(hosts):
    return json.loads(json.dumps(document(hosts, SETTINGS, tokens=False), allow_nan=False))


@pytest.fixture(scope="module")
def client(hosts):
    with TestClient(build(hosts, SETTINGS), base_url="http://localhost") as client:
        yield client


def operations(api):
    return [(path, method, operation) for path, item in api["paths"].items() for method, operation in item.items()]


def resolved(api, value):
    """A part of the document, or the one that it refers to."""
    while "$ref" in value:
        assert list(value) == ["$ref"]
        found = api
        for key in value["$ref"].removeprefix("#/").split("/"):
            found = found[key]
        value = found
    return value


def problems(api, schema, value, place="$"):
    """What of a value a schema does not allow."""
    schema = resolved(api, schema)
    found = []
    for key, rule in (("oneOf", lambda n: n == 1), ("anyOf", lambda n: n >= 1)):
        if key in schema and not rule(sum(not problems(api, each, value, place) for each in schema[key])):
            found.append(f"{place}: {key} of {value!r}")
    if "enum" in schema and not any(value == each and type(value) is type(each) for each in schema["enum"]):
        found.append(f"{place}: {value!r} is not in {schema['enum']}")
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(
        isinstance(value, TYPES[each]) and not (isinstance(value, bool) and each in ("number", "integer"))
        for each in types
    ):
        return [*found, f"{place}: {value!r} is not {types}"]
    if isinstance(value, int | float) and not schema.get("minimum", -np.inf) <= value <= schema.get("maximum", np.inf):
        found.append(f"{place}: {value!r} is out of range")
    if isinstance(value, dict):
        found += [f"{place}: no {name!r}" for name in schema.get("required", ()) if name not in value]
        for name, each in value.items():
            inner = schema.get("properties", {}).get(name, schema.get("additionalProperties", {}))
            found += problems(api, inner, each, f"{place}.{name}")
    if isinstance(value, list):
        for i, each in enumerate(value):
            found += problems(api, schema.get("items", {}), each, f"{place}[{i}]")
    return found


# ---------------------------------------------------------------------- structure


def check_schema(api, schema):
    """The rules of JSON schemas that the document uses."""
    if "$ref" in schema:
        resolved(api, schema)
        return
    known = {"type", "description", "required", "properties", "items", "enum", "oneOf", "anyOf", "minimum", "maximum"}
    assert set(schema) <= known | {"examples", "default", "additionalProperties", "maxLength", "contentMediaType"}
    types = schema.get("type", [])
    assert set([types] if isinstance(types, str) else types) <= set(TYPES)
    assert set(schema.get("required", ())) <= set(schema.get("properties", {}))
    for each in [
        *schema.get("properties", {}).values(),
        *schema.get("oneOf", ()),
        *schema.get("anyOf", ()),
        *(schema[key] for key in ("items", "additionalProperties") if key in schema),
    ]:
        check_schema(api, each)
    for key in ("enum", "oneOf", "anyOf"):
        assert key not in schema or len(schema[key]) > 0


def test_structure(api):
    assert set(api) == {"openapi", "info", "servers", "tags", "paths", "components"}
    assert re.fullmatch(r"3\.1\.\d", api["openapi"])
    assert {"title", "version"} <= set(api["info"])
    tags = [each["name"] for each in api["tags"]]
    assert tags == ["server", "table", "stays", "texts", "plain", "complement"]
    names = [operation["operationId"] for _, _, operation in operations(api)]
    assert len(set(names)) == len(names)
    for path, method, operation in operations(api):
        assert path.startswith("/")
        assert "{" not in path
        assert method in METHODS
        assert set(operation) <= {"tags", "operationId", "summary", "parameters", "requestBody", "responses"}
        assert set(operation["tags"]) <= set(tags)
        assert set(operation["responses"]) == {"200", "default"}
        assert resolved(api, operation["responses"]["default"])["content"]["application/problem+json"]
        contents = [resolved(api, each)["content"] for each in operation["responses"].values()]
        contents += [operation["requestBody"]["content"]] if "requestBody" in operation else []
        for content in contents:
            for media, each in content.items():
                assert re.fullmatch(r"[\w.+-]+/[\w.+-]+", media)
                check_schema(api, each["schema"])
        for each in operation.get("parameters", ()):
            assert {"name", "in", "schema"} <= set(each)
            assert each["in"] in ("query", "header")
            check_schema(api, each["schema"])
    for name, schema in api["components"]["schemas"].items():
        assert re.fullmatch(r"[a-zA-Z0-9._-]+", name)
        check_schema(api, schema)


def test_examples_are_of_their_schemas(api):
    examples = [
        (operation["operationId"], content)
        for _, _, operation in operations(api)
        for media, content in operation.get("requestBody", {"content": {}})["content"].items()
        if "example" in content
    ]
    assert len(examples) > 30
    for name, content in examples:
        assert problems(api, content["schema"], content["example"], name) == []
    wrong = {"rows": [{**examples[0][1]["example"]["rows"][0], HOSTILE[4]: 5}]}
    assert problems(api, examples[0][1]["schema"], wrong)


def test_rows_of_all_types(api):
    row = api["components"]["schemas"]["table.Row"]
    assert row["required"] == []
    cells = row["properties"]
    assert list(cells) == list(HOSTILE)
    assert api["components"]["schemas"]["stays.Row"]["properties"]["stay"]["type"] == ["number", "null"]
    assert cells[HOSTILE[0]]["type"] == ["number", "null"]
    assert cells[HOSTILE[2]]["anyOf"][0] == {"enum": ["blue", "green", "red", None]}
    assert cells[HOSTILE[4]]["type"] == ["string", "null"]
    assert api["components"]["schemas"]["complement.Row"]["required"] == ["0", "1"]
    assert api["components"]["schemas"]["texts.Label"] == {"enum": [False, True]}


def test_long_choices_are_not_listed():
    many = [f"c{i}" for i in range(MOST_ENUMERATED + 1)]
    found = choice(many, 5000, nullable=True)
    assert found == {"type": ["null", "string"], "description": "One of 5,000 values.", "examples": many[:10]}
    assert "enum" in choice(many[1:], MOST_ENUMERATED, nullable=False)
    assert choice([1, "a"], 2, nullable=False, others=True)["anyOf"][1]["type"] == ["number", "string"]
    assert choice([], 0, nullable=True)["type"] == "null"


def test_what_a_model_cannot_do_is_absent(api, hosts):
    assert "/models/complement/predict" in api["paths"]
    for path in ("explain", "score", "sample", "prior"):
        assert f"/models/complement/{path}" not in api["paths"]
        assert f"/models/plain/{path}" in api["paths"]
    texts = api["paths"]["/models/texts/learn"]["post"]
    assert "text/plain" in texts["requestBody"]["content"]
    assert "text/plain" not in api["paths"]["/models/plain/learn"]["post"]["requestBody"]["content"]


def test_tokens(hosts):
    api = document(hosts, SETTINGS, tokens=True)
    assert api["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    for path, _, operation in operations(api):
        last = path.rpartition("/")[2]
        scope = "learn" if last in ("learn", "unlearn", "prior") else "read"
        assert operation["security"] == ([] if last in ("health", "ready") else [{"token": [scope]}])


# ---------------------------------------------------------------------- against the server


def test_the_server_has_every_address(api, client):
    served = client.get("/openapi.json")
    assert served.status_code == 200
    assert served.json() == api
    for path, method, _ in operations(api):
        if method == "get" and not path.endswith(("/drift", "/window")):
            assert client.get(path).status_code == 200, path


def test_every_example_is_answered_as_the_document_says(api, client):
    n_answers = 0
    for path, method, operation in operations(api):
        for media, content in operation.get("requestBody", {"content": {}})["content"].items():
            if "example" not in content:
                continue
            body = json.dumps(content["example"]) if media == JSON else content["example"]
            given = {
                each["name"]: each["schema"]["examples"][0]
                for each in operation.get("parameters", ())
                if "examples" in each["schema"]
            }
            headers = {"Content-Type": media, "Accept": JSON}
            for query in queries(media, given):
                answer = client.request(method, path, content=body.encode(), params=query, headers=headers)
                assert answer.status_code == 200, (path, media, answer.text)
                schema = operation["responses"]["200"]["content"][JSON]["schema"]
                assert problems(api, schema, answer.json(), path) == []
                n_answers += 1
    assert n_answers > 60


def queries(media, given):
    """The parameters that an example is posted with: none, and all; a text to learn needs its class."""
    if media == "text/plain" and "label" in given:
        return [{"label": given["label"]}]
    return [{}, {name: value for name, value in given.items() if name != "label"}]


def test_descriptions_are_of_their_schema(api, client):
    found = client.get("/models").json()
    assert problems(api, api["paths"]["/models"]["get"]["responses"]["200"]["content"][JSON]["schema"], found) == []
    assert [each["name"] for each in found["models"]] == ["table", "stays", "texts", "plain", "complement"]


def test_problems_are_of_their_schema(api, client):
    answer = client.post("/models/plain/predict", content=b"{", headers={"Content-Type": JSON})
    assert answer.status_code == 400
    assert problems(api, {"$ref": "#/components/schemas/Problem"}, answer.json()) == []


def test_tokens_of_the_server(hosts):
    app = build(hosts, SETTINGS, Tokens.of({"k" * 20: "read"}))
    client = TestClient(app, base_url="http://localhost", headers={"Authorization": f"Bearer {'k' * 20}"})
    assert "securitySchemes" in client.get("/openapi.json").json()["components"]
