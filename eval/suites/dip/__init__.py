"""Sets mined in the way of DiP: passages that systems were seen to fail at."""
