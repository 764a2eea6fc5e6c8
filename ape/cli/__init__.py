"""The command line of ape-books."""
