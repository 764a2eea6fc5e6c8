"""A job is created once, whatever fails, and followed to its end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ape.engines.retry import RetryPolicy
from ape.errors import Conflict, EngineError, EngineRefused, EngineUnavailable, InputError, KeyRefused, UnknownJob
from ape.passage.events import RetryEvent, ignore_event
from finetune.hosted.card import CARD, fetch_results, make_card, raise_for_failed_job, write_hosted_card
from finetune.hosted.job import HostedJobEvent, find_earlier_job, follow_job, start_job
from finetune.hosted.job_record import RECORD_FILE, HostedJobOrder, HostedJobRecord, HostedJobState, open_job_record
from finetune.hosted.provider import TICKET_KEY, HostedProvider
from tests.finetune.hosted.server import KEY, RESULTS, SUCCESS, Cut, Fail, Hosting, Nonsense, Stage, said, step

ORDER = HostedJobOrder(base="tiny", training="a" * 64, validation="b" * 64, prompt="chat@0123456789ab", data="data@1")
QUICK = RetryPolicy(attempts=3, first_wait=0.001, longest_wait=0.01)


@pytest.fixture
async def provider(provider_server: Hosting) -> AsyncIterator[HostedProvider]:
    async with HostedProvider(provider_server.url, key=KEY, listen=ignore_event, retry=QUICK) as provider:
        yield provider


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, Path]:
    for name in ("train", "dev"):
        (tmp_path / f"{name}.jsonl").write_text(f'{{"messages": "{name}"}}\n', encoding="utf-8")
    return {"a" * 64: tmp_path / "train.jsonl", "b" * 64: tmp_path / "dev.jsonl"}


@pytest.fixture
def record(tmp_path: Path, provider_server: Hosting) -> HostedJobRecord:
    return HostedJobRecord(tmp_path / RECORD_FILE, HostedJobState(url=provider_server.url))


async def test_files_go_first_and_the_order_names_them(
    provider_server: Hosting, provider: HostedProvider, record: HostedJobRecord, paths: dict[str, Path]
) -> None:
    order = ORDER.model_copy(update={"batch_size": 4, "learning_rate_multiplier": 0.5, "suffix": "ape"})
    job = await start_job(provider, record, order, paths=paths)
    assert provider_server.calls == ["upload", "upload", "create"]
    made = provider_server.jobs[job.id]
    assert provider_server.files[made["training_file"]] == paths["a" * 64].read_bytes()
    assert provider_server.files[made["validation_file"]] == paths["b" * 64].read_bytes()
    assert (made["model"], made["seed"], made["suffix"]) == ("tiny", 1, "ape")
    hyperparameters = {"n_epochs": 2, "batch_size": 4, "learning_rate_multiplier": 0.5}
    assert made["method"] == {"type": "supervised", "supervised": {"hyperparameters": hyperparameters}}
    assert made["metadata"]["prompt"] == "chat@0123456789ab"
    assert HostedJobState.model_validate_json(record.path.read_bytes()) == record.state
    assert record.state.job == job.id


async def test_what_is_left_to_the_provider_is_not_sent(
    provider_server: Hosting, provider: HostedProvider, record: HostedJobRecord, paths: dict[str, Path]
) -> None:
    job = await start_job(provider, record, ORDER.model_copy(update={"validation": None}), paths=paths)
    made = provider_server.jobs[job.id]
    assert made["method"]["supervised"]["hyperparameters"] == {"n_epochs": 2}
    assert "validation_file" not in made
    assert "suffix" not in made


async def test_an_upload_that_fails_in_passing_is_made_again(
    provider_server: Hosting, record: HostedJobRecord, paths: dict[str, Path]
) -> None:
    heard: list[object] = []
    provider_server.faults["upload"] = [Fail(503), Cut()]
    async with HostedProvider(provider_server.url, key=KEY, listen=heard.append, retry=QUICK) as provider:
        await start_job(provider, record, ORDER, paths=paths)
    assert provider_server.calls == ["upload"] * 4 + ["create"]
    assert [type(event) for event in heard] == [RetryEvent, RetryEvent]


async def test_an_order_whose_answer_was_lost_is_not_made_twice(
    provider_server: Hosting, provider: HostedProvider, record: HostedJobRecord, paths: dict[str, Path]
) -> None:
    provider_server.faults["create"] = [Cut(done=True)]
    job = await start_job(provider, record, ORDER, paths=paths)
    assert list(provider_server.jobs) == [job.id]
    assert provider_server.calls[-2:] == ["create", "list_jobs"]


@pytest.mark.parametrize("filters", [True, False])
async def test_a_job_that_we_died_over_is_found_by_its_ticket(
    provider_server: Hosting, provider: HostedProvider, record: HostedJobRecord, paths: dict[str, Path], filters: bool
) -> None:
    provider_server.filters, provider_server.page = filters, 2
    first = await start_job(provider, record, ORDER, paths=paths)
    for _ in range(5):  # other jobs
        provider_server.jobs[f"ftjob-x{len(provider_server.jobs)}"] = provider_server.jobs[first.id] | {
            "id": f"ftjob-x{len(provider_server.jobs)}",
            "metadata": {TICKET_KEY: "another"},
        }
    record.update(job=None)  # as if killed before the answer was recorded
    found = await find_earlier_job(provider, record, ORDER)
    assert found is not None
    assert (found.id, record.state.job) == (first.id, first.id)


async def test_an_order_that_never_arrived_may_be_made(
    provider_server: Hosting, provider: HostedProvider, record: HostedJobRecord
) -> None:
    record.record_order(ORDER)
    assert await find_earlier_job(provider, record, ORDER) is None
    assert provider_server.calls == ["list_jobs"]


async def test_a_file_is_sent_again_only_where_it_is_gone(
    provider_server: Hosting, provider: HostedProvider, record: HostedJobRecord, paths: dict[str, Path]
) -> None:
    await start_job(provider, record, ORDER, paths=paths)
    del provider_server.files[record.state.files["b" * 64]]
    provider_server.calls.clear()
    await start_job(provider, record, ORDER.model_copy(update={"seed": 2}), paths=paths)
    assert provider_server.calls == ["file", "file", "upload", "create"]


async def test_another_order_is_refused_where_a_job_is_under_way(
    provider: HostedProvider, record: HostedJobRecord, paths: dict[str, Path]
) -> None:
    job = await start_job(provider, record, ORDER, paths=paths)
    other = ORDER.model_copy(update={"epochs": 3, "training": "c" * 64})
    with pytest.raises(Conflict, match=rf"{job.id} .* with other training examples, epochs\. .*start another job"):
        await find_earlier_job(provider, record, other)


async def test_a_job_in_vain_bars_no_other_order(
    provider_server: Hosting, provider: HostedProvider, record: HostedJobRecord, paths: dict[str, Path]
) -> None:
    provider_server.plan = (Stage("failed"),)
    job = await start_job(provider, record, ORDER, paths=paths)
    assert await find_earlier_job(provider, record, ORDER.model_copy(update={"epochs": 3})) is None
    same = await find_earlier_job(provider, record, ORDER)
    assert same is not None
    assert (same.id, same.status) == (job.id, "failed")


async def test_a_job_that_nobody_knows_any_more_is_told(provider: HostedProvider, record: HostedJobRecord) -> None:
    record.record_order(ORDER)
    record.update(job="ftjob-gone")
    with pytest.raises(UnknownJob, match=r"knows no job ftjob-gone.*Start another job"):
        await find_earlier_job(provider, record, ORDER)


async def test_every_event_is_told_once_and_in_order(
    provider_server: Hosting, provider: HostedProvider, record: HostedJobRecord, paths: dict[str, Path]
) -> None:
    steps = tuple(step(number, 9) for number in range(1, 10))
    provider_server.plan = (
        Stage("running", (said("Started"), *steps[:5])),
        Stage("running", steps[5:8]),
        Stage("succeeded", (steps[8], said("Done"))),
    )
    provider_server.page = 2
    job = await start_job(provider, record, ORDER, paths=paths)
    heard: list[HostedJobEvent] = []
    ended = await follow_job(provider, job.id, every_seconds=0.001, watch=heard.append)
    assert ended.status == "succeeded"
    messages = [news for news in heard if news.message]
    assert [news.message.partition(":")[0] for news in messages] == [
        "Started", *(f"Step {number}/9" for number in range(1, 10)), "Done"
    ]  # fmt: skip
    assert [news.step for news in messages] == [None, *range(1, 10), None]
    assert (messages[3].steps, messages[3].loss) == (9, 1.0)


async def test_following_goes_on_after_a_broken_connection(
    provider_server: Hosting, provider: HostedProvider, record: HostedJobRecord, paths: dict[str, Path]
) -> None:
    provider_server.faults |= {"job": [Cut(), Fail(500)], "list_events": [Cut(), Fail(429)]}
    job = await start_job(provider, record, ORDER, paths=paths)
    heard: list[HostedJobEvent] = []
    ended = await follow_job(provider, job.id, every_seconds=0.001, watch=heard.append)
    assert ended.fine_tuned_model == "ft:tiny:ours:ape:1"
    assert [news.message for news in heard].count("Fine-tuning job started") == 1


async def test_a_server_that_stays_away_is_given_up(provider_server: Hosting, provider: HostedProvider) -> None:
    provider_server.faults["job"] = [Cut()] * 5
    with pytest.raises(EngineUnavailable, match="can't be reached or broke off"):
        await follow_job(provider, "ftjob-1", every_seconds=0.001, watch=lambda news: None)
    assert provider_server.calls == ["job"] * 3


@pytest.mark.parametrize("body", ["[]", "{}", '"x"', "<html>", '{"id": "ftjob-1", "status": 7}'])
async def test_nonsense_is_a_sentence(provider_server: Hosting, provider: HostedProvider, body: str) -> None:
    provider_server.faults["job"] = [Nonsense(body)] * 3
    with pytest.raises(EngineError, match="an invalid response"):
        await provider.job("ftjob-1")


@pytest.mark.parametrize("status", [400, 404, 409, 422])
async def test_a_refusal_is_not_asked_again(
    provider_server: Hosting, provider: HostedProvider, record: HostedJobRecord, paths: dict[str, Path], status: int
) -> None:
    provider_server.faults["create"] = [Fail(status, "no such base")]
    with pytest.raises(EngineRefused, match=f"{status}: no such base"):
        await start_job(provider, record, ORDER, paths=paths)
    assert provider_server.calls.count("create") == 1


async def test_an_empty_purse_is_not_asked_again(provider_server: Hosting, provider: HostedProvider) -> None:
    provider_server.faults["job"] = [Fail(429, "You exceeded your quota.", "insufficient_quota")]
    with pytest.raises(EngineRefused, match="the quota of this account is used up"):
        await provider.job("ftjob-1")
    assert provider_server.calls == ["job"]


async def test_a_wrong_key_is_told_but_not_repeated(provider_server: Hosting) -> None:
    async with HostedProvider(provider_server.url, key="sk-wrong-99", listen=ignore_event, retry=QUICK) as provider:
        with pytest.raises(KeyRefused) as caught:
            await provider.job("ftjob-1")
    assert "sk-wrong-99" not in str(caught.value)
    assert "Set APE_ENGINE_KEY to a key that may fine-tune at 127.0.0.1." in str(caught.value)
    assert provider_server.calls == ["job"]


def test_openai_without_a_key_is_not_asked_at_all() -> None:
    with pytest.raises(InputError, match="set OPENAI_API_KEY"):
        HostedProvider("https://api.openai.com/v1", key=None, listen=ignore_event)


async def test_a_failure_is_told_in_the_words_of_the_provider(
    provider_server: Hosting, provider: HostedProvider, record: HostedJobRecord, paths: dict[str, Path]
) -> None:
    error = {"code": "invalid_training_file", "message": "Line 3 has no answer.", "param": "training_file"}
    provider_server.plan = (Stage("validating_files"), Stage("failed", (), (("error", error),)))
    job = await start_job(provider, record, ORDER, paths=paths)
    ended = await follow_job(provider, job.id, every_seconds=0.001, watch=lambda news: None)
    with pytest.raises(EngineRefused, match=r"failed \(training_file\): Line 3 has no answer\."):
        raise_for_failed_job(ended)


async def test_the_card_tells_what_the_model_was_made_from(
    provider: HostedProvider, record: HostedJobRecord, paths: dict[str, Path], tmp_path: Path
) -> None:
    order = ORDER.model_copy(update={"languages": ("et-en", "fr-en")})
    job = await start_job(provider, record, order, paths=paths)
    ended = await follow_job(provider, job.id, every_seconds=0.001, watch=lambda news: None)
    raise_for_failed_job(ended)
    results = await fetch_results(provider, ended)
    card = write_hosted_card(make_card(ended, url=provider.url), tmp_path / "out", results=results)
    assert (tmp_path / "out" / CARD).read_text(encoding="utf-8") == card.model_dump_json(indent=2) + "\n"
    assert (tmp_path / "out" / "results-1.csv").read_bytes() == RESULTS
    assert (card.model, card.base, card.trained_tokens) == ("ft:tiny:ours:ape:1", "tiny", 1234)
    assert (card.prompt, card.data, card.languages) == ("chat@0123456789ab", "data@1", ("et-en", "fr-en"))
    assert card.training["n_epochs"] == 2
    assert card.last == {"step": "3", "train_loss": "1.25", "valid_loss": "1.75"}
    assert card.url == provider.url


async def test_a_model_is_not_lost_where_its_job_makes_little_sense(
    provider_server: Hosting, provider: HostedProvider, record: HostedJobRecord, paths: dict[str, Path]
) -> None:
    odd = (("trained_tokens", "many"), ("hyperparameters", 7), ("method", None))
    last = SUCCESS[-1]
    provider_server.plan = (Stage("succeeded", (), (*last.also, *odd)),)
    job = await start_job(provider, record, ORDER, paths=paths)
    ended = await follow_job(provider, job.id, every_seconds=0.001, watch=lambda news: None)
    with pytest.raises(EngineError, match="made the model ft:tiny:ours:ape:1"):
        make_card(ended, url=provider.url)


def test_one_command_at_a_time(tmp_path: Path) -> None:
    with (
        open_job_record(tmp_path, url="http://here"),
        pytest.raises(Conflict, match="Another command"),
        open_job_record(tmp_path, url="http://here"),
    ):
        pass


def test_a_directory_belongs_to_one_provider(tmp_path: Path) -> None:
    with open_job_record(tmp_path, url="http://here") as record:
        record.record_order(ORDER)
    with pytest.raises(Conflict, match="belongs to http://here"), open_job_record(tmp_path, url="http://there"):
        pass


@pytest.mark.parametrize("content", ["", "{", '{"version": 2, "url": "x"}', '{"url": 1}'])
def test_a_spoilt_state_is_not_taken_for_none(tmp_path: Path, content: str) -> None:
    (tmp_path / RECORD_FILE).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="so a job may be running"), open_job_record(tmp_path, url="http://here"):
        pass


def test_a_file_in_the_place_of_the_directory_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="can't be used"), open_job_record(tmp_path / "out", url="http://here"):
        pass
