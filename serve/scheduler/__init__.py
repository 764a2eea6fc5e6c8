"""Schedules the book jobs of the service, fairly between owners, resumed after a restart."""
