"""What surrounds every request: authentication, limits, logging, metrics and problem details."""
