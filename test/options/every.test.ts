// The table of options as a whole: each has a proof, the docs are current, and the engine's own help knows no
// option that is missing here without a reason.
import { describe, expect, test } from "bun:test";
import { OPTIONS } from "../../src/options/options.ts";
import { collectProofs } from "./proofs.ts";

const names = OPTIONS.map(({ name }) => name);

/** What the engine has and rt has not. */
const ONLY_ENGINE: Readonly<Record<string, string>> = {
  "cron-title": "for jobs that the engine registers; not for people",
  "cron-period": "for jobs that the engine registers; not for people",
};

/** What rt has and the engine has not, or not under this name. */
const ONLY_RT: Readonly<Record<string, string>> = {
  rt: "the engine's is called --bun, which is an alias here",
  "auto-install": "a long name for -i",
  concurrency: "for many scripts",
  pick: "for people who look for a script",
  "dry-run": "for many scripts",
  report: "for many scripts",
  affected: "for many scripts",
  remote: "for scripts on other machines, of which the engine knows nothing",
  "no-remote": "for scripts on other machines, of which the engine knows nothing",
  shard: "for many scripts",
  "shard-times": "for many scripts",
  share: "for many scripts",
  "share-id": "for many scripts",
  "share-name": "for many scripts",
  "no-cache": "for scripts that are not run again when nothing has changed",
  force: "for scripts that are not run again when nothing has changed",
  cache: "for scripts that are not run again when nothing has changed",
  "verify-inputs": "for scripts that are not run again when nothing has changed",
  why: "for scripts that are not run again when nothing has changed",
  "watch-path": "for scripts, of which nobody knows what they read",
  "watch-ignore": "for scripts, of which nobody knows what they read",
  secret: "from the credential store, which is rt's",
  "no-redact": "of secrets, which are rt's",
};

/** Where what a row says differs from what the engine says of it. */
const DIFFERENT: Readonly<Record<string, string>> = {
  "elide-lines": "the specification's default is 10, the engine's 0",
  shell: "one of the shells is called rt",
  "max-http-header-size": "written in bytes here",
  config: "the file is called rtfig.toml",
};

/** As in: (default: 2), Default: "react", Defaults to: .tsx,.ts, "auto" (default. */
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
  test("have a proof each", async () => {
    const proofs = await collectProofs();
    expect(names.filter((name) => !proofs.has(name))).toEqual([]);
    expect([...proofs.keys()].filter((name) => !names.includes(name))).toEqual([]);
  });

  test("are unique, in their short forms as well", () => {
    const shorts = OPTIONS.flatMap(({ short }) => short ?? []);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(shorts.filter((short, index) => shorts.indexOf(short) !== index)).toEqual([]);
    for (const { aliasOf } of OPTIONS) if (aliasOf) expect(names).toContain(aliasOf);
  });

  test("are the engine's, but for differences with a reason", () => {
    const engine = readEngineHelp();
    expect(engine.length).toBeGreaterThan(90);
    const engineNames = engine.map(({ name }) => (name === "-i" ? "auto-install" : name));
    expect(engineNames.filter((name) => !names.includes(name)).sort()).toEqual(
      Object.keys(ONLY_ENGINE).sort(),
    );
    const ours = names.filter((name) => !engine.some((option) => option.name === name)).sort();
    expect(ours).toEqual(Object.keys(ONLY_RT).sort());
  });

  test("take values and short forms as the engine's do", () => {
    for (const { name, short, hasValue } of readEngineHelp()) {
      const option = OPTIONS.find((each) => each.name === name);
      if (!option) continue;
      // -b is ours for --rt, of which --bun is the alias.
      const shorts = short === undefined ? option.short : OPTIONS.find((each) => each.short === short)?.name;
      expect({ name, shorts, hasValue: option.value !== undefined }).toEqual({
        name,
        shorts: short === undefined ? undefined : (option.aliasOf ?? name),
        hasValue,
      });
    }
  });

  test("have the engine's default if its help states one, and no other", () => {
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
