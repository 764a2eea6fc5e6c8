"""The JSON that the service accepts and returns, as pydantic models."""
