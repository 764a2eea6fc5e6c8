"""Split mark-up into texts and write edited texts back; all other bytes stay unchanged."""
