"""The audit: what is trained on, before it is; and after, whether it stops and is served as it was trained."""
