"""What is wrong with a scenario: per mistake one line with key, found value and remedy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, get_args

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

_PLAIN: Final = {
    "tuple_type": "write a list in brackets",
    "model_type": "write a table of keys",
    "model_attributes_type": "write a table of keys",
    "bool_type": "write true or false",
    "bool_parsing": "write true or false",
    "string_type": "write a text in quotes",
    "float_type": "write a number",
    "float_parsing": "write a number",
    "int_type": "write a whole number",
    "int_parsing": "write a whole number",
    "int_parsing_size": "this number is beyond all bounds",
    "int_from_float": "write a whole number",
    "finite_number": "write a finite number",
}
"""Words for users, in place of Pydantic's, which name Python types."""
_MOST_SHOWN: Final = 60
SIMILAR: Final = 0.75
"""Share of letters that two words have in common if one is a misspelling of the other."""


def explain(
    error: ValidationError, model: type[BaseModel] | None = None, values: object = None
) -> list[str]:
    """All mistakes; those that explain others come first.

    ``model`` is a scenario by default, and ``values`` what was validated.
    """
    problems = sorted(error.errors(include_url=False), key=_gravity)
    return [line for problem in problems for line in _explain_one(problem, model, values)]


def closest(word: str, known: Iterable[str]) -> str | None:
    """A remark that suggests the most similar known word, if there is one."""
    import difflib

    close = difflib.get_close_matches(word, list(known), n=1, cutoff=SIMILAR)
    return f"did you mean {close[0]!r}?" if close else None


def _gravity(problem: ErrorDetails) -> int:
    """Unknown keys first: a misspelt key also counts as missing, which helps less."""
    return {"extra_forbidden": 0, "missing": 2}.get(problem["type"], 1)


def _explain_one(problem: ErrorDetails, model: type[BaseModel] | None, values: object) -> list[str]:
    """One line, or several if one check has found several mistakes."""
    location = problem["loc"]
    key = _key(location)
    context = problem.get("ctx", {})
    match problem["type"]:
        case "extra_forbidden":
            line = f"{key}: unknown key; {_allowed_keys(location, model, values)}"
        case "missing":
            line = f"{key}: this key is required"
        case "tuple_type" if isinstance(problem["input"], dict):
            line = f"{key}: write [[{key}]], since there may be several such tables"
        case "union_tag_not_found":
            line = f"{key}.kind: this key is required; it says which fault this is"
        case "too_long":
            line = f"{key}: list at most {context['max_length']} entries"
        case "union_tag_invalid":
            line = f"{key}.kind: found {context['tag']!r}; use one of {context['expected_tags']}"
        case _:
            return [_at(key, problem["input"], line) for line in _message(problem).split("\n")]
    return [line]


def _message(problem: ErrorDetails) -> str:
    message = problem["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return _PLAIN.get(problem["type"], message[:1].lower() + message[1:])


def _at(key: str, found: object, message: str) -> str:
    if isinstance(found, (int, float, str)):
        return f"{key}: found {shortened(found)}; {message}"
    return f"{key}: {message}" if key else message


def shortened(value: object) -> str:
    """A value as a message shows it, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def _key(location: tuple[int | str, ...]) -> str:
    """The dotted key as in the file: without the kind of a fault, which Pydantic inserts."""
    if location[:1] == ("faults",):
        location = (*location[:2], *location[3:])
    return ".".join(str(part) for part in location)


def _allowed_keys(
    location: tuple[int | str, ...], model: type[BaseModel] | None, values: object
) -> str:
    from thzsync.scenario.scenario import Scenario

    names = _field_names(model or Scenario, location[:-1], values)
    return closest(str(location[-1]), names) or f"allowed are {', '.join(names)}"


def _field_names(
    model: type[BaseModel], location: tuple[int | str, ...], values: object
) -> list[str]:
    """The keys of the table at a place; of its kind, where there are several."""
    found = [model]
    for part in location:
        kinds = [one for one in found if part in _kinds(one)]
        known = [one.model_fields[str(part)] for one in found if part in one.model_fields]
        if kinds:  # of a fault, which Pydantic inserts
            found = kinds
            continue
        values = _inside(values, part)
        if known:
            found = [m for field in known for m in models_of(field, values)]
    return list(dict.fromkeys(name for one in found for name in one.model_fields))


def _kinds(model: type[BaseModel]) -> tuple[Any, ...]:
    field = model.model_fields.get("kind")
    return () if field is None else get_args(field.annotation)


def _inside(values: Any, part: int | str) -> object:
    """What a table or list holds at a place, if it is one and holds anything there."""
    try:
        return values[part]
    except (TypeError, LookupError):
        return None


def models_of(field: FieldInfo, value: object = None) -> list[type[BaseModel]]:
    """The models that a key may hold; of an open section, the kind of its ``value``."""
    from thzsync.scenario.kinds import one_of

    kinds = one_of(field.annotation, field.metadata)
    return models_in(field.annotation) if kinds is None else [*kinds.kinds_in(value)]


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """The models in a type."""
    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in models_in(part)]
