"""Names of labels, and the fields by which a matter is coded.

A value of a field is the label `FIELD=VALUE`, next to labels without a field, so that searches,
filters, exports, the history and its undo treat all labels alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from indexer.errors import UsageError
from indexer.wording import visible

SEPARATOR = ";"
CODING_MARK = " (coding)"  # after the name of a column that another one has
NOTE = "note"  # what a rule can require, other than a value of a field
_MANY, _REQUIRED = "many", "required"
_NOTHING = "nothing"  # what a rule to remove requires
_NOT_NAMES = (NOTE, _NOTHING)
_RESERVED = "=,:;"  # in names of fields
_KEYS = "123456789agiqrtyz"  # those that mean nothing else on the pages


def label_names(labels: Iterable[str]) -> tuple[str, ...]:
    """Return labels for documents: stripped of white space, each once, in the order given.

    Raises `UsageError` for a label that is blank, that holds a semicolon (exports put one between
    labels), or a character that nobody sees: line ends, tabs and other control characters,
    bidirectional controls, characters without width.

    >>> label_names([" hot ", "privileged", "hot"])
    ('hot', 'privileged')
    """
    names = trim_label(labels)
    for name in names:
        if SEPARATOR in name:
            raise UsageError(
                f"the label {name!r} contains a semicolon, which separates labels in exports; "
                "give two labels"
            )
        if visible(name) != name:
            raise UsageError(
                f"the label {visible(name)!r} contains an invisible character; remove it"
            )
    return names


def trim_label(labels: Iterable[str]) -> tuple[str, ...]:
    """Return labels to look for: stripped of white space, each once, in the order given.

    Raises `UsageError` for a blank one.

    >>> trim_label(["a;b ", "a;b"])
    ('a;b',)
    """
    names = tuple(dict.fromkeys(name.strip() for name in labels))
    if "" in names:
        raise UsageError("a label must not be blank")
    return names


@dataclass(frozen=True, slots=True)
class CodingField:
    """A field, and the values that a document can have in it.

    `many`: a document can have several of them, else one. `required`: a document without one is
    not reviewed. The field without a name has labels that are not of the form `FIELD=VALUE`: its
    values, or without any, every label.
    """

    name: str
    values: tuple[str, ...]
    many: bool = False
    required: bool = False

    @classmethod
    def parse(cls, text: str) -> CodingField:
        """Return the field that a text such as `issues=price,delivery:many` describes.

        Without values, as in `issues=`, it is a field to remove.

        >>> CodingField.parse("privilege=privileged, not privileged:required").values
        ('privileged', 'not privileged')
        """
        name, equals, rest = text.partition("=")
        listed, *flags = rest.split(":")
        name = name.strip()
        values = label_names(listed.split(",")) if listed.strip() else ()
        unknown = set(flags) - {_MANY, _REQUIRED}
        if not equals or unknown:
            raise UsageError(
                f"{text!r} is no field; write NAME=VALUE,VALUE, and :many or :required after it"
            )
        label_names([name])
        if name in _NOT_NAMES or any(character in name for character in _RESERVED):
            raise UsageError(
                f"a field has another name than {' or '.join(_NOT_NAMES)}, "
                f"without any of {_RESERVED}"
            )
        return cls(name, values, _MANY in flags, _REQUIRED in flags)

    def __str__(self) -> str:
        flags = ((_MANY, self.many), (_REQUIRED, self.required))
        suffix = "".join(f":{flag}" for flag, is_set in flags if is_set)
        return f"{self.name}={','.join(self.values)}{suffix}"

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels of its values."""
        return tuple(self.label(value) for value in self.values)

    def label(self, value: str) -> str:
        """Return the label of a value."""
        return f"{self.name}={value}" if self.name else value

    def value(self, label: str) -> str:
        """Return the value of one of its labels."""
        return label.removeprefix(f"{self.name}=") if self.name else label

    def of(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Return the labels that belong to the field, also with former values of it."""
        if self.name:
            return tuple(label for label in labels if label.startswith(f"{self.name}="))
        return tuple(label for label in labels if not self.values or label in self.values)


@dataclass(frozen=True, slots=True)
class CodingRule:
    """A label, and what a document must have to carry it: a note, or a value of a field."""

    label: str
    needs: str

    @classmethod
    def parse(cls, text: str) -> CodingRule:
        """Return the rule of a text such as `privilege=privileged needs note`.

        `needs nothing` is a rule to remove.

        >>> CodingRule.parse("privilege=privileged needs note").needs
        'note'
        """
        label, word, needs = text.rpartition(" needs ")
        if not (word and label.strip() and needs.strip()):
            raise UsageError(f"{text!r} is no rule; write FIELD=VALUE needs {NOTE}, or needs FIELD")
        return cls(label.strip(), needs.strip())

    def __str__(self) -> str:
        return f"{self.label} needs {self.needs}"


@dataclass(frozen=True, slots=True)
class Coding:
    """The fields and rules of a matter."""

    fields: tuple[CodingField, ...] = ()
    rules: tuple[CodingRule, ...] = ()

    def __post_init__(self) -> None:
        """Raise `UsageError` for a rule about what no field has."""
        names = {field.name for field in self.fields}
        labels = {label for field in self.fields for label in field.labels}
        for rule in self.rules:
            if rule.label not in labels or rule.needs not in {NOTE, *names}:
                raise UsageError(
                    f"the rule {str(rule)!r} is about a value or a field that is not defined; "
                    "define it, or remove the rule: `needs nothing`"
                )

    def field(self, name: str) -> CodingField:
        """Return the field of that name. Raises `UsageError`."""
        for field in self.fields:
            if field.name == name:
                return field
        names = ", ".join(field.name for field in self.fields) or "none"
        raise UsageError(f"there is no field {name!r}; the fields are: {names}")

    def field_of(self, label: str) -> CodingField | None:
        """Return the named field that a label belongs to, None for a label without a field."""
        name, equals, _value = label.partition("=")
        fields = (field for field in self.fields if name and equals and field.name == name)
        return next(fields, None)

    def without_field(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Return the labels that belong to no named field."""
        return tuple(label for label in labels if self.field_of(label) is None)

    def related(self, labels: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
        """Return the labels of the fields of others; labels without a field are of one.

        >>> coding = Coding((CodingField("p", ("yes", "no")),))
        >>> coding.related(["old", "p=yes"], ["p=no"]), coding.related(["old", "p=yes"], ["new"])
        (('p=yes',), ('old',))
        """
        fields = {self.field_of(other) for other in others}
        return tuple(label for label in labels if self.field_of(label) in fields)

    def check(self, labels: Iterable[str]) -> None:
        """Raise `UsageError` for labels to add that are no values of their field, or are several
        of a field that has one.
        """
        chosen: dict[str, str] = {}
        for label in labels:
            field = self.field_of(label)
            if field is None:
                continue
            if label not in field.labels:
                raise UsageError(
                    f"{field.value(label)!r} is no value of the field {field.name}; "
                    f"its values are: {', '.join(field.values)}"
                )
            if not field.many and chosen.setdefault(field.name, label) != label:
                raise UsageError(f"a document has one value of the field {field.name}; give one")

    def added(self, labels: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
        """Return labels with others added; these replace the value of a field that has one.

        >>> Coding((CodingField("p", ("yes", "no")),)).added(["hot", "p=yes"], ["p=no"])
        ('hot', 'p=no')
        """
        result = dict.fromkeys(labels)
        for name in names:
            field = self.field_of(name)
            for other in field.of(tuple(result)) if field and not field.many else ():
                if other != name:
                    del result[other]
            result[name] = None
        return tuple(result)

    @property
    def needed(self) -> tuple[CodingField, ...]:
        """Return the fields without whose value a document is not reviewed: the required ones, or
        without any, all that have one value.
        """
        required = tuple(field for field in self.fields if field.required)
        return required or tuple(field for field in self.fields if not field.many) or self.fields

    def missing(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Return the names of the fields that a document with these labels needs and lacks."""
        labels = tuple(labels)
        return tuple(field.name for field in self.needed if not field.of(labels))

    @property
    def noted(self) -> frozenset[str]:
        """Return the labels that need a note."""
        return frozenset(rule.label for rule in self.rules if rule.needs == NOTE)

    def broken(
        self, before: Iterable[str], after: Iterable[str], noted: tuple[bool, bool]
    ) -> tuple[CodingRule, ...]:
        """Return the rules that a change of labels breaks.

        `noted`: whether the document has a note before and after it.
        """
        kept = self._broken(before, noted[0])
        return tuple(rule for rule in self._broken(after, noted[1]) if rule not in kept)

    def _broken(self, labels: Iterable[str], has_note: bool) -> list[CodingRule]:
        labels = set(labels)
        rules = [rule for rule in self.rules if rule.label in labels]
        return [
            rule
            for rule in rules
            if not (has_note if rule.needs == NOTE else self.field(rule.needs).of(labels))
        ]

    def keys(self) -> dict[str, str]:
        """Return the key of each label of the fields, as long as there are keys."""
        labels = [label for field in self.fields for label in field.labels]
        return dict(zip(labels, _KEYS, strict=False))

    def changed(self, fields: Iterable[CodingField], rules: Iterable[CodingRule]) -> Coding:
        """Return this with fields and rules added, replaced by name and label, or removed."""
        by_name = {field.name: field for field in (*self.fields, *fields)}
        by_label = {rule.label: rule for rule in (*self.rules, *rules)}
        return Coding(
            tuple(field for field in by_name.values() if field.values),
            tuple(rule for rule in by_label.values() if rule.needs != _NOTHING),
        )


NO_CODING = Coding()
ANY_LABEL = Coding((CodingField("", ()),))
