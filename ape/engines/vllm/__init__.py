"""vLLM as an engine: how it is launched, supervised and called."""
