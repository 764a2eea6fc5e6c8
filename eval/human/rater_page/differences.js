"use strict";
// Two texts word by word: what stands in only one of them.
const differences = (() => {
  // Scripts that write no spaces are compared letter by letter.
  const WORDS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*|\s+|[^]/gu;
  const LARGEST = 16_000_000;  // places of the table, two bytes each

  const lengths = (one, other) => {
    const width = other.length + 1;
    const table = new Uint16Array((one.length + 1) * width);
    for (let i = one.length - 1; i >= 0; i -= 1) {
      for (let j = other.length - 1; j >= 0; j -= 1) {
        table[i * width + j] = one[i] === other[j]
          ? table[(i + 1) * width + j + 1] + 1
          : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
      }
    }
    return table;
  };

  // For each word of both whether it is in the longest sequence that they share.
  const sharedWords = (one, other) => {
    const kept = [new Array(one.length).fill(false), new Array(other.length).fill(false)];
    let start = 0;
    while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
    let end = 0;
    while (end < Math.min(one.length, other.length) - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
    kept.forEach((flags) => flags.fill(true, 0, start).fill(true, flags.length - end));
    const [left, right] = [one, other].map((words) => words.slice(start, words.length - end));
    if ((left.length + 1) * (right.length + 1) > LARGEST) return kept;
    const table = lengths(left, right);
    for (let i = 0, j = 0; i < left.length && j < right.length;) {
      const [below, beside] = [(i + 1) * (right.length + 1) + j, i * (right.length + 1) + j + 1];
      if (left[i] === right[j]) {
        kept[0][start + i] = kept[1][start + j] = true;
        i += 1;
        j += 1;
      } else if (table[below] >= table[beside]) i += 1;
      else j += 1;
    }
    return kept;
  };

  // A space that is shared by chance does not part two words that are not.
  const isShared = (words, kept, place) =>
    kept[place] && (words[place].trim() !== "" || kept[place - 1] !== false || kept[place + 1] !== false);
  const pieces = (words, kept) => {
    const found = [];
    words.forEach((text, place) => {
      const same = isShared(words, kept, place);
      const last = found.at(-1);
      if (last && last.same === same) last.text += text;
      else found.push({ text, same });
    });
    return found;
  };

  return (one, other) => {
    const [left, right] = [one, other].map((text) => text.match(WORDS) ?? []);
    const kept = sharedWords(left, right);
    return [pieces(left, kept[0]), pieces(right, kept[1])];
  };
})();
