// Mutants: small changes that break the source, each with the tests that must fail. If all of them pass, the mutant survives: no
// test guards that behaviour.
//
// Invariants:
// - test/mutants/tables has at most MAX_ROWS rows, each a fault by which a user loses something. Other mutants are generated.
// - The text of a row occurs exactly once in its file, so a row cannot become outdated unnoticed.
import { join } from "node:path";
import { REPOSITORY } from "../support/rt.ts";

/** Limited, because each row must be edited together with the line that it quotes. */
export const MAX_ROWS = 150;

export interface Mutant {
  /** The faulty behaviour, in a few words. */
  readonly fault: string;
  readonly text: string;
  readonly becomes: string;
  /** Test files, the one most likely to fail first: "tasks/signals" is test/tasks/signals.test.ts. */
  readonly tests: readonly string[];
  /** Why no test has to fail. */
  readonly why?: string;
}

/** Mutants by the file's path in the repository. */
export type MutantTable = Readonly<Record<string, readonly Mutant[]>>;

export interface Placed extends Mutant {
  readonly file: string;
}

export function nameOf({ file, fault }: Pick<Placed, "file" | "fault">): string {
  return `${file}: ${fault}`;
}

export function testFileOf(name: string): string {
  return `test/${name}.test.ts`;
}

/** Returns the rows of all tables. */
export async function readTables(): Promise<Placed[]> {
  const paths = [...new Bun.Glob("*.ts").scanSync(join(import.meta.dir, "tables"))].toSorted();
  const modules = await Promise.all(
    paths.map(async (path) => (await import(`./tables/${path}`)) as { default: MutantTable }),
  );
  return modules.flatMap(({ default: table }) =>
    Object.entries(table).flatMap(([file, mutants]) => mutants.map((mutant) => ({ file, ...mutant }))),
  );
}

/** Returns the changed content. @throws Error unless the text occurs exactly once. */
export function applyMutant(mutant: Placed, content: string): string {
  const parts = content.split(mutant.text);
  if (parts.length === 2) return parts.join(mutant.becomes);
  const times = parts.length === 1 ? "does not occur" : `occurs ${parts.length - 1} times`;
  throw new Error(`${nameOf(mutant)}: its text ${times} in the file: ${mutant.text}`);
}

/** Returns a message about an invalid row, undefined for a valid one. */
export async function findMistake(mutant: Placed): Promise<string | undefined> {
  const source = Bun.file(join(REPOSITORY, mutant.file));
  if (!(await source.exists())) return `${nameOf(mutant)}: there is no such file`;
  for (const name of mutant.tests)
    if (!(await Bun.file(join(REPOSITORY, testFileOf(name))).exists()))
      return `${nameOf(mutant)}: there is no ${testFileOf(name)}`;
  if (mutant.tests.length === 0) return `${nameOf(mutant)}: no test is named`;
  try {
    const content = await source.text();
    const changed = applyMutant(mutant, content);
    if (changed === content) return `${nameOf(mutant)}: it changes nothing`;
    // Transpiling would call a macro.
    const plain = changed.replace(' with { type: "macro" }', "");
    if (/\.m?ts$/.test(mutant.file)) new Bun.Transpiler({ loader: "ts" }).scan(plain);
  } catch (error) {
    const { message } = error as Error;
    return message.startsWith(mutant.file) ? message : `${nameOf(mutant)}: what it makes is no TypeScript`;
  }
  return undefined;
}
