"""Links for one reviewer of one book: they expire, and can be revoked. Only the hash of a link's secret is stored."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import RowMapping, insert, select, update

from ape.errors import InputError
from ape.files.hashing import hash_text
from ape.jobs.database import Database
from ape.jobs.tables import DatabaseTime, review_links
from ape.review.paragraph import to_time

TOKEN_PREFIX = "review-"  # noqa: S105 - it tells links from API keys
MAX_DAYS = 365


class UnknownLink(InputError):
    """No link has that secret, or it has expired or was revoked."""

    status = 404
    title = "Unknown link"


@dataclass(frozen=True, slots=True)
class ReviewLink:
    """A link without its secret."""

    id: str
    job: str
    name: str
    created: datetime
    expires: datetime
    revoked: datetime | None


def create_link(database: Database, job: str, name: str, *, days: float) -> tuple[ReviewLink, str]:
    """Create a link and return it with its secret, which can't be read again."""
    if not name.strip() or len(name) > 80 or not name.isprintable():
        raise InputError("The name of a reviewer is 1 to 80 printable characters.", field="name")
    if not 0 < days <= MAX_DAYS:
        raise InputError(f"A link is valid for up to {MAX_DAYS} days.", field="days")
    token, name_of_link = TOKEN_PREFIX + secrets.token_urlsafe(24), secrets.token_hex(8)
    values = {"id": name_of_link, "job": job, "token_hash": hash_text(token), "name": name.strip()}
    times = {"created": DatabaseTime(), "expires": DatabaseTime() + days * 86_400.0}
    with database.write_transaction() as connection:
        connection.execute(insert(review_links).values(**values, **times))
        row = connection.execute(select(review_links).where(review_links.c.id == name_of_link)).mappings().one()
        return _link(row), token


def list_links(database: Database, job: str) -> list[ReviewLink]:
    """The links of a job, oldest first, with those that no longer work."""
    with database.read_transaction() as connection:
        query = select(review_links).where(review_links.c.job == job).order_by(review_links.c.created)
        return [_link(row) for row in connection.execute(query).mappings()]


def revoke_link(database: Database, job: str, id: str) -> None:
    """Revoke a link at once; raises UnknownLink where the job has none of that id."""
    mine = (review_links.c.job == job, review_links.c.id == id)
    with database.write_transaction() as connection:
        if connection.execute(update(review_links).where(*mine).values(revoked=DatabaseTime())).rowcount != 1:
            raise UnknownLink("The book has no such link.")


def find_link(database: Database, token: str) -> ReviewLink:
    """The link of a secret. Raises UnknownLink, which says whether it is unknown, expired or revoked."""
    with database.read_transaction() as connection:
        query = select(review_links, DatabaseTime().label("now"))
        found = query.where(review_links.c.token_hash == hash_text(token, errors="replace"))
        row = connection.execute(found).mappings().one_or_none()
    if row is None:
        raise UnknownLink("This link is not valid. Ask for a new one.")
    if row["revoked"] is not None:
        raise UnknownLink("This link was revoked. Ask the owner of the book for a new one.")
    if row["expires"] <= row["now"]:
        raise UnknownLink("This link has expired. Ask the owner of the book for a new one.")
    return _link(row)


def _link(row: RowMapping) -> ReviewLink:
    revoked = to_time(row["revoked"]) if row["revoked"] is not None else None
    return ReviewLink(
        row["id"], row["job"], row["name"], to_time(row["created"]), to_time(row["expires"]), revoked
    )  # fmt: skip
