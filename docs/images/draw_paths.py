"""Draw the five data paths of the architecture page: `python docs/images/draw_paths.py > docs/images/paths.svg`."""

from __future__ import annotations

import sys
from html import escape

PATHS = (
    ("Passage", ("source + MT", "prompts/", "engine", "draft", "edit filter", "guards", "PostEdit")),
    ("Book", ("files", "ape/books", "pairs", "job store", "passages", "writer", "book + report")),
    ("Training", ("books or rows", "align", "filter, split", "examples", "LoRA", "parity", "adapter")),
    ("Service", ("HTTP", "middleware", "routes", "scheduler", "registry", "engine", "answer, events")),
    ("Evaluation", ("corpus", "annotate, align", "counts", "scores", "paired tests", "votes", "report")),
)
WIDTH, HEIGHT, BOX, GAP, LEFT, TOP = 1120, 400, 126, 14, 110, 20
ROW = 74


def main() -> None:
    """Print the drawing."""
    out = sys.stdout.write
    out(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">\n'
    )
    out("<title>The five data paths: passage, book, training, service, evaluation</title>\n")
    out('<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">')
    out('<path d="M0,0L8,4L0,8z" fill="#607d8b"/></marker></defs>\n')
    out(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n')
    for row, (name, steps) in enumerate(PATHS):
        y = TOP + row * ROW
        out(f'<text x="12" y="{y + 32}" font-weight="bold" fill="#004d40">{name}</text>\n')
        for column, step in enumerate(steps):
            x = LEFT + column * (BOX + GAP + 4)
            ends = column in (0, len(steps) - 1)
            fill = "#e0f2f1" if ends else "#f5f5f5"
            out(f'<rect x="{x}" y="{y}" width="{BOX}" height="52" rx="6" fill="{fill}" stroke="#80cbc4"/>')
            size = 11 if len(step) > 16 else 13
            label = escape(step)
            out(
                f'<text x="{x + BOX / 2}" y="{y + 31}" text-anchor="middle" font-size="{size}" fill="#212121">{label}</text>\n'
            )
            if column:
                out(f'<path d="M{x - GAP - 3},{y + 26}H{x - 1}" stroke="#607d8b" marker-end="url(#head)"/>\n')
    out("</svg>\n")


if __name__ == "__main__":
    main()
