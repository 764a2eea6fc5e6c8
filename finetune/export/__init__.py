"""Export a trained adapter: a GGUF LoRA for the embedded engine, a merged model for others, a model card."""
