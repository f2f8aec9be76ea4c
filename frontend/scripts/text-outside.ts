/**
 * Finds what people read and no catalogue has: text outside Lingui's macros, macros that run before
 * the language is known, and dates and numbers that are not written by the page's language.
 *
 * It reads the syntax, not the types, so it knows text by where it stands: between tags, in
 * attributes and properties that are read out or shown, in calls that show something, and wherever
 * a literal looks like a sentence (a capital and a space).
 */
import ts from "typescript";

export interface Finding {
  file: string;
  /** 1-based. */
  line: number;
  text: string;
  why: "text" | "attribute" | "argument" | "sentence" | "too early" | "locale";
}

const MACROS = /^@lingui\/(core|react)\/macro$/;
/** These make a descriptor, which is translated where it is shown. */
const DESCRIPTORS = new Set(["msg", "defineMessage"]);
const READ = new Set(
  "label title placeholder alt description hint heading summary caption tip empty busyLabel confirmLabel message aria-label aria-description aria-placeholder aria-roledescription aria-valuetext".split(
    " ",
  ),
);
const SHOWS = new Set(["toast", "useDocumentTitle", "announce", "confirm", "alert", "say"]);
const LETTERS = /\p{L}/u;
const SENTENCE = /^\p{Lu}.*\s\S/su;
const WORD = /^\p{Lu}\p{Ll}+[…:.!?]?$/u;
/** Literals that no person sees. */
const UNSEEN_ATTRIBUTES =
  /^(className|class|style|id|key|href|to|src|type|name|d|viewBox|data-.*)$/;

export function textOutside(file: string, code: string): Finding[] {
  const kind = file.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true, kind);
  const macros = importedMacros(source);
  const found: Finding[] = [];
  const add = (node: ts.Node, text: string, why: Finding["why"]) => {
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    found.push({ file, line, text: text.replace(/\s+/g, " ").trim(), why });
  };
  const visit = (node: ts.Node): void => {
    const text = shownText(node);
    if (text !== null && LETTERS.test(text) && !isInMacro(node, macros)) {
      const why = whyShown(node, text);
      if (why) add(node, text, why);
    }
    if (isMacroCall(node, macros) && isAtModuleLevel(node)) add(node, node.getText(), "too early");
    if (isWithoutLocale(node)) add(node, node.getText(), "locale");
    if (isLocaleCall(node) && isAtModuleLevel(node)) add(node, node.getText(), "too early");
    if (!ts.isTypeNode(node) && !ts.isImportDeclaration(node)) ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Local name of each macro to its own. */
function importedMacros(source: ts.SourceFile): Map<string, string> {
  const macros = new Map<string, string>();
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement)) continue;
    const from = (statement.moduleSpecifier as ts.StringLiteral).text;
    const names = statement.importClause?.namedBindings;
    if (!MACROS.test(from) || !names || !ts.isNamedImports(names)) continue;
    for (const { name, propertyName } of names.elements)
      macros.set(name.text, (propertyName ?? name).text);
  }
  return macros;
}

/** What a node says by itself: a template with its values left out. */
function shownText(node: ts.Node): string | null {
  if (ts.isJsxText(node) || ts.isStringLiteral(node)) return node.text;
  if (ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join("…");
  }
  return null;
}

function isInMacro(node: ts.Node, macros: Map<string, string>): boolean {
  for (let at = node; at.parent; at = at.parent) {
    const { parent } = at;
    if (ts.isTaggedTemplateExpression(parent)) return macros.has(parent.tag.getText());
    // Values of a message are not part of it.
    if (ts.isTemplateSpan(parent) && parent.expression === at) return false;
    if (ts.isCallExpression(parent) && macros.has(parent.expression.getText())) return true;
    if (ts.isJsxElement(parent) && macros.has(parent.openingElement.tagName.getText())) return true;
    if (ts.isJsxAttribute(parent)) return macros.has(parent.parent.parent.tagName.getText());
    if (ts.isJsxExpression(parent) && at !== node) return false;
  }
  return false;
}

function whyShown(node: ts.Node, text: string): Finding["why"] | null {
  if (ts.isJsxText(node)) return "text";
  const place = placeOf(node);
  if (place === null) return null;
  const { holder, child } = place;
  if (ts.isJsxExpression(holder) && !ts.isJsxAttribute(holder.parent)) return "text";
  const attribute = attributeOf(holder);
  if (attribute !== null) {
    if (READ.has(attribute)) return "attribute";
    if (UNSEEN_ATTRIBUTES.test(attribute)) return null;
  }
  if (ts.isCallExpression(holder) && holder.expression !== child) {
    const callee = holder.expression.getText();
    if (SHOWS.has(callee)) return "argument";
    if (/^console\./.test(callee)) return null;
  }
  // These are for developers; what is shown of them says errorMessage.
  if (ts.isNewExpression(holder) && /^(Type|Range)?Error$/.test(holder.expression.getText())) {
    return null;
  }
  return SENTENCE.test(text) || (WORD.test(text) && isKept(holder)) ? "sentence" : null;
}

/** Past what only chooses between texts: the node that says where the text goes. */
function placeOf(node: ts.Node): { holder: ts.Node; child: ts.Node } | null {
  let child = node;
  for (;;) {
    const { parent } = child;
    if (ts.isParenthesizedExpression(parent) || ts.isAsExpression(parent)) child = parent;
    else if (ts.isConditionalExpression(parent) && parent.condition !== child) child = parent;
    else if (ts.isBinaryExpression(parent)) {
      const { kind } = parent.operatorToken;
      const joins = [
        ts.SyntaxKind.QuestionQuestionToken,
        ts.SyntaxKind.BarBarToken,
        ts.SyntaxKind.AmpersandAmpersandToken,
        ts.SyntaxKind.PlusToken,
      ];
      // Compared, not shown.
      if (!joins.includes(kind)) return null;
      child = parent;
    } else if (ts.isTaggedTemplateExpression(parent) || ts.isCaseClause(parent)) return null;
    else if (ts.isPropertyAssignment(parent) && parent.name === child) return null;
    else if (ts.isElementAccessExpression(parent)) return null;
    else return { holder: parent, child };
  }
}

/** Returned or held: a word there is often a name that is shown (`owner: "Owner"`). */
function isKept(holder: ts.Node): boolean {
  return (
    ts.isReturnStatement(holder) ||
    ts.isArrowFunction(holder) ||
    ts.isPropertyAssignment(holder) ||
    ts.isVariableDeclaration(holder) ||
    ts.isArrayLiteralExpression(holder)
  );
}

/** The name of the attribute or property that a text is the value of. */
function attributeOf(holder: ts.Node): string | null {
  if (ts.isJsxAttribute(holder)) return holder.name.getText();
  if (ts.isJsxExpression(holder) && ts.isJsxAttribute(holder.parent)) {
    return holder.parent.name.getText();
  }
  if (ts.isPropertyAssignment(holder)) return holder.name.getText().replace(/["']/g, "");
  return null;
}

function isMacroCall(node: ts.Node, macros: Map<string, string>): boolean {
  const name = ts.isTaggedTemplateExpression(node)
    ? node.tag.getText()
    : ts.isCallExpression(node)
      ? node.expression.getText()
      : "";
  const macro = macros.get(name);
  return macro !== undefined && !DESCRIPTORS.has(macro) && !isInDescriptor(node, macros);
}

/** `plural` within `msg` runs when its message is shown. */
function isInDescriptor(node: ts.Node, macros: Map<string, string>): boolean {
  for (let at = node.parent; at; at = at.parent) {
    const name = ts.isTaggedTemplateExpression(at)
      ? at.tag.getText()
      : ts.isCallExpression(at)
        ? at.expression.getText()
        : "";
    if (DESCRIPTORS.has(macros.get(name) ?? "")) return true;
  }
  return false;
}

function isAtModuleLevel(node: ts.Node): boolean {
  for (let at = node.parent; at; at = at.parent) if (ts.isFunctionLike(at)) return false;
  return true;
}

function isLocaleCall(node: ts.Node): boolean {
  return (
    ts.isCallExpression(node) && /^(locale|language|direction)$/.test(node.expression.getText())
  );
}

/** A date or a number in the language of the browser, or in a fixed one. */
function isWithoutLocale(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return false;
  const callee = node.expression;
  const writes =
    ts.isPropertyAccessExpression(callee) &&
    (/^toLocale(Date|Time)?String$/.test(callee.name.text) ||
      callee.expression.getText() === "Intl");
  if (!writes || /^(Locale|Segmenter|getCanonicalLocales)$/.test(callee.name.text)) return false;
  const first = node.arguments?.[0];
  return !first || first.getText() === "undefined" || /^["'[]/.test(first.getText());
}
