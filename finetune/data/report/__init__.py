"""The one-page report of a training set: what each filter took, what is left, and a dozen examples to look at."""

from finetune.data.report.page import REPORT_FILE, write_data_report

__all__ = ["REPORT_FILE", "write_data_report"]
