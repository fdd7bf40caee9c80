// A second checkout of this repository, elsewhere and deeper, to show that a build does not depend on where it is made.
import { cp, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outputOfProgram } from "./output.ts";
import { REPOSITORY } from "./rt.ts";

const NEEDED = ["build", "src", "platform", "docs", "node_modules", "package.json", "README.md", "LICENSE"];

/** Large, and no part of any build. */
const UNNEEDED = /node_modules\/(?:playwright-core|happy-dom|bun-types|@types|typescript)(?:\/|$)/;

export interface Checkout extends AsyncDisposable {
  readonly path: string;
  /** Another time zone, language and permission of new files than the tests have. */
  run(script: string, args: readonly string[]): Promise<string>;
}

export async function copyCheckout(): Promise<Checkout> {
  const top = await realpath(await mkdtemp(join(tmpdir(), "rt checkout ")));
  const path = join(top, "deeper", "than", "before");
  await mkdir(path, { recursive: true });
  await Promise.all(
    NEEDED.map(async (name) => {
      const [from, to] = [join(REPOSITORY, name), join(path, name)];
      await cp(from, to, { recursive: true, filter: (file) => !UNNEEDED.test(file) });
    }),
  );
  return {
    path,
    async run(script, args) {
      const command = ["sh", "-c", 'umask 077; exec "$0" "$@"', process.execPath, script, ...args];
      const env = { ...process.env, TZ: "Pacific/Apia", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" };
      return await outputOfProgram(command, { cwd: top, env });
    },
    async [Symbol.asyncDispose]() {
      await rm(top, { recursive: true, force: true });
    },
  };
}
