"""Source and output of a document as words with alignment links, the input of LTCR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ape.errors import InputError
from ape.text.word_alignment.protocol import Bitext, WordAligner, WordLinks
from eval.corpus.corpus import Corpus, Document
from eval.linguistics.annotators.protocol import Annotation, Annotator, Token
from eval.metrics.ltcr.chains import AnnotatedChains, LexicalChain, most_frequent_category, repeated_word_chains
from eval.metrics.ltcr.renderings import LinkedSegment
from eval.metrics.ltcr.words import locate_words, tokenize_words


@dataclass(frozen=True, slots=True)
class LinkedDocument:
    """One document: its chains, and its segments with their links."""

    document: Document
    outputs: tuple[str, ...]
    segments: tuple[LinkedSegment, ...]
    chains: tuple[LexicalChain, ...]


def tokenize_sources(
    corpus: Corpus, annotator: Annotator, annotated: Mapping[str, AnnotatedChains] | None
) -> list[tuple[list[tuple[Token, ...]], tuple[LexicalChain, ...]]]:
    """The words of every document's source, and its chains: annotated ones, or all repeated words."""
    texts = list(dict.fromkeys(text for one in corpus.documents for text in one.sources))
    known = dict(zip(texts, annotator.annotate(texts), strict=True))
    read = []
    for document in corpus.documents:
        annotations = [known[text] for text in document.sources]
        if annotated is None:
            tokens = [annotation.tokens for annotation in annotations]
            read.append((tokens, tuple(repeated_word_chains(tokens, corpus.source_language))))
        else:
            annotated_chains = annotated.get(document.id, AnnotatedChains(tuple(() for _ in document.sources), ()))
            tokens = _annotated_tokens(document, annotated_chains, annotations)
            read.append((tokens, tuple(_with_category(chain, tokens, corpus) for chain in annotated_chains.chains)))
    return read


def _annotated_tokens(
    document: Document, annotated_chains: AnnotatedChains, annotations: Sequence[Annotation]
) -> list[tuple[Token, ...]]:
    """The words as the chains index them, each with the tag of the annotator's word at its start."""
    if len(annotated_chains.words) != len(document.sources):
        raise InputError(
            f"The chains of document {document.id!r} cover {len(annotated_chains.words)} sentences, and its source has "
            f"{len(document.sources)}."
        )
    segments = []
    for number, (words, annotation) in enumerate(zip(annotated_chains.words, annotations, strict=True)):
        text = document.sources[number]
        tags = {place: token.tag for token in annotation.tokens for place in range(token.start, token.end)}
        pairs = zip(words, locate_words(words, text), strict=True)
        segments.append(tuple(Token(text[start:end], start, tags.get(start, ""), word) for word, (start, end) in pairs))
    for chain in annotated_chains.chains:
        for segment, place in chain.places:
            if not segments[segment][place].text:
                raise InputError(
                    f"Document {document.id!r}, sentence {segment + 1}: the word {chain.word!r} of a chain is not "
                    "at its position in the source. Give the source that was annotated."
                )
    return segments


def _with_category(chain: LexicalChain, tokens: Sequence[Sequence[Token]], corpus: Corpus) -> LexicalChain:
    tags = [tokens[segment][place].tag for segment, place in chain.places]
    return replace(chain, category=most_frequent_category(tags, corpus.source_language))


def link_documents(
    corpus: Corpus,
    system: str,
    *,
    annotator: Annotator,
    aligner: WordAligner | None,
    annotated: Mapping[str, AnnotatedChains] | None = None,
    extra: Bitext = (),
) -> list[LinkedDocument]:
    """Every document with its links, none without an aligner; references are further training text."""
    if system not in corpus.systems:
        raise InputError(f"There is no system called {system!r}. There are: {', '.join(corpus.systems)}.")
    sources = tokenize_sources(corpus, annotator, annotated)
    outputs = [tokenize_words(one.outputs[system], corpus.target_language) for one in corpus.documents]
    links = iter(_links(corpus, system, sources, outputs, aligner, extra))
    read = []
    for document, (tokens, chains), targets in zip(corpus.documents, sources, outputs, strict=True):
        pairs = zip(tokens, targets, strict=True)
        segments = tuple(LinkedSegment(source, target, next(links)) for source, target in pairs)
        read.append(LinkedDocument(document, document.outputs[system], segments, chains))
    return read


def _links(
    corpus: Corpus,
    system: str,
    sources: Sequence[tuple[Sequence[Sequence[Token]], tuple[LexicalChain, ...]]],
    outputs: Sequence[Sequence[Sequence[Token]]],
    aligner: WordAligner | None,
    extra: Bitext,
) -> list[WordLinks]:
    bitext = [
        (_texts(source), _texts(target))
        for (segments, _), targets in zip(sources, outputs, strict=True)
        for source, target in zip(segments, targets, strict=True)
    ]
    if aligner is None:
        return [frozenset()] * len(bitext)
    more: list[tuple[Sequence[str], Sequence[str]]] = list(extra)
    for document, (segments, _) in zip(corpus.documents, sources, strict=True):
        for column in document.references:
            new = [
                (segment, text)
                for segment, text, output in zip(segments, column, document.outputs[system], strict=True)
                if text is not None and text != output
            ]
            targets = tokenize_words([text for _, text in new], corpus.target_language)
            pairs = zip(new, targets, strict=True)
            more.extend((_texts(segment), _texts(target)) for (segment, _), target in pairs)
    return aligner.align(bitext, extra=more)


def _texts(tokens: Sequence[Token]) -> list[str]:
    return [token.text or token.lemma for token in tokens]
