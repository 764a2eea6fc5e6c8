"""What is measured: documents of segments, and readers for the files they come in."""
