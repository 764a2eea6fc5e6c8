"""False and missed refusals of the guards: `python -m benchmarks.studies.guards --data DIR`.

Three questions: do the guards refuse human texts (post-edits of MLQE-PE, literary translations of PAR3)? Do they refuse
the MT itself? Do they catch faults inserted into good post-edits, one at a time? Each is measured on single sentences
and on pseudo-paragraphs of two to four neighbouring rows.
"""
