"use strict";
// Word-level diff of two texts.
const differences = (() => {
  // Scripts without spaces are compared by character.
  const WORDS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*|\s+|[^]/gu;
  const LARGEST = 16_000_000;  // cells of the table, two bytes each

  const lengths = (first, second) => {
    const width = second.length + 1;
    const table = new Uint16Array((first.length + 1) * width);
    for (let i = first.length - 1; i >= 0; i -= 1) {
      for (let j = second.length - 1; j >= 0; j -= 1) {
        table[i * width + j] = first[i] === second[j]
          ? table[(i + 1) * width + j + 1] + 1
          : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
      }
    }
    return table;
  };

  // Flags for the words of both texts: whether each is in their longest common subsequence.
  const sharedWords = (first, second) => {
    const shared = [new Array(first.length).fill(false), new Array(second.length).fill(false)];
    let start = 0;
    while (start < first.length && start < second.length && first[start] === second[start]) start += 1;
    let end = 0;
    while (end < Math.min(first.length, second.length) - start && first.at(-1 - end) === second.at(-1 - end)) end += 1;
    shared.forEach((flags) => flags.fill(true, 0, start).fill(true, flags.length - end));
    const [left, right] = [first, second].map((words) => words.slice(start, words.length - end));
    if ((left.length + 1) * (right.length + 1) > LARGEST) return shared;
    const table = lengths(left, right);
    for (let i = 0, j = 0; i < left.length && j < right.length;) {
      const [below, next] = [(i + 1) * (right.length + 1) + j, i * (right.length + 1) + j + 1];
      if (left[i] === right[j]) {
        shared[0][start + i] = shared[1][start + j] = true;
        i += 1;
        j += 1;
      } else if (table[below] >= table[next]) i += 1;
      else j += 1;
    }
    return shared;
  };

  // A shared space between two differing words counts as differing.
  const isShared = (words, shared, place) =>
    shared[place] && (words[place].trim() !== "" || shared[place - 1] !== false || shared[place + 1] !== false);
  const pieces = (words, shared) => {
    const found = [];
    words.forEach((text, place) => {
      const same = isShared(words, shared, place);
      const last = found.at(-1);
      if (last && last.same === same) last.text += text;
      else found.push({ text, same });
    });
    return found;
  };

  return (first, second) => {
    const [left, right] = [first, second].map((text) => text.match(WORDS) ?? []);
    const shared = sharedWords(left, right);
    return [pieces(left, shared[0]), pieces(right, shared[1])];
  };
})();
