"""What a law is, what happens when one is broken, and how a book of laws is applied to an object.

A law is a function of one *case* (the object under test with the means to make data for it). Its name is what
a report shows; its docstring states it. It holds when the function returns; it is broken when the function
raises, whatever it raises: an object that cannot even be evaluated keeps no law.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol


class LawViolation(AssertionError):
    """An object does not keep a law of its kind.

    Parameters
    ----------
    law : str
        Name of the law.
    subject : str
        The object, as a reader knows it: ``"kernel rbf(sigma=1.0)"``.
    detail : str
        What was expected, what was found, and the smallest counter-example at hand.

    Examples
    --------
    >>> print(LawViolation("declared symmetry", "kernel skew", "k(x, z) = 1.0 but k(z, x) = 2.0"))
    kernel skew breaks the law "declared symmetry": k(x, z) = 1.0 but k(z, x) = 2.0
    """

    def __init__(self, law: str, subject: str, detail: str) -> None:
        super().__init__(law, subject, detail)  # all three, so that the exception pickles (pytest-xdist)
        self.law = law
        self.subject = subject
        self.detail = detail

    def __str__(self) -> str:
        return f'{self.subject} breaks the law "{self.law}": {self.detail}'


class Case(Protocol):
    """The object under test, with the means to make data for it."""

    @property
    def subject(self) -> str:
        """The object as a reader knows it."""


def fail(detail: str) -> NoReturn:
    """Say that the law being checked is broken, and how."""
    raise AssertionError(detail)


@dataclass(frozen=True)
class Law:
    """One named law; call it with a case to check it."""

    name: str
    function: Callable[[Any], None]
    excuse: Callable[[Any], str | None] | None = None

    @property
    def statement(self) -> str:
        """The law in one sentence."""
        return " ".join((self.function.__doc__ or "").strip().split("\n\n")[0].split())

    def not_applicable(self, case: Case) -> str | None:
        """Why the law says nothing about this object, or None when it does say something."""
        try:
            return self.excuse(case) if self.excuse else None
        except Exception:
            return None  # an object too broken to be asked is told so by checking the law

    def __call__(self, case: Case) -> None:
        """Check the law; raise `LawViolation` when it is broken."""
        try:
            self.function(case)
        except LawViolation:
            raise
        except AssertionError as broken:
            raise LawViolation(self.name, case.subject, str(broken)) from broken.__cause__
        except Exception as error:
            detail = f"it raised {type(error).__name__}: {error}"
            raise LawViolation(self.name, case.subject, detail) from error


@dataclass(frozen=True)
class Check:
    """One law about one object; calling it checks it.

    Attributes
    ----------
    law : Law
    case : Case

    Examples
    --------
    >>> from kernreg.testing import kernel_checks
    >>> check = next(kernel_checks("linear"))
    >>> check()  # raises LawViolation where the law does not hold
    """

    law: Law
    case: Any

    @property
    def id(self) -> str:
        """Readable name, used as the test id under pytest."""
        return f"{self.case.subject}-{self.law.name}".replace(" ", "-")

    def __call__(self) -> None:
        """Check the law; raise `LawViolation` when it is broken."""
        self.law(self.case)

    def __repr__(self) -> str:
        return f"<check {self.law.name!r} of {self.case.subject}>"


@dataclass(frozen=True)
class Verdict:
    """What became of one law: ``"held"``, ``"broken"`` or ``"not applicable"``, and why.

    Examples
    --------
    >>> Verdict("symmetry", "kernel rbf", "held").outcome
    'held'
    """

    law: str
    subject: str
    outcome: str
    detail: str = ""


@dataclass(frozen=True)
class LawBook:
    """The laws of one kind, in the order in which they are checked."""

    kind: str
    laws: list[Law] = field(default_factory=list)

    def law(
        self, name: str, *, excuse: Callable[[Any], str | None] | None = None
    ) -> Callable[[Callable[[Any], None]], Law]:
        """Decorate a function so that it becomes a law of this book.

        Parameters
        ----------
        name : str
            What reports call it.
        excuse : callable, optional
            Takes a case and returns why the law says nothing about it, or None.
        """

        def enter(function: Callable[[Any], None]) -> Law:
            law = Law(name, function, excuse)
            self.laws.append(law)
            return law

        return enter

    def checks(self, case: Case) -> Iterator[Check]:
        """Iterate over the checks that apply."""
        return (Check(law, case) for law in self.laws if law.not_applicable(case) is None)

    def verdicts(self, case: Case) -> Iterator[Verdict]:
        """Check every law and say what became of it; never raises."""
        for law in self.laws:
            excuse = law.not_applicable(case)
            if excuse is not None:
                yield Verdict(law.name, case.subject, "not applicable", excuse)
                continue
            try:
                law(case)
            except LawViolation as violation:
                yield Verdict(law.name, case.subject, "broken", violation.detail)
            else:
                yield Verdict(law.name, case.subject, "held")
