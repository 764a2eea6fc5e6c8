"""From paragraph-aligned books to a LoRA adapter that serves as it was trained."""
