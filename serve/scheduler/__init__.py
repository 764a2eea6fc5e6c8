"""The scheduler of book jobs: fair between owners, and resumed after a restart."""
