"""Review of a post-edited book: people accept, reject and change its edits, and nothing of it is lost."""
