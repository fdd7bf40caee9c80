// Instruments TypeScript: each block of a file sets one byte of an array when it runs.
//
// Invariants: an instrumented file has the same lines as before, does the same, and declares one more name, COUNTER.
//
// Non-obvious: Istanbul keeps its counts in memory and writes them when the process exits. Most processes of rt end by a signal or
// are replaced by another program, so the bytes are in a file that all processes map.
import ts from "typescript";

export const COUNTER = "$ran";

/** A function, a branch, a loop's body, a case or a catch clause. */
export interface Block {
  readonly file: string;
  /** Line numbers of the first and last line, from 1. */
  readonly line: number;
  readonly endLine: number;
  /** Such as "function readEntry", "if", "catch". */
  readonly label: string;
  /** Index of the block that contains this one; undefined for a block of the module itself. */
  readonly parent: number | undefined;
}

interface Insertion {
  readonly at: number;
  readonly text: string;
}

export interface Instrumented {
  readonly text: string;
  readonly blocks: readonly Block[];
}

/**
 * Instruments a file.
 *
 * @param counter expression for the array
 * @param first index of the file's first block in the array
 */
export function instrument(file: string, text: string, counter: string, first: number): Instrumented {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true);
  const blocks: Block[] = [];
  const insertions: Insertion[] = [];
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;

  function add(label: string, node: ts.Node, parent: number | undefined): number {
    const line = lineOf(node.getStart(source));
    return blocks.push({ file, line, endLine: lineOf(node.end), label, parent }) - 1;
  }
  const mark = (index: number) => `${COUNTER}[${first + index}]=1`;

  function enterStatement(label: string, statement: ts.Statement, parent: number | undefined): number {
    const index = add(label, statement, parent);
    if (ts.isBlock(statement))
      insertions.push({ at: statement.getStart(source) + 1, text: `${mark(index)};` });
    else {
      insertions.push({ at: statement.getStart(source), text: `{${mark(index)};` });
      insertions.push({ at: statement.end, text: "}" });
    }
    return index;
  }
  function enterExpression(label: string, expression: ts.Expression, parent: number | undefined): number {
    const index = add(label, expression, parent);
    insertions.push({ at: expression.getStart(source), text: `(${mark(index)},` });
    insertions.push({ at: expression.end, text: ")" });
    return index;
  }

  function visit(node: ts.Node, parent: number | undefined): void {
    const entered = new Map<ts.Node, number>();
    for (const [label, child] of branchesOf(node)) {
      if (ts.isCaseOrDefaultClause(child)) {
        const start = child.statements[0];
        if (start === undefined) continue;
        const index = add(label, child, parent);
        insertions.push({ at: start.getStart(source), text: `${mark(index)};` });
        entered.set(child, index);
      } else if (ts.isBlock(child) || ts.isStatement(child))
        entered.set(child, enterStatement(label, child, parent));
      else entered.set(child, enterExpression(label, child, parent));
    }
    node.forEachChild((child) => visit(child, entered.get(child) ?? parent));
  }
  visit(source, undefined);

  if (blocks.length === 0) return { text, blocks };
  // Stable: of insertions at one position, the outer node's is first, and closing ones are alike.
  const ordered = insertions.toSorted((one, other) => one.at - other.at);
  let instrumented = `const ${COUNTER} = ${counter}; `;
  let done = 0;
  for (const { at, text: inserted } of ordered) {
    instrumented += text.slice(done, at) + inserted;
    done = at;
  }
  return { text: instrumented + text.slice(done), blocks };
}

type Branch = ts.Statement | ts.Expression | ts.CaseOrDefaultClause;

function branchesOf(node: ts.Node): (readonly [label: string, branch: Branch])[] {
  if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined)
    return [[nameOf(node), node.body]];
  if (ts.isIfStatement(node)) {
    const { thenStatement, elseStatement } = node;
    return elseStatement === undefined
      ? [["if", thenStatement]]
      : [
          ["if", thenStatement],
          ["else", elseStatement],
        ];
  }
  if (ts.isConditionalExpression(node))
    return [
      ["when true", node.whenTrue],
      ["when false", node.whenFalse],
    ];
  if (ts.isIterationStatement(node, false)) return [["loop", node.statement]];
  if (ts.isCaseBlock(node)) return node.clauses.map((clause) => ["case", clause] as const);
  if (ts.isCatchClause(node)) return [["catch", node.block]];
  return [];
}

function nameOf(node: ts.SignatureDeclaration): string {
  if (ts.isConstructorDeclaration(node)) return "constructor";
  const { name, parent } = node as { name?: ts.Node; parent: ts.Node };
  if (name !== undefined) return `function ${name.getText()}`;
  return ts.isVariableDeclaration(parent) ? `function ${parent.name.getText()}` : "function";
}
