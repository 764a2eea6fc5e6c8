"""Label Studio: a rater's sheet as tasks, the interface that asks our questions, and exports in and out."""

from eval.ab.label_studio.project import export, interface, tasks
from eval.ab.label_studio.reading import read_export

__all__ = ["export", "interface", "read_export", "tasks"]
