"""Label Studio: tasks, labelling interface, and import and export of votes."""

from eval.human.label_studio.export_reader import read_export
from eval.human.label_studio.project import build_interface, build_tasks, export_votes

__all__ = ["build_interface", "build_tasks", "export_votes", "read_export"]
