"""Fine-tuning at OpenAI, or whoever speaks its API: the same examples as chats, checked, sent, paid for once, followed.

Only the `chat` format: the models that are hosted are chat models, and `ape edit --engine url` asks them as such.
"""
