"""Links for one reviewer of one book: valid until they expire or are revoked."""

from __future__ import annotations

import pytest

from ape.jobs.job import Job
from ape.jobs.store import JobStore
from ape.review.links import UnknownLink, create_link, find_link, list_links, revoke_link


def test_a_link_is_found_by_its_secret_until_it_is_revoked(store: JobStore, job: Job) -> None:
    link, token = create_link(store.database, job.id, "Clara", days=7)
    assert find_link(store.database, token) == link
    assert (link.job, link.name) == (job.id, "Clara")
    revoke_link(store.database, job.id, link.id)
    with pytest.raises(UnknownLink, match="revoked"):
        find_link(store.database, token)
    assert [one.revoked is None for one in list_links(store.database, job.id)] == [False]


def test_an_expired_and_an_unknown_link_say_so(store: JobStore, job: Job) -> None:
    _, token = create_link(store.database, job.id, "Clara", days=1e-9)
    with pytest.raises(UnknownLink, match="expired"):
        find_link(store.database, token)
    with pytest.raises(UnknownLink, match="not valid"):
        find_link(store.database, "review-guess")


def test_a_link_of_another_book_can_not_be_revoked(store: JobStore, job: Job) -> None:
    link, token = create_link(store.database, job.id, "Clara", days=1)
    with pytest.raises(UnknownLink):
        revoke_link(store.database, "other", link.id)
    assert find_link(store.database, token)
