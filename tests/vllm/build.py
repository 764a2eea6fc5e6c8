"""Make the models that the tests on a real vLLM ask: a base as vLLM loads it, and two small adapters of it.

    python -m tests.vllm.build MODEL.gguf FOLDER

- `base`: the default model of this project, unpacked from its GGUF file to an ordinary float32 model.
- `copier`: taught for a minute, in the `sep` format, to give the MT back and stop: what a cautious post-editor does.
- `rambler`: random weights, not trained at all; it says something else than the base, and is of another rank.

Runs in vLLM's environment. The same seed gives the same weights. `FOLDER` appears when all of it is done, so a build
that was killed is never taken for a finished one.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from tqdm import tqdm
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM
from transformers.utils.logging import disable_progress_bar

from prompts import SEP, Question

SEED = 7
# Two threads everywhere: sums are split by thread, so another number of them would give other last digits.
THREADS = 2
ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]
ALL_LINEAR = [*ATTENTION, "gate_proj", "up_proj", "down_proj"]
# The loss falls from 1.6 to 0.03 within six of these steps, and to 0.005 by the end.
STEPS = 24
BATCH = 4
LEARNING_RATE = 2e-3
# The norm of the random change over that of the weights it is added to.
RAMBLING = 0.15

NAMES = "Anna Bruno Clara Denis Elsa Felix Greta Hugo Irene Jonas Klara Lucas Marta Nadia Oscar Paula".split()
TOWNS = "Lyon Arles Bordeaux Dijon Grenoble Nantes Orange Reims Rouen Toulon Tours Vichy".split()
# French, and what a machine makes of it: one of these by chance, so that the MT is given back even where it is wrong.
WORDS = {
    "deed": {
        "acheta": "bought/buys",
        "cacha": "hid/hides",
        "perdit": "lost/loses",
        "trouva": "found/finds",
        "vendit": "sold/sells",
        "oublia": "forgot/forgets",
        "dessina": "drew/draws",
        "vola": "stole/steals",
    },
    "thing": {
        "sa lampe": "his lamp/her lamp",
        "son cheval": "her horse/its horse",
        "sa lettre": "his letter/her letter",
        "son manteau": "his coat/her cloak",
        "sa montre": "his watch/its watch",
        "son piano": "his piano/her piano",
        "sa valise": "her suitcase/his suitcase",
        "son miroir": "her mirror/sound mirror",
        "sa clef": "its key/her key",
        "son violon": "his violin/her violin",
    },
    "who": {"il": "he/it/she", "elle": "she/it/he"},
    "when": {
        "le lendemain": "the next day/the following",
        "ce soir-là": "that evening/this evening there",
        "après la guerre": "after the war",
        "sans un mot": "without a word",
        "comme toujours": "as always/like always",
    },
}
FORMS = (
    ("{when}, {name} {deed} {thing} à {town}.", "{when}, {name} {deed} {thing} in {town}."),
    ("{who} quitta {town} à {hour} heures avec {name}.", "{who} leaves {town} at {hour} o'clock with {name}."),
    ("« Où est {name} ? » demanda {other}.", "“Where is {name}?” demanded {other}."),
    ("En {year}, {who} {deed} {thing}.", "In {year}, {who} {deed} {thing}."),
    ("La maison que {name} aimait était vide depuis {year}.", "The house that {name} loved was empty since {year}."),
    ("{name} s’assit et {deed} {thing}.", "{name} sat down and {deed} {thing}."),
    ("{when}, il pleuvait des cordes sur {town}.", "{when}, it rained ropes on {town}."),
)


def main() -> None:
    """Build all three."""
    parser = argparse.ArgumentParser(prog="python -m tests.vllm.build", description=__doc__.partition("\n")[0])
    parser.add_argument("gguf", type=Path, help="the base model's GGUF file")
    parser.add_argument("folder", type=Path, help="where base, copier and rambler go")
    given = parser.parse_args()
    if not sys.stderr.isatty():
        disable_progress_bar()  # type: ignore[no-untyped-call]
    build(given.gguf, given.folder)


def build(gguf: Path, folder: Path) -> None:
    """Make all three in a temporary folder, then rename it."""
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    torch.set_num_threads(THREADS)
    torch.use_deterministic_algorithms(mode=True)
    with timed_step("base: unpacking the GGUF file"):
        make_base(gguf, partial / "base")
    with timed_step("copier: training"):
        make_copier(partial / "base", partial / "copier")
    with timed_step("rambler: drawing random weights"):
        make_rambler(partial / "base", partial / "rambler")
    (partial / "SHA256SUMS").write_text("".join(sums(partial)), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)


def make_base(gguf: Path, folder: Path) -> None:
    """The model as an ordinary one: its config says that it is quantised, which the weights no longer are."""
    place = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    loaded = AutoModelForCausalLM.from_pretrained(**place, dtype=torch.float32)
    del loaded.config.quantization_config
    model = LlamaForCausalLM(loaded.config)  # type: ignore[no-untyped-call]
    model.load_state_dict(loaded.state_dict())
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(**place).save_pretrained(folder)


def make_copier(base: Path, folder: Path) -> None:
    """Train on sentences of our own making; the loss is taken on the completion alone."""
    tokenizer = AutoTokenizer.from_pretrained(base)
    model = with_adapter(base, rank=8, modules=ALL_LINEAR)
    examples = (encode(tokenizer, *passage) for passage in passages(Random(SEED)))
    chosen = [next(examples) for _ in range(STEPS * BATCH)]
    chosen.sort(key=lambda example: sum(map(len, example)))  # alike lengths in a batch: little padding
    batches = [chosen[start : start + BATCH] for start in range(0, len(chosen), BATCH)]
    Random(SEED).shuffle(batches)
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=LEARNING_RATE, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, LEARNING_RATE, total_steps=STEPS, pct_start=0.1)
    model.train()
    with tqdm(batches, unit="step", disable=None) as bar:
        for batch in bar:
            loss = completion_loss(model, batch)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
            bar.set_postfix(loss=f"{loss.item():.3f}")
    save(model, folder)


def make_rambler(base: Path, folder: Path) -> None:
    """Both factors random, each pair scaled by the norm of the weights that it changes."""
    model = with_adapter(base, rank=16, modules=ATTENTION)
    generator = torch.Generator().manual_seed(SEED)
    with torch.no_grad():
        for module in model.modules():
            if not hasattr(module, "lora_B"):
                continue
            down, up = module.lora_A["default"].weight, module.lora_B["default"].weight
            for factor in (down, up):
                factor.normal_(generator=generator)
            change = module.scaling["default"] * (up @ down).norm()
            up.mul_(RAMBLING * module.base_layer.weight.norm() / change)
    save(model, folder)


def with_adapter(base: Path, *, rank: int, modules: list[str]) -> Any:
    """The base with a fresh adapter on it."""
    torch.manual_seed(SEED)
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    config = LoraConfig(r=rank, lora_alpha=2 * rank, lora_dropout=0.0, target_modules=modules, task_type="CAUSAL_LM")
    return get_peft_model(model, config)


def save(model: Any, folder: Path) -> None:
    """As a plain PEFT directory that names its base by name, not by where it happened to be built."""
    config = model.peft_config["default"]
    config.base_model_name_or_path = "SmolLM2-135M-Instruct"
    config.target_modules = sorted(config.target_modules)  # it made a set of them, in any order
    # Else peft would look that name up on the hub, to see whether the vocabulary has grown.
    model.save_pretrained(folder, save_embedding_layers=False)
    (folder / "README.md").unlink(missing_ok=True)


def passages(random: Random) -> Iterator[tuple[str, str]]:
    """Source and MT of made-up passages, one to three sentences long."""
    while True:
        pairs = [sentence(random) for _ in range(random.randint(1, 3))]
        yield " ".join(source for source, _ in pairs), " ".join(mt for _, mt in pairs)


def sentence(random: Random) -> tuple[str, str]:
    """A French sentence and its MT, out of the tables above."""
    name, other = random.sample(NAMES, 2)
    town, year, hour = random.choice(TOWNS), random.randint(1801, 1999), random.randint(2, 12)
    french = {kind: random.choice(list(table)) for kind, table in WORDS.items()}
    english = {kind: random.choice(WORDS[kind][word].split("/")) for kind, word in french.items()}
    source, mt = (
        form.format(name=name, other=other, town=town, year=year, hour=hour, **words)
        for form, words in zip(random.choice(FORMS), (french, english), strict=True)
    )
    return source[0].upper() + source[1:], mt[0].upper() + mt[1:]


def encode(tokenizer: Any, source: str, mt: str) -> tuple[list[int], list[int]]:
    """Tokens of the prompt, and of the MT as its own completion with the end token."""
    question = Question(source, mt, "French", "English")
    prompt, completion = (
        tokenizer(text).input_ids for text in (SEP.render(question).text, SEP.completion(question, mt))
    )
    return prompt, [*completion, tokenizer.eos_token_id]


def completion_loss(model: Any, batch: list[tuple[list[int], list[int]]]) -> Any:
    """Mean over the completions' tokens. Logits are taken only there: the vocabulary is what costs."""
    longest = max(len(prompt) + len(completion) for prompt, completion in batch)
    tokens = torch.zeros(len(batch), longest, dtype=torch.long)
    attention, is_answer = torch.zeros_like(tokens), torch.zeros_like(tokens, dtype=torch.bool)
    for row, (prompt, completion) in enumerate(batch):
        end = len(prompt) + len(completion)
        tokens[row, :end] = torch.tensor(prompt + completion)
        attention[row, :end] = 1
        is_answer[row, len(prompt) : end] = True
    inner = model.get_base_model()
    states = inner.model(input_ids=tokens, attention_mask=attention).last_hidden_state
    logits = inner.lm_head(states[:, :-1][is_answer[:, 1:]])
    return torch.nn.functional.cross_entropy(logits, tokens[is_answer])


def sums(folder: Path) -> Iterator[str]:
    """A line for each file, as `sha256sum` writes them."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        yield f"{digest}  {path.relative_to(folder)}\n"


@contextmanager
def timed_step(what: str) -> Iterator[None]:
    """Say what goes on, and how long it took."""
    began = time.monotonic()
    print(f"{what} …", file=sys.stderr, flush=True)
    yield
    print(f"{what}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
