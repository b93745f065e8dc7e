"""House rules for the document: what makes generated clients pleasant and the contract exact."""

import re

from openapi_spec_validator import OpenAPIV30SpecValidator

CAMEL_CASE = re.compile(r"^[a-z][A-Za-z0-9]*$")
SCHEMA_NAME = re.compile(r"^[A-Z][A-Za-z0-9]*$")
FORM = "application/x-www-form-urlencoded"
OPEN_FORMS = {"TokenForm", "RevocationForm"}
WHOLE_TEXTS = {"MetricsText", "OpenAPIText", "Page", "EventStream"}
EXPECTED_PARTNERS = {"If-None-Match": "304", "If-Match": "412", "Idempotency-Key": "422"}


def check(document):
    """All breaches, as lines of text."""
    found = [f"specification: {error.message}" for error in OpenAPIV30SpecValidator(document.spec).iter_errors()]
    if found:
        return found
    found += _operations(document)
    found += _schemas(document)
    found += _directions(document)
    found += _links(document)
    found += _unused(document)
    found += _examples(document)
    return found


def _operations(document):
    tags = {tag["name"] for tag in document.spec["tags"]}
    seen = set()
    for operation in document.operations:
        spec = operation.spec
        for complaint in [
            *_description(spec, tags, seen),
            *_parameters(document, operation),
            *_body(document, operation),
            *_responses(document, operation),
        ]:
            yield f"{operation.route}: {complaint}"


def _description(spec, tags, seen):
    name = spec.get("operationId", "")
    if not CAMEL_CASE.match(name) or name in seen:
        yield f"operationId {name!r} is missing, not camelCase or used twice"
    seen.add(name)
    if len(spec.get("tags", [])) != 1 or spec["tags"][0] not in tags:
        yield "needs exactly one declared tag"
    for field in ("summary", "description"):
        if not spec.get(field, "").strip():
            yield f"has no {field}"
    if spec.get("summary", "").endswith("."):
        yield "summary ends with a full stop"
    if "security" not in spec:
        yield "does not say its security"


def _parameters(document, operation):
    parameters = operation.spec.get("parameters", [])
    if any("$ref" not in parameter for parameter in parameters):
        yield "has an inline parameter"
    resolved = document.parameters(operation)
    in_path = {parameter["name"] for parameter in resolved if parameter["in"] == "path"}
    if in_path != set(re.findall(r"\{([^}]+)\}", operation.path)):
        yield f"path parameters {sorted(in_path)} differ from the path's"
    for parameter in resolved:
        if "$ref" not in parameter["schema"] or not parameter.get("description"):
            yield f"parameter {parameter['name']} lacks a named schema or a description"
        partner = EXPECTED_PARTNERS.get(parameter["name"])
        if partner and partner not in operation.spec["responses"]:
            yield f"takes {parameter['name']} without a {partner}"


def _body(document, operation):
    body = operation.spec.get("requestBody")
    if not body:
        return
    if "$ref" not in body:
        yield "has an inline request body"
    for media in document.request_media(operation).values():
        if "$ref" not in media["schema"]:
            yield "has an inline request schema"
    for status in ("400", "413", "415"):
        if status not in operation.spec["responses"]:
            yield f"takes a body without a {status}"


def _responses(document, operation):
    responses = operation.spec["responses"]
    security = operation.spec.get("security", [])
    needed = {"406", "500", "default"}
    needed |= {"401"} if security else set()
    needed |= {"403"} if any(scopes for each in security for scopes in each.values()) else set()
    for status in sorted(needed - set(responses)):
        yield f"has no {status}"
    for status, reference in responses.items():
        response = document.resolve(reference)
        yield from (f"{status}: {complaint}" for complaint in _response(document, status, response))
    names = {parameter["name"] for parameter in document.parameters(operation)}
    tagged = operation.method == "get" and "ETag" in document.resolve(responses["200"]).get("headers", {})
    if tagged != ("If-None-Match" in names) or tagged != ("304" in responses):
        yield "ETag, If-None-Match and 304 go together"


def _response(document, status, response):
    headers = {name: document.resolve(header) for name, header in response.get("headers", {}).items()}
    media = response.get("content", {})
    needed = {"Request-Id", "Cache-Control"}
    needed |= {"WWW-Authenticate"} if status == "401" and "text/html" not in media else set()
    needed |= {"Retry-After"} if status in ("429", "503") else set()
    needed |= {"Location"} if status in ("201", "303") and "Location" in headers else set()
    for name in sorted(needed - set(headers)):
        yield f"has no header {name}"
    for name, header in headers.items():
        if "$ref" not in header["schema"]:
            yield f"header {name} has an inline schema"
    for kind, each in media.items():
        if "$ref" not in each["schema"]:
            yield f"{kind} has an inline schema"
    if status[0] in "45" and not media:
        yield "a refusal without a body"


def _schemas(document):
    for name, schema in document.schemas.items():
        if not SCHEMA_NAME.match(name):
            yield f"schema {name}: not a plain noun in CamelCase"
        if not schema.get("description"):
            yield f"schema {name}: has no description"
        yield from (f"schema {name}: {complaint}" for complaint in _schema(name, schema, ""))


def _schema(name, schema, where):
    if "$ref" in schema:
        return
    kind = schema.get("type")
    if where and (kind == "object" or {"allOf", "oneOf", "anyOf"} & set(schema)):
        yield f"{where} is an inline object"
    if "nullable" in schema:
        yield f"{where or 'it'} is nullable"
    if kind == "string" and "enum" not in schema and name not in WHOLE_TEXTS:
        if not {"minLength", "maxLength"} <= set(schema):
            yield f"{where or 'it'} has no lengths"
    if kind in ("integer", "number") and not {"minimum", "maximum", "format"} <= set(schema):
        yield f"{where or 'it'} has no range or format"
    if kind == "array":
        if "maxItems" not in schema or "$ref" not in schema["items"]:
            yield f"{where or 'it'} has no maxItems or inline items"
    unknown = set(schema.get("required", [])) - set(schema.get("properties", {}))
    if unknown:
        yield f"requires {sorted(unknown)}, which it does not have"
    for field, each in schema.get("properties", {}).items():
        yield from _schema(name, each, f"{where}/{field}")


def _directions(document):
    """Requests are closed and enumerate; answers are open. OAuth keeps its own spelling of names."""
    requests, answers, oauth = set(), set(), set()
    for operation in document.operations:
        asked = _reach(document, [document.request_media(operation), document.parameters(operation)])
        told = _reach(document, list(operation.spec["responses"].values()))
        requests |= asked
        answers |= told
        if not operation.path.startswith("/v1"):
            oauth |= asked | told
    for name in sorted(requests):
        schema = document.schemas[name]
        closed = schema.get("additionalProperties") is False
        if schema.get("type") == "object" and "x-key-length" not in schema and closed == (name in OPEN_FORMS):
            yield f"schema {name}: a request object is closed, an OAuth form open"
    for name in sorted(answers):
        for where, schema in [("", document.schemas[name]), *document.schemas[name].get("properties", {}).items()]:
            if "enum" in schema:
                yield f"schema {name}{'/' * bool(where)}{where}: an enumeration in an answer is open"
            if where and name not in oauth and not CAMEL_CASE.match(where):
                yield f"schema {name}: {where} is not camelCase"


def _links(document):
    operations = {operation.spec["operationId"]: operation for operation in document.operations}
    for name, link in document.spec["components"].get("links", {}).items():
        target = operations.get(link.get("operationId"))
        if target is None:
            yield f"link {name}: leads to no operation"
            continue
        known = {parameter["name"] for parameter in document.parameters(target)}
        unknown = sorted(set(link.get("parameters", {})) - known)
        if unknown:
            yield f"link {name}: {target.route} has no parameter {', '.join(unknown)}"


def _unused(document):
    used = {kind: set() for kind in document.spec["components"]}
    for reference in _references(document.spec):
        parts = reference.removeprefix("#/components/").split("/")
        used[parts[0]].add(parts[1])
    for kind in ("schemas", "parameters", "headers", "responses", "requestBodies", "examples", "links"):
        for name in sorted(set(document.spec["components"].get(kind, {})) - used.get(kind, set())):
            yield f"components/{kind}/{name} is used nowhere"


def _examples(document):
    requests = set()
    for operation in document.operations:
        requests |= _reach(document, document.request_media(operation))
    for name, schema in document.schemas.items():
        if "example" in schema:
            reference = {"$ref": f"#/components/schemas/{name}"}
            for error in document.errors(reference, schema["example"], answer=name not in requests):
                yield f"schema {name}: its example: {error}"
    for where, media in _media(document.spec, "#"):
        examples = [media["example"]] if "example" in media else []
        examples += [document.resolve(each)["value"] for each in media.get("examples", {}).values()]
        for example in examples:
            for error in document.errors(media["schema"], example, answer=True):
                yield f"{where}: its example: {error}"


def _media(node, where):
    if isinstance(node, list):
        return
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "content":
                yield from ((f"{where}/{kind}", media) for kind, media in value.items())
            else:
                yield from _media(value, f"{where}/{key}")


def _references(node):
    if isinstance(node, list):
        for each in node:
            yield from _references(each)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref" or (isinstance(value, str) and value.startswith("#/components/")):
                yield value
            else:
                yield from _references(value)


def _reach(document, node):
    """Names of all schemas that can be reached from here."""
    names, waiting = set(), [node]
    while waiting:
        for reference in _references(waiting.pop()):
            name = reference.split("/")[-1]
            if "/schemas/" in reference and name in names:
                continue
            if "/schemas/" in reference:
                names.add(name)
            waiting.append(document.resolve({"$ref": reference}))
    return names
