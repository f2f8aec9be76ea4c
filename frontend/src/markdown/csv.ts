/** Rows of text as CSV (RFC 4180), which programs for tables open. */

/** What such programs would compute: a model's text must not become a formula. */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?[\d.,\s%€$£]+$/;

export function csvOf(rows: string[][]): string {
  return rows.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("");
}

function cell(text: string): string {
  const plain = text.trim();
  const safe = FORMULA.test(plain) && !NUMBER.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The cells of a table as they are shown, row by row. */
export const rowsOf = (table: HTMLTableElement): string[][] =>
  [...table.rows].map((row) => [...row.cells].map(wordsOf));

/** The words of a cell; of a formula its source, and not its letters twice (MathML and glyphs). */
function wordsOf(cell: HTMLElement): string {
  const copy = cell.cloneNode(true) as HTMLElement;
  for (const formula of copy.querySelectorAll<HTMLElement>("[data-source]")) {
    formula.textContent = formula.dataset.source ?? "";
  }
  return copy.textContent ?? "";
}
