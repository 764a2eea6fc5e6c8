"""Authentication, limits, logging, metrics and problem details of every request."""
