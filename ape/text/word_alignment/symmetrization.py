"""Symmetrisation of two directional alignments: grow-diag-final-and (Koehn et al. 2003).

Each directional model links a word to at most one word of the other side. Links of both models are nearly always right;
links of one model are added if they adjoin existing links, and finally if both words have no link.
"""

from __future__ import annotations

from ape.text.word_alignment.protocol import WordLinks

_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def grow_diag_final_and(forward: WordLinks, backward: WordLinks) -> WordLinks:
    """Grow the intersection of both into their union."""
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
