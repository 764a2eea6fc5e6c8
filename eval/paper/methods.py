"""A paragraph on methods, made from the results and their signatures, for a paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ape.text.languages import language_name
from eval.metrics.scoring import EvaluationResults

_NAMES: Mapping[str, str] = {
    "bleu": "BLEU (Papineni et al., 2002)",
    "sentence-bleu": "sentence BLEU (Papineni et al., 2002)",
    "chrf": "chrF (Popović, 2015)",
    "chrf++": "chrF++ (Popović, 2017)",
    "ter": "TER (Snover et al., 2006)",
    "meteor": "METEOR (Banerjee and Lavie, 2005)",
    "bertscore": "BERTScore (Zhang et al., 2020)",
    "comet": "COMET (Rei et al., 2020)",
    "blonde": "BlonDe (Jiang et al., 2022)",
    "ltcr": "LTCR (Lyu et al., 2021)",
}
_TESTS = {
    "bootstrap": "a paired bootstrap test (Koehn, 2004)",
    "randomisation": "approximate randomisation (Riezler and Maxwell, 2005)",
}


def methods_paragraph(results: EvaluationResults) -> str:
    """What was measured, on what, how it was tested, and the signatures; only what the results say."""
    return " ".join([*_sentences(results), *results.corpus.caveats])


def _sentences(results: EvaluationResults) -> Iterator[str]:
    corpus, how, signatures = results.corpus, results.resampling, results.signatures()
    systems = _joined(list(corpus.systems))
    number = len(corpus.systems)
    named = f" of {corpus.name}" if corpus.name else ""
    pair = f"{language_name(corpus.source_language)} to {language_name(corpus.target_language)}"
    yield (
        f"We evaluate {number} {'system' if number == 1 else 'systems'} ({systems}) on {len(corpus):,} segments in "
        f"{len(corpus.documents):,} {'document' if len(corpus.documents) == 1 else 'documents'}{named}, {pair}."
    )
    measured = [_NAMES.get(metric.name, metric.name) for metric in results.metrics if metric.name in signatures]
    if not measured:
        return
    yield f"We report {_joined(measured)}."
    yield (
        f"Intervals are 95% percentile intervals of {how.samples:,} bootstrap resamples of {how.by}s (seed {how.seed})."
    )
    if how.baseline:
        yield (
            f"Each system is compared with {how.baseline} by {_TESTS[how.test]} with {how.samples:,} samples over "
            f"{how.by}s; p-values are corrected over the systems by Holm's method (1979)."
        )
    if any("sacrebleu:" in one for one in signatures.values()):
        yield "Surface metrics are computed with sacrebleu (Post, 2018)."
    listed = "; ".join(f"{name}: {signature}" for name, signature in signatures.items())
    yield f"Signatures: {listed}."


def _joined(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
