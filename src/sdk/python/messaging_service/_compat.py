"""What differs between pydantic 1 and 2."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple, get_args, get_origin

import pydantic

# Each version lacks some names of the other.
_pydantic: Any = pydantic

IS_V2 = int(pydantic.VERSION.split(".")[0]) >= 2

if IS_V2:

    class Model(pydantic.BaseModel):
        """An answer of the service. Fields that this version does not know are kept."""

        model_config = {"extra": "allow", "populate_by_name": True, "protected_namespaces": ()}

else:

    class Model(pydantic.BaseModel):  # type: ignore[no-redef]
        """An answer of the service. Fields that this version does not know are kept."""

        class Config:
            extra = "allow"
            allow_population_by_field_name = True


def _strict(type_: Any, value: Any) -> Any:
    return _pydantic.TypeAdapter(type_).validate_python(value) if IS_V2 else _pydantic.parse_obj_as(type_, value)


def _fields(model: Any) -> List[Tuple[str, str, Any]]:
    """Name, name in the API, and type of each field of a model."""
    if IS_V2:
        return [(name, field.alias or name, field.annotation) for name, field in model.model_fields.items()]
    return [(name, field.alias, field.outer_type_) for name, field in model.__fields__.items()]


def parse(type_: Any, value: Any) -> Any:
    """The value as the type of the contract.

    The service has done what it answers, so an answer that does not fit is no error: the fields that fit are converted, the
    others stay as they came, and those that an older service lacks are None.
    """
    try:
        return _strict(type_, value)
    except pydantic.ValidationError:
        pass
    if get_origin(type_) is list and isinstance(value, list):
        return [parse(get_args(type_)[0], each) for each in value]
    if not (isinstance(type_, type) and issubclass(type_, Model) and isinstance(value, dict)):
        return value
    known = _fields(type_)
    fields = {name: parse(kind, value[alias]) if alias in value else None for name, alias, kind in known}
    extra = {name: each for name, each in value.items() if name not in {alias for _, alias, _ in known}}
    model: Any = type_
    return model.model_construct(**fields, **extra) if IS_V2 else model.construct(**fields, **extra)


def to_dict(model: Any) -> Dict[str, Any]:
    """The fields of a model under the names of the API."""
    fields: Dict[str, Any] = model.model_dump(by_alias=True, mode="json") if IS_V2 else model.dict(by_alias=True)
    return fields
