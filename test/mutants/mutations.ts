// Generates mutants of a TypeScript file from its syntax tree: one small edit per mutant.
//
// Non-obvious:
// - A mutant belongs to the line on which its edit begins, so that a changed line in a long statement does not select it.
// - A condition that is a comparison is flipped at its operator. It is not negated as well, which would do the same.
// - Types, imports and exports from other files have no effect at run time, so they are not mutated.
import ts from "typescript";

export const OPERATORS = [
  "negated condition",
  "off by one",
  "removed statement",
  "swapped branch",
  "removed await",
  "other constant",
  "other operator",
] as const;

export type MutationOperator = (typeof OPERATORS)[number];

/** One edit of a source text. */
export interface Mutation {
  readonly operator: MutationOperator;
  /** Line number of the edit's first character, from 1. */
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly becomes: string;
}

type BinaryEdits = ReadonlyMap<ts.SyntaxKind, readonly [MutationOperator, string]>;

/** Replacements by the operator of a binary expression. */
const BINARY: BinaryEdits = new Map([
  [ts.SyntaxKind.LessThanToken, ["off by one", "<="]],
  [ts.SyntaxKind.LessThanEqualsToken, ["off by one", "<"]],
  [ts.SyntaxKind.GreaterThanToken, ["off by one", ">="]],
  [ts.SyntaxKind.GreaterThanEqualsToken, ["off by one", ">"]],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, ["negated condition", "!=="]],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, ["negated condition", "==="]],
  [ts.SyntaxKind.EqualsEqualsToken, ["negated condition", "!="]],
  [ts.SyntaxKind.ExclamationEqualsToken, ["negated condition", "=="]],
  [ts.SyntaxKind.AmpersandAmpersandToken, ["other operator", "||"]],
  [ts.SyntaxKind.BarBarToken, ["other operator", "&&"]],
  [ts.SyntaxKind.PlusEqualsToken, ["other operator", "-="]],
  [ts.SyntaxKind.MinusEqualsToken, ["other operator", "+="]],
  [ts.SyntaxKind.AsteriskToken, ["other operator", "/"]],
  [ts.SyntaxKind.SlashToken, ["other operator", "*"]],
] satisfies [ts.SyntaxKind, [MutationOperator, string]][]);

const REMOVABLE = new Set([
  ts.SyntaxKind.ExpressionStatement,
  ts.SyntaxKind.ThrowStatement,
  ts.SyntaxKind.BreakStatement,
  ts.SyntaxKind.ContinueStatement,
]);

/**
 * Returns all mutants of a file in source order.
 * @throws SyntaxError when the text is not TypeScript.
 */
export function listMutations(name: string, text: string): Mutation[] {
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.ESNext, true);
  const { parseDiagnostics = [] } = source as { parseDiagnostics?: readonly ts.Diagnostic[] };
  if (parseDiagnostics.length > 0) throw new SyntaxError(`"${name}" is not TypeScript`);
  const mutations: Mutation[] = [];

  function add(operator: MutationOperator, start: number, end: number, becomes: string): void {
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    mutations.push({ operator, line, start, end, becomes });
  }
  function replace(operator: MutationOperator, node: ts.Node, becomes: string): void {
    add(operator, node.getStart(source), node.end, becomes);
  }
  /** Exchanges two nodes; the first is before the second. */
  function swap(first: ts.Node, second: ts.Node): void {
    const between = text.slice(first.end, second.getStart(source));
    const swapped = `${second.getText(source)}${between}${first.getText(source)}`;
    add("swapped branch", first.getStart(source), second.end, swapped);
  }
  function negate(condition: ts.Expression): void {
    const inner = ts.isParenthesizedExpression(condition) ? condition.expression : condition;
    if (ts.isBinaryExpression(inner) && isComparison(inner.operatorToken.kind)) return;
    if (ts.isPrefixUnaryExpression(inner) && inner.operator === ts.SyntaxKind.ExclamationToken)
      replace("negated condition", condition, inner.operand.getText(source));
    else replace("negated condition", condition, `!(${condition.getText(source)})`);
  }

  function visitStatement(node: ts.Node): void {
    if (ts.isIfStatement(node)) {
      if (node.elseStatement && ts.isBlock(node.thenStatement) && ts.isBlock(node.elseStatement))
        swap(node.thenStatement, node.elseStatement);
      else negate(node.expression);
    } else if (ts.isWhileStatement(node) || ts.isDoStatement(node)) {
      if (!isConstant(node.expression)) negate(node.expression);
    } else if (ts.isForStatement(node) && node.condition) {
      negate(node.condition);
    } else if (ts.isForOfStatement(node) && node.awaitModifier) {
      replace("removed await", node.awaitModifier, "");
    } else if (ts.isCaseBlock(node)) {
      swapCases(node.clauses);
    } else if (ts.isReturnStatement(node)) {
      if (!node.expression) replace("removed statement", node, ";");
    } else if (REMOVABLE.has(node.kind) && !isKept(node)) {
      replace("removed statement", node, ";");
    }
  }

  function swapCases(clauses: readonly ts.CaseOrDefaultClause[]): void {
    const filled = clauses.filter(({ statements }) => statements.length > 0);
    for (let index = 0; index + 1 < filled.length; index += 2) {
      const [first, second] = [filled[index]!.statements, filled[index + 1]!.statements];
      const [start, end] = [first[0]!.getStart(source), second.at(-1)!.end];
      const [split, next] = [first.at(-1)!.end, second[0]!.getStart(source)];
      const swapped = text.slice(next, end) + text.slice(split, next) + text.slice(start, split);
      add("swapped branch", start, end, swapped);
    }
  }

  function visitExpression(node: ts.Node): void {
    if (ts.isConditionalExpression(node)) {
      swap(node.whenTrue, node.whenFalse);
    } else if (ts.isAwaitExpression(node)) {
      add("removed await", node.getStart(source), node.expression.getStart(source), "");
    } else if (ts.isBinaryExpression(node)) {
      visitBinary(node);
    } else if (ts.isNumericLiteral(node)) {
      const value = Number(node.text);
      if (Number.isSafeInteger(value + 1)) replace("other constant", node, String(value + 1));
    } else if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword) {
      replace("other constant", node, node.kind === ts.SyntaxKind.TrueKeyword ? "false" : "true");
    } else if (ts.isStringLiteral(node)) {
      replace("other constant", node, node.text === "" ? '"other"' : '""');
    } else if (ts.isNoSubstitutionTemplateLiteral(node)) {
      replace("other constant", node, node.text === "" ? "`other`" : "``"); // a tag needs a template after it
    }
  }

  function visitBinary(node: ts.BinaryExpression): void {
    const { operatorToken, left, right } = node;
    const edit = BINARY.get(operatorToken.kind);
    if (edit) replace(edit[0], operatorToken, edit[1]);
    const isSum =
      operatorToken.kind === ts.SyntaxKind.PlusToken || operatorToken.kind === ts.SyntaxKind.MinusToken;
    if (isSum && ts.isNumericLiteral(right) && right.text === "1") add("off by one", left.end, right.end, "");
  }

  function visit(node: ts.Node): void {
    if (isWithoutEffect(node)) return;
    visitStatement(node);
    visitExpression(node);
    ts.forEachChild(node, (child) => {
      if (!isLabel(child, node)) visit(child);
    });
  }
  visit(source);
  return mutations.toSorted((a, b) => a.start - b.start || a.end - b.end);
}

/** Returns the edited text. */
export function applyMutation({ start, end, becomes }: Mutation, text: string): string {
  return text.slice(0, start) + becomes + text.slice(end);
}

function isComparison(kind: ts.SyntaxKind): boolean {
  const operator = BINARY.get(kind)?.[0];
  return operator === "negated condition" || operator === "off by one";
}

function isConstant({ kind }: ts.Node): boolean {
  return kind === ts.SyntaxKind.TrueKeyword || kind === ts.SyntaxKind.FalseKeyword;
}

/** A constructor does not run without `super()`, and a directive such as "use strict" changes nothing in a module. */
function isKept(node: ts.Node): boolean {
  if (!ts.isExpressionStatement(node)) return false;
  const { expression } = node;
  if (ts.isStringLiteral(expression)) return true;
  return ts.isCallExpression(expression) && expression.expression.kind === ts.SyntaxKind.SuperKeyword;
}

function isWithoutEffect(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return true;
  if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true;
  return ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(isDeclare);
}

function isDeclare({ kind }: ts.ModifierLike): boolean {
  return kind === ts.SyntaxKind.DeclareKeyword;
}

/** A wrong property name is a type error, and a wrong path of `import()` does not build, so neither needs a test. */
function isLabel(child: ts.Node, parent: ts.Node): boolean {
  if (!ts.isStringLiteralLike(child) && !ts.isNumericLiteral(child)) return false;
  if (ts.isPropertyAssignment(parent) || ts.isMethodDeclaration(parent) || ts.isPropertySignature(parent))
    return parent.name === child;
  if (!ts.isCallExpression(parent)) return false;
  const { expression } = parent;
  const isRequire = ts.isIdentifier(expression) && expression.text === "require";
  return isRequire || expression.kind === ts.SyntaxKind.ImportKeyword;
}
