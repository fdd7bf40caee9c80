// The keychain of macOS on other systems: rt with its macOS provider, and and fake frameworks (test/macos).
//
//   await using keychain = await startKeychain();
//   await compileWithStandIn(path);
//   await runRt({ program: [path], args: ["secrets", "list"], env: keychain.env });
//
// The provider and the paths of the frameworks are set while such a program is compiled. No other build of rt contains them.
import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BunPlugin } from "bun";
import { dlopen, FFIType } from "bun:ffi";
import { compile } from "../../../build/compile.ts";
import { hostTarget } from "../../../build/targets.ts";
import type { openProvider } from "../../../platform/secrets/secret-provider.ts";
import type { createSecrets } from "../../../src/secrets/api/secrets.ts";
import { buildOnce } from "../programs/compiled.ts";
import { outputOfProgram } from "../output.ts";
import { REPOSITORY } from "../rt.ts";
import { waitUntil } from "../processes.ts";

const SOURCE = join(REPOSITORY, "test/macos/keychain-stand-in.c");
const DIRECTORY = "RT_STAND_IN_KEYCHAIN";

/** The functions of Security.framework that reach the keychain. */
export type ItemFunction = "SecItemAdd" | "SecItemCopyMatching" | "SecItemUpdate" | "SecItemDelete";

export interface Rule {
  readonly on: ItemFunction;
  readonly account?: string;
  /** "once" is a status for one call only; "dialog" waits for `answer`. */
  readonly does: "status" | "once" | "delay" | "dialog";
  readonly number?: number;
}

export interface Keychain extends AsyncDisposable {
  readonly env: Record<string, string>;
  /** Sets the faults from now on. */
  rule(...rules: readonly Rule[]): Promise<void>;
  /** Answers all dialogs of an account, also later ones. */
  answer(account: string, status?: number): Promise<void>;
  /** Words: locked, readonly, nodefault, nographics, adhoc. */
  setState(words: string): Promise<void>;
  /** All calls so far, such as "SecItemAdd alice". */
  calls(): Promise<string[]>;
  /** Resolves when such a call has started. */
  awaitCall(call: string): Promise<void>;
  /** Returns the file of the credentials, whose values are encoded. */
  items(): Promise<string>;
}

export async function startKeychain(): Promise<Keychain> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "rt-keychain-")));
  const place = (name: string) => join(directory, name);
  const read = (name: string) => readFile(place(name), "utf8").catch(() => "");
  const keychain: Keychain = {
    env: { [DIRECTORY]: directory },
    rule: async (...rules) => {
      const lines = rules.map(
        ({ on, account = "*", does, number = 0 }) => `${on} ${account} ${does} ${number}\n`,
      );
      await writeFile(place("rules"), lines.join(""));
    },
    answer: (account, status = 0) => writeFile(place(`answer-${account}`), `${status}\n`),
    setState: (words) => writeFile(place("state"), words),
    calls: async () => (await read("calls")).split("\n").slice(0, -1),
    awaitCall: (call) => waitUntil(async () => (await keychain.calls()).includes(call)),
    items: () => readFile(place("items"), "latin1").catch(() => ""),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
  return keychain;
}

/** Compiles the fake frameworks once for all test files. */
export async function buildStandIn(): Promise<string> {
  const path = join(tmpdir(), `rt-test-keychain-${Bun.hash(await readFile(SOURCE)).toString(36)}.so`);
  return await buildOnce(path, (draft) =>
    outputOfProgram(["cc", "-shared", "-fPIC", "-O1", "-pthread", "-o", draft, SOURCE]),
  );
}

/** Selects the provider for macOS, and the fake library for every framework. */
function useStandIn(library: string): BunPlugin {
  const frameworks = ["CORE_FOUNDATION", "SECURITY", "OBJECTIVE_C"];
  return {
    name: "keychain-stand-in",
    setup(build) {
      build.onLoad({ filter: /[\\/]platform[\\/]secrets[\\/]secret-provider\.ts$/ }, async ({ path }) => ({
        contents: (await Bun.file(path).text()).replaceAll("process.platform", '"darwin"'),
        loader: "ts",
      }));
      build.onLoad({ filter: /[\\/]platform[\\/]secrets[\\/]macos[\\/]frameworks\.ts$/ }, () => ({
        contents: frameworks.map((name) => `export const ${name} = ${JSON.stringify(library)};`).join("\n"),
        loader: "ts",
      }));
    },
  };
}

/** Compiles a program like `dist/rt` at `path`. */
export async function compileWithStandIn(path: string): Promise<void> {
  await compile(hostTarget(), path, [useStandIn(await buildStandIn())]);
}

export interface SecretsModule {
  readonly openProvider: typeof openProvider;
  readonly createSecrets: typeof createSecrets;
}

export interface StandIn extends SecretsModule {
  use(keychain: Keychain): void;
  /** Returns the number of live CoreFoundation objects. */
  liveObjects(): number;
}

/** Imports the modules behind `rt.secrets` into this process, over the fake frameworks. */
export async function importWithStandIn(): Promise<StandIn> {
  const library = await buildStandIn();
  const { symbols } = dlopen(library, {
    stand_in_use: { args: [FFIType.cstring], returns: FFIType.void },
    stand_in_live_objects: { args: [], returns: FFIType.u64 },
  });
  const { outputs } = await Bun.build({
    entrypoints: [join(REPOSITORY, "test/macos/secrets-module.ts")],
    target: "bun",
    plugins: [useStandIn(library)],
  });
  const directory = await mkdtemp(join(tmpdir(), "rt-test-module-"));
  try {
    const path = join(directory, "secrets.js");
    await Bun.write(path, outputs[0]!);
    const module = (await import(path)) as SecretsModule;
    return {
      ...module,
      use: ({ env }) => symbols.stand_in_use(Buffer.from(`${env[DIRECTORY]}\0`)),
      liveObjects: () => Number(symbols.stand_in_live_objects()),
    };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
