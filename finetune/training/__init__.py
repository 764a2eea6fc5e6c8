"""Training: examples in, a LoRA adapter out."""
