"""The plain form: paragraphs alone, through a processor of `ray.data.llm`.

It gives up what needs our loop: context and ledger, later drafts with another seed, the edit filter, other servers when
one dies, and records of unfinished work. Guards check each draft as always; a rejected one keeps the MT.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from ape.batch.actor import BatchWork
from ape.batch.folder import BatchFolder
from ape.batch.models import open_models
from ape.batch.planning import BatchPlan
from ape.batch.records import StretchProgress, quarantine
from ape.batch.rows import BatchStretch, FinishedParagraph, results_to_json
from ape.batch.run import TASK_CPUS, Cluster, read_rows, run_dataset, write_rows
from ape.engines.protocol import Engine, EngineHealth, Model, Reply, Sampling
from ape.errors import ApeError, EngineError, InputError
from ape.jobs.job_paragraph import JobParagraph, ParagraphState
from ape.jobs.stretch_editor import paragraph_segment
from ape.passage.events import Listener
from ape.passage.options import SamplingOptions, option_values
from ape.passage.result import PostEdit, Usage
from ape.passage.segment import Draft
from ape.post_editor import post_edit
from ape.settings import Settings
from prompts import Prompt
from prompts.escaping import EscapedText
from prompts.prompt import Message

GIVES_UP = (
    "Plain form: each paragraph alone, with one draft. There is no context, no ledger, no second draft, no edit filter "
    "and no other server when one dies."
)
_RETRIES = 5


def run_plain(folder: BatchFolder, plan: BatchPlan, work: BatchWork, cluster: Cluster) -> None:
    """Edit the plan with a processor of `ray.data.llm`; needs a connection to Ray."""
    check_plain(plan)
    models = asyncio.run(_models(work, list(plan.adapters)))
    processor = _processor(work, cluster, models)
    separate = _Finished(work.folder)

    def execute() -> None:
        rows = processor(read_rows(folder, plan))
        write_rows(folder, rows.map_batches(separate, batch_size=None, batch_format="numpy", num_cpus=TASK_CPUS))

    run_dataset(folder, execute)


def check_plain(plan: BatchPlan) -> None:
    """Raise InputError for a plan that the plain form can't carry out."""
    if plan.context:
        raise InputError("The plain form shows a paragraph alone. Plan with --context 0.", field="context")
    if plan.has_names:
        raise InputError("The plain form has no ledger. Plan without names.", field="names")


async def _models(work: BatchWork, names: list[str]) -> dict[str, Model]:
    """The models by adapter; of one format, since a processor has one endpoint."""
    async with open_models(work.settings, work.urls) as lookup:
        found = {name: replace(await lookup(name), edit_filter=None) for name in names}
    if len({model.format for model in found.values()}) > 1:
        raise InputError("The plain form needs adapters of one prompt format. Make a batch of each.", field="adapter")
    return found


def _processor(work: BatchWork, cluster: Cluster, models: Mapping[str, Model]) -> Any:
    from ray.data.llm import HttpRequestProcessorConfig, build_processor, vLLMEngineProcessorConfig

    is_chat = next(iter(models.values())).format == "chat"
    if work.settings.engine == "vllm" and not work.settings.url:
        config: Any = vLLMEngineProcessorConfig(
            model_source=str(work.settings.model),
            concurrency=cluster.actors,
            chat_template_stage=is_chat,
            should_continue_on_error=True,
            engine_kwargs={"enable_lora": bool(work.settings.adapters)},
            dynamic_lora_loading_path=_adapter_folder(work.settings),
            placement_group_config={"bundles": [{"CPU": cluster.cpus, "GPU": cluster.gpus}], "strategy": "PACK"},
            log_engine_metrics=False,
        )
    elif work.settings.engine == "embedded":
        raise InputError("The plain form needs a server (--url) or vLLM.", field="engine")
    else:
        key = work.settings.engine_key
        config = HttpRequestProcessorConfig(
            url=f"{work.urls[0]}/{'chat/completions' if is_chat else 'completions'}",
            headers={"Authorization": f"Bearer {key.get_secret_value()}"} if key else {},
            max_retries=_RETRIES,
            concurrency=cluster.actors,
            batch_size=work.concurrency,
        )
    return build_processor(
        config,
        preprocess=_RequestRows(dict(models)),
        postprocess=_Answers(dict(models)),
        preprocess_map_kwargs={"num_cpus": TASK_CPUS},
        postprocess_map_kwargs={"num_cpus": TASK_CPUS},
    )


def _adapter_folder(settings: Settings) -> str | None:
    """The folder that holds all adapters under their names: vLLM loads them from there."""
    folders = {path.resolve().parent for name, path in settings.adapters.items() if path.resolve().name == name}
    if not settings.adapters:
        return None
    if len(folders) != 1 or any(path.resolve().name != name for name, path in settings.adapters.items()):
        raise InputError(
            "The plain form of vLLM loads adapters from one folder: put each in a subfolder of its name.",
            field="adapters",
        )
    return str(folders.pop())


@dataclass
class _RequestReached(Exception):
    """The request of a passage, raised where an engine would generate."""

    prompt: Prompt
    sampling: Sampling


@dataclass(frozen=True, slots=True)
class _RecordedEngine:
    """An engine with one known reply, or with none: then the request is raised as `_RequestReached`."""

    model: Model
    reply: Reply | None = None

    async def ask(self, prompt: Prompt, sampling: Sampling, *, model: Model, listen: Listener) -> Reply:
        if self.reply is None:
            raise _RequestReached(prompt, sampling)
        return self.reply

    async def count(self, text: str) -> int | None:
        return None

    async def models(self) -> tuple[Model, ...]:
        return (self.model,)

    @asynccontextmanager
    async def using(self, name: str) -> AsyncIterator[Model]:
        yield self.model

    def health(self) -> EngineHealth:
        return EngineHealth("up")


def _edit(stretch: BatchStretch, engine: Engine) -> PostEdit:
    """Post-edit the one paragraph of a stretch, with one draft."""
    segment = paragraph_segment(JobParagraph(stretch.paragraphs[0], ParagraphState.WAITING), stretch.recipe)
    options = replace(stretch.recipe.options(), max_attempts=1, candidates=1)
    return asyncio.run(post_edit(segment, engine, options=options))


@dataclass(frozen=True, slots=True)
class _RequestRows:
    """Adds the request of its paragraph to a row, for a server and for vLLM in the process."""

    models: Mapping[str, Model]

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        stretch = BatchStretch.from_row(row)
        model = self.models[stretch.adapter]
        try:
            _edit(stretch, _RecordedEngine(model))
        except _RequestReached as reached:
            return row | _request(reached.prompt, reached.sampling, model)
        # Not to be edited at all: the shortest request is made, and its answer ignored.
        return row | _request(
            Prompt((Message("user", "."),), "", EscapedText(""), "", ()),
            Sampling(max_tokens=1, max_characters=1),
            model,
        )


def _request(prompt: Prompt, sampling: Sampling, model: Model) -> dict[str, Any]:
    values = option_values(sampling, SamplingOptions)
    parameters = {name: value for name, value in values.items() if value is not None}
    parameters |= {"max_tokens": sampling.max_tokens, "stop": [*prompt.stop, *sampling.stop]}
    if isinstance(prompt.body, str):
        body: dict[str, Any] = {"prompt": prompt.body}
    else:
        body = {"messages": [{"role": turn.role, "content": turn.content} for turn in prompt.body]}
    payload = {"model": model.name, **body, **parameters}
    return {"payload": payload, "sampling_params": parameters, "model": model.name, **body}


@dataclass(frozen=True, slots=True)
class _Answers:
    """Makes the result of a row from the answer."""

    models: Mapping[str, Model]

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        stretch = BatchStretch.from_row(row)
        kept = {"id": stretch.id, "book": stretch.book, "paragraphs": row["paragraphs"], "__inference_error__": ""}
        try:
            result = _edit(stretch, _RecordedEngine(self.models[stretch.adapter], _reply(row)))
        except ApeError as error:
            return kept | {"results": "", "__inference_error__": str(error)}
        planned = stretch.paragraphs[0]
        return kept | {"results": results_to_json([FinishedParagraph(planned.id, planned.fingerprint, result, 0.0)])}


def _reply(row: Mapping[str, Any]) -> Reply:
    """The reply in a row; raises EngineError for an answer that has none."""
    if "generated_text" in row:
        written = int(row.get("num_generated_tokens") or 0)
        reason = "length" if written >= row["sampling_params"]["max_tokens"] else "stop"
        return Reply(Draft(str(row["generated_text"]), reason), Usage(int(row.get("num_input_tokens") or 0), written))
    answer = row["http_response"]
    try:
        choice = answer["choices"][0]
        text = choice["message"]["content"] if "message" in choice else choice["text"]
        usage = answer.get("usage") or {}
        used = Usage(int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))
        return Reply(Draft(str(text), str(choice["finish_reason"])), used)
    except (LookupError, TypeError, AttributeError) as error:
        raise EngineError(f"The server answered without a draft: {str(answer)[:200]}") from error


@dataclass(frozen=True, slots=True)
class _Finished:
    """Keeps the rows with results; the others are kept apart, and never written: they would count as done."""

    folder: str

    def __call__(self, block: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, list[str]] = {"id": [], "book": [], "results": []}
        names = list(block)
        for values in zip(*block.values(), strict=True):
            row = dict(zip(names, values, strict=True))
            if error := str(row.get("__inference_error__") or ""):
                place = BatchFolder(self.folder)
                paragraph = json.loads(row["paragraphs"])[0]["id"]
                quarantine(place, str(row["id"]), StretchProgress({}, {paragraph: error}))
                continue
            for name in found:
                found[name].append(str(row[name]))
        return {name: pa.array(values, pa.string()) for name, values in found.items()}
