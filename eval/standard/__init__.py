"""The metrics everybody reports, through the libraries that own them: a score here is the score there."""
