"""What the guards refuse and what they let through, measured: `python -m benchmarks.studies.guards --data DIR`.

Three questions. Do they refuse what humans made (MLQE-PE's post-edits, PAR3's literary translations)? Do they ever
refuse the MT itself? Do they catch faults put into good post-edits, one at a time? Each is asked of single sentences
and of pseudo-paragraphs, two to four neighbouring rows joined.
"""
