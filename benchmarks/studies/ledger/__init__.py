"""What the ledger repairs, misses and spoils, measured on published translations."""
