"""Raw books aligned by PAR3's method: a human translation is cut by the paragraphs of the source, by way of its MT."""

from finetune.data.align.align import Aligned, Progress, align_book, language_of
from finetune.data.align.encoder import Encoder, MiniLm

__all__ = ["Aligned", "Encoder", "MiniLm", "Progress", "align_book", "language_of"]
