"""HTML report of a training set: filter losses, statistics and sample examples."""

from finetune.data.report.page import REPORT_FILE, write_data_report

__all__ = ["REPORT_FILE", "write_data_report"]
