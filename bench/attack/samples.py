"""Valid values of a JSON schema, as the start of mutations."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, TypeAlias

Json: TypeAlias = Any
Schema: TypeAlias = Mapping[str, Any]

_MAX_TEXT = 20


class SchemaSampler:
    """Makes valid values of the schemas of a document.

    `known` are values by the name of a property or parameter, such as ids that exist: no pattern describes those.
    """

    def __init__(self, document: Schema, random: Random, known: Mapping[str, Sequence[Json]]) -> None:
        self._document, self._random, self._known = document, random, known

    def value(self, schema: Schema, name: str = "") -> Json:
        """A value of a schema for a property of that name."""
        if self._known.get(name):
            return self._random.choice(self._known[name])
        schema = self._resolved(schema)
        for key in ("oneOf", "anyOf"):
            if key in schema:
                return self.value(self._random.choice(schema[key]), name)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._random.choice(schema["enum"])
        if examples := schema.get("examples"):
            return self._random.choice(list(examples.values()) if isinstance(examples, dict) else examples)
        kind = schema.get("type", "object")
        return self._typed(schema, self._random.choice(kind) if isinstance(kind, list) else kind)

    def _typed(self, schema: Schema, kind: str) -> Json:
        match kind:
            case "object":
                return self._object(schema)
            case "array":
                items = schema.get("items", {"type": "string"})
                return [self.value(items) for _ in range(max(1, schema.get("minItems", 1)))]
            case "string":
                length = max(schema.get("minLength", 1), min(_MAX_TEXT, schema.get("maxLength", _MAX_TEXT)))
                return "".join(self._random.choice("abcdefghij") for _ in range(length))
            case "integer" | "number":
                lowest = schema.get("minimum", 0)
                return self._random.randint(int(lowest), int(schema.get("maximum", lowest + 100)))
            case "boolean":
                return self._random.random() < 0.5
            case _:
                return None

    def _object(self, schema: Schema) -> dict[str, Json]:
        required = set(schema.get("required", ()))
        properties: Mapping[str, Schema] = schema.get("properties", {})
        return {
            name: self.value(of, name)
            for name, of in properties.items()
            if name in required or self._random.random() < 0.5
        }

    def _resolved(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            found: Any = self._document
            for part in schema["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            schema = found
        return schema
