"""What goes from scores into a paper: tables, figures, and a paragraph on methods."""
