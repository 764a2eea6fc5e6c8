"""The annotated chapters of BWB (Jiang et al. 2023), Chinese to English."""
