"""People whom a provider knows: who they are by their claims, and what their groups open.

The groups of a person are those of the token or sign-in; each opens the repositories that its patterns in the settings
say. Who is in no such group is refused, as is a token without groups or with too many.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import Scope

from codesum_pipeline.foundation.data_model.errors import CodesumError, NotAdmitted, OpensNothing
from codesum_pipeline.foundation.data_model.printable import count_noun, one_line, shorten_text
from codesum_pipeline.foundation.data_model.repository import JointScope, RepositoryScope
from codesum_pipeline.foundation.settings.identity_settings import IdentitySettings

# OpenID allows a subject 255 characters; names are shown and logged.
_LONGEST_SUBJECT = 255
_LONGEST_NAME = 100
_NAMES = ("name", "preferred_username", "email")


class Person(Struct, frozen=True):
    """Somebody whom the issuer calls `subject`, a name that may change, and the repositories that exist for them."""

    issuer: str
    subject: str
    name: str
    scope: JointScope

    @property
    def holder(self) -> str:
        """Whose questions are theirs; no name of a token is like it."""
        return f"{self.subject} at {self.issuer}"

    @property
    def audited(self) -> Mapping[str, str]:
        return {"token": "", "person": self.name, "subject": self.subject}

    @property
    def shown(self) -> str:
        return self.name or self.subject


class AdmittedPerson(Struct, frozen=True):
    """A person until the moment at which the token or sign-in ends."""

    person: Person
    until: datetime


class People(Protocol):
    """Those who may ask beside the holders of tokens, at one entrance."""

    @property
    def settings(self) -> IdentitySettings:
        """The provider, and what its groups open."""

    @property
    def routes(self) -> Sequence[BaseRoute]:
        """What everybody may ask for, to be able to sign in."""

    async def admitted(self, headers: Headers, secret: str) -> AdmittedPerson | None:
        """Who asks, with a `secret` that is no token of the file, or without one; None where nobody is named. Raises
        `NotAdmitted` and `ProviderUnusable`."""

    def refusal(self, scope: Scope, error: CodesumError | None) -> Response:
        """The answer to a request that nobody makes, or to one that was refused."""


def person_of(claims: Mapping[str, Any], settings: IdentitySettings) -> Person:
    """The person of valid claims; raises `NotAdmitted` for one who may read nothing here."""
    subject = claims["sub"]
    if not 0 < len(subject) <= _LONGEST_SUBJECT or one_line(subject) != subject:
        raise NotAdmitted(f"the token's subject is no name of at most {_LONGEST_SUBJECT} characters")
    named = (claims.get(each) for each in _NAMES)
    name = next((one_line(each) for each in named if isinstance(each, str) and one_line(each)), "")
    name = shorten_text(name, _LONGEST_NAME)
    groups = _groups_of(claims, settings)
    scopes = tuple(RepositoryScope(patterns) for group, patterns in settings.groups.items() if group in groups)
    if not scopes:
        who = f"{name or subject} is known to {settings.issuer}"
        none = f"none of their {count_noun(len(groups), 'group')} opens anything here"
        raise OpensNothing(f"{who}, but {none}: ask who runs this server (identity.groups)", person=subject)
    assert settings.issuer
    return Person(settings.issuer, subject, name, JointScope(scopes))


def _groups_of(claims: Mapping[str, Any], settings: IdentitySettings) -> frozenset[str]:
    claim, most = settings.groups_claim, settings.max_groups
    found = claims.get(claim)
    listed = [found] if isinstance(found, str) else found
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise OpensNothing(
            f"the token has no list of groups: let {settings.issuer} put them into the claim {claim!r} "
            "(identity.groups_claim); some providers leave them out where there are many",
            person=claims["sub"],
        )
    if len(listed) > most:
        raise OpensNothing(
            f"the token lists {len(listed):,} groups, and at most {most:,} are read: let "
            f"{settings.issuer} send those of this application alone",
            person=claims["sub"],
        )
    return frozenset(listed)
