"""Without keys, only local clients are allowed, and no page of another site."""

from __future__ import annotations

import httpx2
import pytest


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "http://127.0.0.1:8000"}, 200),
        ({"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-origin"}, 200),
        ({"Origin": "https://elsewhere.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Host": "elsewhere.example"}, 403),
    ],
)
def test_a_page_of_another_site_can_not_use_a_service_without_keys(
    service: httpx2.Client, headers: dict[str, str], status: int
) -> None:
    passage = {"source": "Il pleut.", "mt": "It rains.", "source_language": "fr", "target_language": "en"}
    assert service.post("/v1/post-edit", json=passage, headers=headers).status_code == status
    assert service.get("/v1/jobs", headers=headers).status_code == status
    if status == 403:
        files = {"source": ("a.txt", b"Il pleut."), "mt": ("b.txt", b"It rains.")}
        assert service.post("/v1/books", files=files, headers=headers).status_code == 403


def test_a_form_of_our_own_page_is_let_in_though_it_sends_no_origin(service: httpx2.Client) -> None:
    own = {"Origin": "null", "Sec-Fetch-Site": "same-origin"}
    assert service.get("/v1/jobs", headers=own).status_code == 200
    for other in ({"Origin": "null"}, {"Origin": "null", "Sec-Fetch-Site": "cross-site"}):
        assert service.get("/v1/jobs", headers=other).status_code == 403
