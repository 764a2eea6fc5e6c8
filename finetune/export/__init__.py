"""What becomes of a trained adapter: a GGUF LoRA for the embedded engine, merged weights for others, a model card."""
