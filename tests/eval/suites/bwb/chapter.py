"""An invented annotated chapter of four lines."""

from __future__ import annotations

from pathlib import Path

REFERENCE = (
    "Mira Holt clenched her fists.",
    "She logged into her account, but he had left.",
    "Oskar Lind was in Vienna when she called him.",
    "He put down his lantern.",
)
MT = (
    "Mila clenched his fists.",
    "She nodded into the account. He had left.",
    "Oskar Lind is in Vienna when she calls.",
    "He puts down his lamp.",
)
ERRORS = (
    f"{MT[0]}\t4,Mila <pos/1,4>\t3,her, his <pos/15,17>",
    f"{MT[1]}\t1,logged, nodded <pos/5,10>",
    f"{MT[2]}\t3,him, him <pos/30,32>\t7",
    f"{MT[3]}\t0",
)
NAMES = (
    "PERSON: (Mira Holt: 1; )\tNONPERSON: ()",
    "PERSON: ()\tNONPERSON: ()",
    "PERSON: (Oskar Lind: 1; )\tNONPERSON: (Vienna: 1; )",
    "PERSON: ()\tNONPERSON: ()",
)
MARKED = {
    "en": ("<PER, T, 1>{Mira Holt} clenched <O, 1>{her}fists.", "<P, 1>{She} logged into <O, 1>{her} account, but "
           "<P, 2>{he} had left."),
    "zh": ("<PER, T, 1>{米拉}攥紧了拳头。", "<P,1>{她}登陆了，他走了。"),
}  # fmt: skip


def write_chapter(folder: Path, *, reference_only: bool = False) -> Path:
    """Write all files of the chapter, or only the reference."""
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, tuple[str, ...]] = {"ref.txt": REFERENCE}
    if not reference_only:
        files |= {"an.txt": ERRORS, "ner.txt": NAMES}
        files |= {f"begin.{language}.an.txt": lines for language, lines in MARKED.items()}
    for name, lines in files.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def write_output(path: Path, lines: tuple[str, ...] = MT) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
