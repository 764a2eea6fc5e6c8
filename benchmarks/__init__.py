"""Claims about speed, as ratios of two sides measured in one run."""
