"""Guards: small pure functions that look at a draft and say what is wrong with it."""
