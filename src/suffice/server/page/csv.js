/**
 * Tables as text: CSV of RFC 4180, read piece by piece.
 */

/** A reader of CSV: `push(text)` reads a piece and calls `onRow(cells)` for each complete row, `end()` the last one. */
export function csvReader(onRow) {
  let row = [];
  let cell = "";
  let quoted = false; // within quotes
  let closed = false; // a quote has ended, or was the first of two

  function endRow() {
    row.push(cell);
    if (row.length > 1 || row[0] !== "") onRow(row);
    row = [];
    cell = "";
    closed = false;
  }

  function push(text) {
    for (let i = 0; i < text.length; i++) {
      const c = text[i];
      if (quoted) {
        if (c === '"') [quoted, closed] = [false, true];
        else cell += c;
      } else if (c === '"') {
        if (closed) cell += c;
        [quoted, closed] = [true, false];
      } else if (c === ",") {
        row.push(cell);
        [cell, closed] = ["", false];
      } else if (c === "\n") endRow();
      else if (c !== "\r") cell += c;
    }
  }

  return { push, end: () => (cell !== "" || row.length ? endRow() : undefined) };
}
