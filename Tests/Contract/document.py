"""The OpenAPI document as the checks see it: operations, references, and JSON Schemas made from its schemas."""

import re
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlsplit

import yaml
from jsonschema import Draft202012Validator, FormatChecker

METHODS = ("get", "put", "post", "delete", "patch", "head", "options", "trace")
LOWER_CASE_UUID = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"


class StrictLoader(yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader):
    """YAML without duplicate keys and without dates, as JSON has neither."""

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def _mapping(loader, node):
    keys = [loader.construct_object(key) for key, _ in node.value]
    doubled = {key for key in keys if keys.count(key) > 1}
    if doubled:
        raise yaml.YAMLError(f"duplicate keys {sorted(map(str, doubled))} at {node.start_mark}")
    return loader.construct_mapping(node, deep=True)


StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)

formats = FormatChecker(["date-time"])


@formats.checks("uri")
def _is_uri(value):
    return not isinstance(value, str) or bool(urlsplit(value).scheme)


@formats.checks("uri-reference")
def _is_uri_reference(value):
    return not isinstance(value, str) or not re.search(r'[\s<>"{}|\\^`]', value)


@dataclass(frozen=True)
class Operation:
    """One method on one path."""

    method: str
    path: str
    spec: dict

    @property
    def name(self):
        return self.spec.get("operationId", f"{self.method} {self.path}")

    @property
    def route(self):
        return f"{self.method.upper()} {self.path}"

    @cached_property
    def pattern(self):
        literal = re.split(r"\{[^}]+\}", self.path)
        return re.compile("^" + "[^/]+".join(map(re.escape, literal)) + "$")


class Document:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.spec = yaml.load(file, Loader=StrictLoader)
        self.operations = [
            Operation(method, path, item[method])
            for path, item in self.spec["paths"].items()
            for method in METHODS
            if method in item
        ]
        self._definitions = {}
        self._validators = {}

    @property
    def schemas(self):
        return self.spec["components"]["schemas"]

    def resolve(self, node):
        """Follow references until there is something to look at."""
        while isinstance(node, dict) and "$ref" in node:
            target = self.spec
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part.replace("~1", "/").replace("~0", "~")]
            node = target
        return node

    def operations_at(self, path):
        """Operations whose path matches; a literal path comes before one with parameters."""
        exact = [operation for operation in self.operations if operation.path == path]
        return exact or [operation for operation in self.operations if operation.pattern.match(path)]

    def parameters(self, operation):
        return [self.resolve(parameter) for parameter in operation.spec.get("parameters", [])]

    def request_media(self, operation):
        return self.resolve(operation.spec.get("requestBody", {})).get("content", {})

    def errors(self, schema, value, answer):
        """Say what is wrong with a value, as lines of text.

        An answer is held to what this document lists: no other fields, no other enumeration values, lower-case UUIDs.
        """
        key = (repr(schema), answer)
        if key not in self._validators:
            if answer not in self._definitions:
                converted = {name: self._converted(each, answer) for name, each in self.schemas.items()}
                self._definitions[answer] = converted
            root = {"$defs": self._definitions[answer], **self._converted(schema, answer)}
            self._validators[key] = Draft202012Validator(root, format_checker=formats)
        found = sorted(self._validators[key].iter_errors(value), key=lambda error: list(map(str, error.path)))
        return [f"/{'/'.join(map(str, error.path))}: {_short(error)}" for error in found]

    def _converted(self, schema, answer):
        """A 3.0 schema as JSON Schema 2020-12."""
        if "$ref" in schema:
            return {"$ref": schema["$ref"].replace("#/components/schemas/", "#/$defs/")}
        if "allOf" in schema and answer:
            schema = self._merged(schema)
        result = {}
        for key, value in schema.items():
            if key == "properties":
                result[key] = {name: self._converted(each, answer) for name, each in value.items()}
            elif key == "items" or (key == "additionalProperties" and isinstance(value, dict)):
                result[key] = self._converted(value, answer)
            elif key in ("allOf", "oneOf", "anyOf"):
                result[key] = [self._converted(each, answer) for each in value]
            elif key not in ("example", "default", "discriminator") and not key.startswith("x-"):
                result[key] = value
        if answer:
            self._close(schema, result)
        if "x-key-length" in schema:
            shortest, longest = schema["x-key-length"]
            result["propertyNames"] = {"minLength": shortest, "maxLength": longest}
            result["additionalProperties"] = {"not": {"type": "null"}}
        return result

    def _merged(self, schema):
        merged = {"type": "object", "properties": {}, "required": []}
        for part in map(self.resolve, schema["allOf"]):
            merged["properties"] |= part["properties"]
            merged["required"] = merged["required"] + part.get("required", [])
        return merged

    def _close(self, schema, result):
        if schema.get("type") == "object":
            result.setdefault("additionalProperties", False)
        if "x-extensible-enum" in schema:
            result["enum"] = schema["x-extensible-enum"]
        if schema.get("format") == "uuid":
            result["pattern"] = LOWER_CASE_UUID
        conditions = [
            {"if": {"properties": {field: {"const": value}}}, "then": {"required": names}}
            for field, cases in schema.get("x-required-when", {}).items()
            for value, names in cases.items()
        ]
        if conditions:
            result["allOf"] = conditions


def _short(error):
    message = error.message
    return message if len(message) <= 300 else f"{message[:200]} … {message[-90:]}"
