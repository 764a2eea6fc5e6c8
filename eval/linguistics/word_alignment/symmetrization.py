"""Two one-sided alignments made into one: grow-diag-final-and (Koehn et al. 2003).

A model of the translation given the source links each word of the translation to one of the source at most, and the
model of the other direction the other way round. What both say is right nearly always; what one of them says is added
where it continues what is there, and at last where both words are still without a link.
"""

from __future__ import annotations

from eval.linguistics.word_alignment.protocol import WordLinks

_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def grow_diag_final_and(forward: WordLinks, backward: WordLinks) -> WordLinks:
    """Their intersection, grown into their union."""
    links = set(forward & backward)
    union = forward | backward
    sources, targets = {i for i, _ in links}, {j for _, j in links}

    def add(link: tuple[int, int]) -> None:
        links.add(link)
        sources.add(link[0])
        targets.add(link[1])

    waiting = sorted(links)
    while waiting:
        grown = []
        for i, j in waiting:
            for down, right in _NEIGHBOURS:
                link = (i + down, j + right)
                new = link in union and link not in links
                if new and (link[0] not in sources or link[1] not in targets):
                    add(link)
                    grown.append(link)
        waiting = sorted(grown)
    for side in (forward, backward):
        for link in sorted(side - links):
            if link[0] not in sources and link[1] not in targets:
                add(link)
    return frozenset(links)
