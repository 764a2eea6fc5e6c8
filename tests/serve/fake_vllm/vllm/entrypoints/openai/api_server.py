"""A stand-in for vLLM's OpenAI server: same paths, statuses and bodies, no model. See tests/serve/fake_vllm."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

SEPARATOR = "\n\n###\n\n"
RECORDED_PREFIXES = ("VLLM_", "DO_NOT_TRACK", "RAY_USAGE", "PYTHONSAFEPATH", "APE_")
GUARDED = ("/v1", "/v2", "/inference", "/cohere")
# Like vLLM's engine core, it outlives the API server.
ENGINE_CORE = "import time\nwhile True: time.sleep(3600)"
Handler = Callable[[Request], Awaitable[Response]]


def faults() -> dict[str, Any]:
    """Return the current faults."""
    path = os.environ.get("FAKE_VLLM")
    current: dict[str, Any] = json.loads(Path(path).read_text()) if path else {}
    return current


class Server:
    """The state: base model, adapters, counters."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.adapters: dict[str, str] = {}
        self.answered = 0
        self.engine_died = False

    async def health(self, request: Request) -> Response:
        return Response(status_code=503 if self.engine_died or faults().get("unhealthy") else 200)

    async def metrics(self, request: Request) -> Response:
        name = f'{{engine="0",model_name="{self.arguments.served_model_name}"}}'
        return PlainTextResponse(
            f"vllm:num_requests_running{name} 0.0\nvllm:request_success_total{name} {self.answered}\n"
        )

    async def models(self, request: Request) -> Response:
        base = self.arguments.served_model_name
        cards = [_card(base, root=self.arguments.model, parent=None, window=self.arguments.max_model_len)]
        cards += [_card(name, root=path, parent=base, window=None) for name, path in self.adapters.items()]
        return JSONResponse({"object": "list", "data": cards})

    async def tokenize(self, request: Request) -> Response:
        words = str((await request.json())["prompt"]).split()
        window = self.arguments.max_model_len
        return JSONResponse(
            {"count": len(words), "max_model_len": window, "tokens": list(range(len(words))), "token_strs": None}
        )

    async def load(self, request: Request) -> Response:
        payload = await request.json()
        name, path = payload.get("lora_name"), payload.get("lora_path")
        wrong = faults()
        if not name or not path:
            return _error(400, "InvalidUserInput", "Both 'lora_name' and 'lora_path' must be provided.")
        if name == self.arguments.served_model_name:
            return _error(400, "InvalidUserInput", f"The lora adapter '{name}' conflicts with a served base model.")
        if name in self.adapters and not payload.get("load_inplace"):
            return _error(
                400,
                "InvalidUserInput",
                f"The lora adapter '{name}' has already been loaded. If you want to load the adapter in place, "
                "set 'load_inplace' to True.",
            )
        await asyncio.sleep(wrong.get("answer_delay", 0))
        if message := wrong.get("load_error"):
            return _error(wrong.get("load_status", 500), "InternalServerError", message)
        if not Path(path).is_dir():  # noqa: ASYNC240 - a look
            return _error(404, "NotFoundError", f"Loading lora {name} failed: No adapter found for {path}")
        self.adapters[name] = path
        return Response(f"Success: LoRA adapter '{name}' added successfully.")

    async def unload(self, request: Request) -> Response:
        name = (await request.json()).get("lora_name")
        if not name:
            return _error(400, "InvalidUserInput", "'lora_name' needs to be provided to unload a LoRA adapter.")
        if name not in self.adapters:
            return _error(404, "NotFoundError", f"The lora adapter '{name}' cannot be found.")
        del self.adapters[name]
        return Response(f"Success: LoRA adapter '{name}' removed successfully.")

    async def chat(self, request: Request) -> Response:
        payload = await request.json()
        text = str(payload["messages"][-1]["content"])
        found = re.search(r"<translation>\n(.*)\n</translation>", text, re.DOTALL)
        return await self._answer(request, payload, found.group(1) if found else text, chat=True)

    async def complete(self, request: Request) -> Response:
        payload = await request.json()
        parts = str(payload["prompt"]).split(SEPARATOR)
        return await self._answer(request, payload, parts[1] if len(parts) > 1 else parts[0], chat=False)

    async def _answer(self, request: Request, payload: dict[str, Any], text: str, *, chat: bool) -> Response:
        known = [self.arguments.served_model_name, *self.adapters]
        if payload.get("model") not in known:
            message = f"The model `{payload.get('model')}` does not exist. Valid aliases: {known[0]}."
            return _error(404, "NotFoundError", message, param="model")
        name = ("chatcmpl-" if chat else "cmpl-") + request.headers.get("x-request-id", secrets.token_hex(8))
        print(f"INFO Received request {name}: params: SamplingParams(), lora_request: None.", flush=True)
        await asyncio.sleep(faults().get("answer_delay", 0))
        text = faults().get("draft", text)
        self.answered += 1
        kind = "chat.completion" if chat else "text_completion"
        body = {"id": name, "object": kind, "created": int(time.time()), "model": payload["model"]}
        usage = {"prompt_tokens": 10, "total_tokens": 10 + len(text.split()), "completion_tokens": len(text.split())}
        if not payload.get("stream"):
            content: dict[str, Any] = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
            choice = {"index": 0, **content, "logprobs": None, "finish_reason": "stop", "stop_reason": None}
            return JSONResponse({**body, "choices": [choice], "usage": usage})
        if chat:
            body["object"] = "chat.completion.chunk"
        has_logprobs = isinstance(payload.get("logprobs"), int) and not chat
        events = _events(body, text, usage, chat=chat, with_logprobs=has_logprobs)
        return StreamingResponse(events, media_type="text/event-stream")


async def _events(
    body: dict[str, Any], text: str, usage: dict[str, int], *, chat: bool, with_logprobs: bool
) -> AsyncIterator[str]:
    pieces = re.findall(r"\s*\S+" if with_logprobs else r".{1,12}", text, re.DOTALL) or [""]
    pieces += [""] * with_logprobs  # the end token, which has logprobs like any other
    for place, piece in enumerate(pieces):
        content = {"delta": {"content": piece}} if chat else {"text": piece}
        reason = "stop" if place == len(pieces) - 1 else None
        logprobs = _token_logprobs(piece or "<|im_end|>") if with_logprobs else None
        choice = {"index": 0, **content, "logprobs": logprobs, "finish_reason": reason}
        yield f"data: {json.dumps({**body, 'choices': [choice]})}\n\n"
        await asyncio.sleep(faults().get("pause", 0))
    yield f"data: {json.dumps({**body, 'choices': [], 'usage': usage})}\n\n"
    yield "data: [DONE]\n\n"


def _token_logprobs(token: str) -> dict[str, Any]:
    """Return logprobs in the completions format; the end token is always uncertain."""
    unsure = token.strip() in [*faults().get("unsure", []), "<|im_end|>"]
    chance = -5.0 if unsure else -0.01
    return {
        "text_offset": [0],
        "tokens": [token],
        "token_logprobs": [chance],
        "top_logprobs": [{token: chance, " something": -0.5}],
    }


def _card(name: str, *, root: str, parent: str | None, window: int | None) -> dict[str, Any]:
    return {
        "id": name,
        "object": "model",
        "created": int(time.time()),
        "owned_by": "vllm",
        "root": root,
        "parent": parent,
        "max_model_len": window,
        "permission": [],
    }


def _error(status: int, kind: str, message: str, *, param: str | None = None) -> Response:
    return JSONResponse({"error": {"message": message, "type": kind, "param": param, "code": status}}, status)


def _guarded(handler: Handler) -> Handler:
    """Hang on demand; require the key where vLLM does."""

    async def guard(request: Request) -> Response:
        while faults().get("hang"):  # noqa: ASYNC110 - another process ends it
            await asyncio.sleep(0.05)
        key = os.environ.get("VLLM_API_KEY")
        given = request.headers.get("authorization", "").partition(" ")
        if request.url.path.startswith(GUARDED) and key and (given[0].lower(), given[2]) != ("bearer", key):
            return JSONResponse({"error": "Unauthorized"}, 401)
        return await handler(request)

    return guard


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--served-model-name", required=True)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--max-model-len", type=int, default=2048)
    return parser.parse_known_args()[0]


def _note_this_life(engine: int) -> None:
    if path := os.environ.get("FAKE_VLLM"):
        environment = {name: value for name, value in os.environ.items() if name.startswith(RECORDED_PREFIXES)}
        life = {"api": os.getpid(), "engine": engine, "arguments": sys.argv[1:], "environment": environment}
        with Path(f"{path}.lives").open("a") as lives:
            lives.write(json.dumps(life) + "\n")


def _misbehave_at_the_start(wrong: dict[str, Any]) -> None:
    for line in wrong.get("say", []):
        print(line, flush=True)
    if size := wrong.get("flood"):
        line = "x" * 99 + "\n"
        for _ in range(size // len(line)):
            sys.stdout.write(line)
        sys.stdout.flush()
    if wrong.get("die_after_start"):
        print("ValueError: there is no model in there", flush=True)
        sys.exit(3)
    while faults().get("never_healthy"):
        time.sleep(0.05)
    time.sleep(wrong.get("slow_start", 0))


class Http(uvicorn.Server):
    """Leaves signals to the caller, as vLLM's server does."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _leave_with(engine: subprocess.Popen[bytes], server: Server, http: Http) -> None:
    engine.wait()
    server.engine_died = True
    time.sleep(0.3)  # vLLM polls every five seconds
    http.should_exit = True


def main() -> None:
    """Bind, start the engine core, then serve until stopped."""
    arguments = _read_arguments()
    server = Server(arguments)
    config = uvicorn.Config(_app(server), log_level="info", timeout_graceful_shutdown=1, ws="none")
    http = Http(config)

    def stop(*_: object) -> None:
        if not faults().get("ignore_sigterm"):
            http.should_exit = True
            if not http.started:
                raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((arguments.host, arguments.port))
    engine = subprocess.Popen([sys.executable, "-c", ENGINE_CORE])
    try:
        _note_this_life(engine.pid)
        _misbehave_at_the_start(faults())
        threading.Thread(target=_leave_with, args=(engine, server, http), daemon=True).start()
        http.run(sockets=[listener])
    finally:
        engine.kill()


def _app(server: Server) -> Starlette:
    return Starlette(
        routes=[
            Route("/health", _guarded(server.health)),
            Route("/metrics", _guarded(server.metrics)),
            Route("/tokenize", _guarded(server.tokenize), methods=["POST"]),
            Route("/v1/models", _guarded(server.models)),
            Route("/v1/chat/completions", _guarded(server.chat), methods=["POST"]),
            Route("/v1/completions", _guarded(server.complete), methods=["POST"]),
            Route("/v1/load_lora_adapter", _guarded(server.load), methods=["POST"]),
            Route("/v1/unload_lora_adapter", _guarded(server.unload), methods=["POST"]),
        ]
    )


if __name__ == "__main__":
    main()
