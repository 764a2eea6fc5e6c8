"""Measurements that are not claims about speed: guards, pairing, alignment, votes."""
