"""The command line: `ape`, noun then verb."""
