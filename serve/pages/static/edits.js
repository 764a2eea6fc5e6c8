// A text with edits that can be switched on and off. Spans count characters (code points), not UTF-16 units.

// The pieces of a post-edit in order: { text } for what stays, { edit, before, after } for each change. Returns null
// if the changes do not lead from the MT to the post-edit, so that no reader is shown a text nobody wrote.
export const piecesOf = (mt, result) => {
  const characters = Array.from(mt);
  const slice = (from, to) => characters.slice(from, to).join("");
  const edits = [...result.edits].sort((one, other) => one.mt_span[0] - other.mt_span[0] || one.span[0] - other.span[0]);
  const pieces = [];
  let at = 0;
  for (const edit of edits) {
    const [from, to] = edit.mt_span;
    if (from < at) return null;
    if (from > at) pieces.push({ text: slice(at, from) });
    pieces.push({ edit, before: slice(from, to), after: spanText(result.post_edit, edit.span), on: true });
    at = to;
  }
  if (at < characters.length) pieces.push({ text: slice(at) });
  return textOf(pieces) === result.post_edit ? pieces : null;
};

const spanText = (text, [from, to]) => Array.from(text).slice(from, to).join("");

// The text with the changes that are on.
export const textOf = (pieces) =>
  pieces.map((piece) => (piece.edit ? (piece.on ? piece.after : piece.before) : piece.text)).join("");
