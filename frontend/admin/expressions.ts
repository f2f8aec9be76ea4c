/**
 * The few expressions of the admin's templates that Alpine's CSP build cannot interpret, written
 * so that it can: it knows one expression at a time, and neither `if` nor arrow functions nor
 * assignments to elements. admin/alpine.ts brings the functions that stand here.
 */

const REWRITES: [RegExp, string][] = [
  [
    /\$watch\('sidebarDesktopOpen', value => localStorage\.setItem\('sidebarDesktopOpen', value \? '1' : '0'\)\)/g,
    "$watch('sidebarDesktopOpen', keepSidebar)",
  ],
  [/(\$refs\.\w+)\.value = ''/g, "clearField($1)"],
  [/if \((.+?)\) \{ (.+?) \} else \{ (.+?) \}/g, "($1) ? [$2] : [$3]"],
  [/if \((.+?)\) (\w+\(.*\))$/g, "($1) ? $2 : null"],
];

/** `expression` as one expression; itself where nothing has to change. */
export function asOneExpression(expression: string): string {
  let text = expression.trim();
  for (const [pattern, replacement] of REWRITES) text = text.replace(pattern, replacement);
  const statements = split(text);
  return statements.length > 1 ? `[${statements.join(", ")}]` : (statements[0] ?? "");
}

/** The statements of `text`: a semicolon within quotes or brackets separates nothing. */
function split(text: string): string[] {
  const statements: string[] = [];
  let quote = "";
  let depth = 0;
  let start = 0;
  for (let index = 0; index <= text.length; index++) {
    const character = text.charAt(index);
    if (quote) {
      if (character === "\\") index++;
      else if (character === quote) quote = "";
    } else if (character === "'" || character === '"') quote = character;
    else if (character && "([{".includes(character)) depth++;
    else if (character && ")]}".includes(character)) depth--;
    if (index >= text.length || (character === ";" && !quote && depth === 0)) {
      const statement = text.slice(start, index).trim();
      if (statement) statements.push(statement);
      start = index + 1;
    }
  }
  return statements;
}
