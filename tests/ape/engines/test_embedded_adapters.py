"""Adapters on the embedded engine: each passage gets the adapter it names, whatever other requests do."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ape.adapters.gguf import GGUF_FILE, GgufAdapter, read_gguf_adapter
from ape.engines import Sampling
from ape.engines.embedded import EmbeddedEngine, embedded_engine
from ape.engines.factory import open_engine
from ape.engines.model_selection import ModelSelection, select_models
from ape.errors import AdapterRefused, InputError, ModelError
from ape.passage.events import ignore_event
from ape.settings import Settings
from finetune.base_model import find_base
from finetune.export.gguf_lora import write_gguf_lora
from prompts import CHAT, Prompt, Question
from tests.finetune.export.engine_requests import NEAR, PROMPTS, by_llama, regrets
from tests.finetune.export.toy_adapters import make_adapter, make_gguf, make_tiny, make_tokenizer

SAMPLING = Sampling(temperature=0, top_p=1.0, seed=1, max_tokens=12, max_characters=1000)


@dataclass(frozen=True)
class TinyModel:
    """A tiny base model, as a directory and as a GGUF file, and two adapters of it."""

    base: Path
    model: Path
    directories: dict[str, Path]

    def adapters(self) -> list[GgufAdapter]:
        return [read_gguf_adapter(name, place, base=self.model) for name, place in self.directories.items()]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> TinyModel:
    folder = tmp_path_factory.mktemp("models")
    base = make_tiny(folder / "tiny")
    directories = {}
    for seed, name in enumerate(("one", "two")):
        directories[name] = make_adapter(folder / name, base, seed=seed)
        write_gguf_lora(directories[name], find_base(str(base)), directories[name] / GGUF_FILE)
    return TinyModel(base, make_gguf(base, folder / "tiny.gguf"), directories)


@pytest.fixture(scope="module")
def prompts() -> list[list[int]]:
    tokenizer = make_tokenizer()
    return [tokenizer(prompt.text).input_ids for prompt in PROMPTS[:6]]


def worst(tiny: TinyModel, name: str, prompts: list[list[int]], served: list[list[int]]) -> float:
    return max(regrets(tiny.base, tiny.directories.get(name), prompts, served))


async def test_a_slot_keeps_nothing_of_another_adapter(tiny: TinyModel, prompts: list[list[int]]) -> None:
    """The prompt cache of one adapter is wrong for the next: llama.cpp must read the same prompt again."""
    async with embedded_engine(tiny.model, name="tiny", concurrency=1, window=512, adapters=tiny.adapters()) as engine:
        answers: dict[str, list[list[int]]] = {}
        for prompt in prompts:
            for name in ("tiny", "one", "two", "one", "tiny"):
                answers.setdefault(name, []).extend(await by_llama(engine, name, [prompt]))
    for name, served in answers.items():
        twice = [prompt for prompt in prompts for _ in range(len(served) // len(prompts))]
        assert worst(tiny, name, twice, served) < NEAR, name


async def test_passages_at_once_each_have_their_own_adapter(tiny: TinyModel, prompts: list[list[int]]) -> None:
    names = ("tiny", "one", "two")
    async with embedded_engine(tiny.model, name="tiny", concurrency=4, window=512, adapters=tiny.adapters()) as engine:
        answers = await asyncio.gather(*(by_llama(engine, name, prompts) for name in names))
    for name, served in zip(names, answers, strict=True):
        assert worst(tiny, name, prompts, served) < NEAR, name


async def test_base_and_adapters_are_models_the_chosen_one_first(tiny: TinyModel) -> None:
    async with embedded_engine(
        tiny.model, name="tiny", concurrency=1, window=512, adapters=tiny.adapters(), default_model="two"
    ) as engine:
        models = await engine.models()
        assert [(model.name, model.format) for model in models] == [("two", "sep"), ("tiny", "chat"), ("one", "sep")]
        assert {model.window for model in models} == {512}
        own = next(model for model in models if model.name == "tiny").revision
        assert all(model.revision.startswith(own) for model in models)
        assert len({model.revision for model in models}) == 3
        async with engine.using("default") as model:
            assert model.name == "two"


async def draft_text(engine: EmbeddedEngine, name: str, prompt: Prompt) -> str:
    async with engine.using(name) as model:
        return (await engine.ask(prompt, SAMPLING, model=model, listen=ignore_event)).draft.text


async def test_a_repeatable_engine_says_the_same_in_any_order(tiny: TinyModel) -> None:
    chats = [CHAT.render(Question(f"{n} chats.", f"{n} cat.", "French", "English")) for n in range(3)]
    # Texts with a common beginning, which a slot could keep for the next.
    requests: list[tuple[str, Prompt]] = [("tiny", chat) for chat in chats]
    requests += [(name, prompt) for prompt in PROMPTS[:4] for name in ("one", "two")]
    requests += [("one", chats[0])]
    answers = []
    for order in (requests, requests[::-1], requests[::2] + requests[1::2]):
        async with embedded_engine(
            tiny.model, name="tiny", concurrency=1, window=2048, repeatable=True, adapters=tiny.adapters()
        ) as engine:
            model = (await engine.models())[1]
            assert engine.body_for(PROMPTS[0], model)["cache_prompt"] is False  # no cache for text prompts
            found = {(name, prompt.text): await draft_text(engine, name, prompt) for name, prompt in order}
        answers.append(found)
    assert answers[0] == answers[1] == answers[2]


def settings(tiny: TinyModel, tmp_path: Path, **given: Any) -> Settings:
    return Settings(cache=tmp_path, concurrency=1, window=512, **given)


async def test_the_settings_name_adapters_and_the_default(tiny: TinyModel, tmp_path: Path) -> None:
    chosen = settings(tiny, tmp_path, model=str(tiny.model), adapters=tiny.directories)
    async with open_engine(chosen) as engine:
        assert [model.name for model in await engine.models()] == ["tiny", "one", "two"]


def test_the_tuned_model_is_the_default_where_it_is_shipped(tiny: TinyModel, tmp_path: Path) -> None:
    tuned = tiny.directories["one"]
    given = settings(tiny, tmp_path)
    assert select_models(given, tuned=tmp_path / "none") == ModelSelection("smollm2-135m", {}, None)
    shipped = ModelSelection("smollm2-135m", {"smollm2-135m-ape": tuned}, "smollm2-135m-ape")
    assert select_models(given, tuned=tuned) == shipped
    assert select_models(settings(tiny, tmp_path, model="smollm2-135m-ape"), tuned=tuned) == shipped
    untuned = settings(tiny, tmp_path, model="smollm2-135m")
    assert select_models(untuned, tuned=tuned) == ModelSelection("smollm2-135m", {}, None)


def test_a_shipped_adapter_that_can_not_be_used_is_an_error(tiny: TinyModel, tmp_path: Path) -> None:
    broken = tmp_path / "tuned"
    shutil.copytree(tiny.directories["one"], broken)
    (broken / GGUF_FILE).write_bytes(b"GGUF")
    selection = select_models(settings(tiny, tmp_path), tuned=broken)
    with pytest.raises(ModelError, match=r"of this package can't be used\. .*Reinstall the package.*`model` to smoll"):
        selection.read_adapters(tiny.model)
    missing = select_models(settings(tiny, tmp_path, model="smollm2-135m-ape"), tuned=tmp_path / "none")
    with pytest.raises(ModelError, match="of this package can't be used"):
        missing.read_adapters(tiny.model)


def test_an_adapter_as_model_is_put_on_the_base_that_its_card_names(tiny: TinyModel, tmp_path: Path) -> None:
    given = {"adapters": tiny.directories, "model": "one"}
    with pytest.raises(InputError, match=r"adapter one was trained on tiny, .* Set `model` to its \.gguf file"):
        select_models(settings(tiny, tmp_path, **given))
    own = tmp_path / "own"
    shutil.copytree(tiny.directories["one"], own)
    card = own / "ape.json"
    card.write_text(card.read_text().replace('"tiny"', '"smollm2-135m"'))
    selection = select_models(settings(tiny, tmp_path, adapters={"own": own}, model="own"))
    assert (selection.base, selection.default) == ("smollm2-135m", "own")


@pytest.mark.parametrize("name", ["default", "smollm2-135m", "smollm2-135m-ape"])
def test_an_adapter_has_a_name_of_its_own(name: str, tiny: TinyModel, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is already the name of a model"):
        select_models(settings(tiny, tmp_path, adapters={name: tiny.directories["one"]}))


def test_an_adapter_that_is_not_there_is_told_before_anything_is_fetched(tiny: TinyModel, tmp_path: Path) -> None:
    with pytest.raises(AdapterRefused, match=r"adapter a \(.*nowhere\) can't be served\. There is no directory"):
        select_models(settings(tiny, tmp_path, adapters={"a": tmp_path / "nowhere"}))
