// The whole table of options: each has a test, and the table matches the engine's help except for listed differences.
import { describe, expect, test } from "bun:test";
import { OPTIONS } from "../../src/options/options.ts";
import { collectProofs } from "./proofs.ts";

const names = OPTIONS.map(({ name }) => name);

/** Options that only the engine has. */
const ONLY_ENGINE: Readonly<Record<string, string>> = {
  "cron-title": "internal, for jobs that the engine registers",
  "cron-period": "internal, for jobs that the engine registers",
};

/** Options that only rt has, or that have another name in the engine. */
const ONLY_RT: Readonly<Record<string, string>> = {
  rt: "the engine's name is --bun, which is an alias",
  "auto-install": "a long name for -i",
  concurrency: "for many scripts",
  ui: "for many scripts",
  output: "for many scripts",
  "log-prefix": "for many scripts",
  pick: "for interactive use",
  "dry-run": "for many scripts",
  report: "for many scripts",
  affected: "for many scripts",
  permissions: "for scripts",
  explain: "for scripts",
  learn: "for scripts",
  "no-permissions": "for scripts",
  locked: "for scripts",
  remote: "for remote execution",
  "no-remote": "for remote execution",
  shard: "for many scripts",
  "shard-times": "for many scripts",
  share: "for many scripts",
  "share-id": "for many scripts",
  "share-name": "for many scripts",
  "no-cache": "for the script cache",
  force: "for the script cache",
  cache: "for the script cache",
  "verify-inputs": "for the script cache",
  why: "for the script cache",
  "watch-path": "for scripts, whose inputs the engine does not know",
  "watch-ignore": "for scripts, whose inputs the engine does not know",
  secret: "for secrets of the credential store",
  "no-redact": "for secrets of the credential store",
};

/** Options whose row differs from the engine's help, with the reason. */
const DIFFERENT: Readonly<Record<string, string>> = {
  "elide-lines": "the specification's default is 10, the engine's 0",
  shell: "one of the shells is called rt",
  "max-http-header-size": "written in bytes here",
  config: "the file is called rtfig.toml",
};

/** Matches: (default: 2), Default: "react", Defaults to: .tsx,.ts, "auto" (default. */
const STATED_DEFAULT =
  /\(default: "?([^",)]+)|\bDefault(?:s to| is)?:? "?([.$][^" ]+|\w+)"?|(?:"(\w+)"|\b(\w+)) \(default[,)]/;

interface EngineOption {
  name: string;
  short: string | undefined;
  hasValue: boolean;
  help: string;
}

function readEngineHelp(): EngineOption[] {
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "--help"], { env: { NO_COLOR: "1" } });
  const text = Bun.stripANSI(stdout.toString() + stderr.toString());
  const flags = text.slice(text.indexOf("Flags:"));
  return [...flags.matchAll(/^ {2,}(?:-(\w)(?:, )?)?(?:\s*--([\w.-]+)(=<val>)?)? {2,}(\S.*)$/gm)]
    .filter(([, short, name]) => short ?? name)
    .map(([, short, name, value, help = ""]) => ({
      short,
      name: name ?? `-${short}`,
      hasValue: !!value,
      help,
    }));
}

describe("OPTIONS", () => {
  test("options each have a test that shows them", async () => {
    const proofs = await collectProofs();
    expect(names.filter((name) => !proofs.has(name))).toEqual([]);
    expect([...proofs.keys()].filter((name) => !names.includes(name))).toEqual([]);
  });

  test("have unique names and short forms", () => {
    const shorts = OPTIONS.flatMap(({ short }) => short ?? []);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(shorts.filter((short, index) => shorts.indexOf(short) !== index)).toEqual([]);
    for (const { aliasOf } of OPTIONS) if (aliasOf) expect(names).toContain(aliasOf);
  });

  test("match the engine's options, except for listed differences", () => {
    const engine = readEngineHelp();
    expect(engine.length).toBeGreaterThan(90);
    const engineNames = engine.map(({ name }) => (name === "-i" ? "auto-install" : name));
    expect(engineNames.filter((name) => !names.includes(name)).sort()).toEqual(
      Object.keys(ONLY_ENGINE).sort(),
    );
    const ours = names.filter((name) => !engine.some((option) => option.name === name)).sort();
    expect(ours).toEqual(Object.keys(ONLY_RT).sort());
  });

  test("match the engine's in values and short forms", () => {
    for (const { name, short, hasValue } of readEngineHelp()) {
      const option = OPTIONS.find((each) => each.name === name);
      if (!option) continue;
      // -b is short for --rt, whose alias is --bun.
      const shorts = short === undefined ? option.short : OPTIONS.find((each) => each.short === short)?.name;
      expect({ name, shorts, hasValue: option.value !== undefined }).toEqual({
        name,
        shorts: short === undefined ? undefined : (option.aliasOf ?? name),
        hasValue,
      });
    }
  });

  test("match the default of the engine's help, if it states one", () => {
    const stated = readEngineHelp().flatMap(({ name, help }) => {
      const [, ...found] = STATED_DEFAULT.exec(help) ?? [];
      return [{ name, default: found.find((each) => each !== undefined) }];
    });
    const known = stated.filter(({ name }) => names.includes(name) && !(name in DIFFERENT));
    const ours = known.map(({ name }) => ({
      name,
      default: OPTIONS.find((each) => each.name === name)!.default,
    }));
    expect(ours).toEqual(known);
    expect(known.filter((each) => each.default !== undefined)).toHaveLength(10);
    for (const name of Object.keys(DIFFERENT)) expect(names).toContain(name);
  });
});
