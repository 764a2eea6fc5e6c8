"""Compare models over one set, the MT as it was always among them."""
