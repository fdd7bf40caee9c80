// Mutants: small changes that make the source wrong, and the tests that have to fail with each. A mutant with which all of them
// pass has survived: no test guards that behaviour.
//
// Invariants:
// - test/mutants/tables has at most MAX_ROWS rows, each a fault by which a user loses something. Other mutants are generated.
// - The text of a row occurs exactly once in its file, so a row cannot become outdated unnoticed.
import { join } from "node:path";
import { REPOSITORY } from "../support/rt.ts";

/** Each row is edited with the line that it quotes. */
export const MAX_ROWS = 150;

export interface Mutant {
  /** What is wrong with the program then, in a few words. */
  readonly fault: string;
  readonly text: string;
  readonly becomes: string;
  /** Test files, the likeliest first: "tasks/signals" is test/tasks/signals.test.ts. */
  readonly tests: readonly string[];
  /** Why nothing notices it, and nothing has to. */
  readonly why?: string;
}

/** By path from the repository's top. */
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

/** All entries of all tables. */
export async function readTables(): Promise<Placed[]> {
  const paths = [...new Bun.Glob("*.ts").scanSync(join(import.meta.dir, "tables"))].toSorted();
  const modules = await Promise.all(
    paths.map(async (path) => (await import(`./tables/${path}`)) as { default: MutantTable }),
  );
  return modules.flatMap(({ default: table }) =>
    Object.entries(table).flatMap(([file, mutants]) => mutants.map((mutant) => ({ file, ...mutant }))),
  );
}

/** The file's content with the change in it. Throws where the text is not there, or twice. */
export function applyMutant(mutant: Placed, content: string): string {
  const parts = content.split(mutant.text);
  if (parts.length === 2) return parts.join(mutant.becomes);
  const times = parts.length === 1 ? "does not occur" : `occurs ${parts.length - 1} times`;
  throw new Error(`${nameOf(mutant)}: its text ${times} in the file: ${mutant.text}`);
}

/** What is wrong with an entry; undefined when nothing is. */
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
    // A macro is called when it is transpiled.
    const plain = changed.replace(' with { type: "macro" }', "");
    if (/\.m?ts$/.test(mutant.file)) new Bun.Transpiler({ loader: "ts" }).scan(plain);
  } catch (error) {
    const { message } = error as Error;
    return message.startsWith(mutant.file) ? message : `${nameOf(mutant)}: what it makes is no TypeScript`;
  }
  return undefined;
}
