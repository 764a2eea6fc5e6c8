"""Training a LoRA adapter, and fitting the filter of uncertain edits."""
