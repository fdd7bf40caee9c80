// Errors of `rt.secrets` and `rt.CSRF` point at the program's own call, not at rt's minified code.
import { describe, expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";

const MODES = [
  { name: "in process", options: [] },
  { name: "as the engine", options: ["--smol"] },
] as const;

/** The failing call is in line 3, in a function that line 5 calls. */
const CALLS = {
  "a wrong argument of secrets": {
    call: 'await secrets.get({ service: "", name: "alice" })',
    error: "TypeError: service must not be empty",
  },
  "a store that cannot be reached": {
    call: 'await secrets.set("service", "alice", "value")',
    error: "SecretsError: No session bus answers",
  },
  "a wrong argument of CSRF": {
    call: 'CSRF.generate("")',
    error: "TypeError: secret must be a non-empty string",
  },
};

describe.concurrent("an uncaught error shows the program's own line", () => {
  for (const [what, { call, error }] of Object.entries(CALLS)) {
    for (const { name, options } of MODES) {
      test(`after ${what}, ${name}`, async () => {
        await using project = await createProject({
          "main.ts": `import { CSRF, secrets } from "rt";
            async function login(this: void) {
              ${call};
            }
            await login();`,
        });
        const { stderr, status } = await runRt({ args: [...options, "main.ts"], cwd: project.path });
        expect(stderr).toContain(`3 |               ${call};`);
        expect(stderr).toContain(error);
        expect(stderr).toMatch(/at login \(.*main\.ts:3:\d+\)\n +at .*main\.ts:5:\d+\n/);
        expect(stderr).not.toMatch(/bunfs|rt:runtime/);
        expect(status).toBe(1);
      });
    }
  }

  test("for a call outside of any function", async () => {
    await using project = await createProject({ "main.ts": 'await rt.secrets.get("only a service");\n' });
    const { stderr } = await runRt({ args: ["main.ts"], cwd: project.path });
    expect(stderr).toContain('1 | await rt.secrets.get("only a service");');
    expect(stderr).toMatch(/at .*main\.ts:1:\d+\n/);
  });
});

test("rt passes errors of the program's own code through unchanged", async () => {
  const missing = "name must be a string, got undefined";
  await using project = await createProject({
    "main.ts": `
      const reason = new RangeError("mine");
      const { stack } = reason;
      const signal = AbortSignal.abort(reason);
      const rejected = await rt.secrets.get({ service: "s", name: "n", signal }).catch((error) => error);
      console.log(rejected === reason, reason.stack === stack);
      try {
        rt.CSRF.generate("secret", { get sessionId(): string { throw reason; } });
      } catch (error) {
        console.log(error === reason, reason.stack === stack);
      }
      Error.captureStackTrace = () => { throw new Error("replaced"); };
      console.log((await rt.secrets.get("only a service").catch((error) => error)).message);
      Error.prepareStackTrace = () => { throw new Error("no trace"); };
      const promise = rt.secrets.get("only a service");
      console.log(promise instanceof Promise, (await promise.catch((error) => error)).message);
      try {
        rt.CSRF.generate("");
      } catch (error) {
        console.log((error as Error).message);
      }
      globalThis.Error = undefined as never;
      console.log((await rt.secrets.get("only a service").catch((error) => error)).message);
    `,
  });
  expect(await runRt({ args: ["main.ts"], cwd: project.path })).toEqual({
    stdout: `true true\ntrue true\n${missing}\ntrue ${missing}\nsecret must be a non-empty string, received an empty string\n${missing}\n`,
    stderr: "",
    status: 0,
  });
});

test("a type error names the argument's type, even for values with throwing getters", async () => {
  await using project = await createProject({
    "main.ts": `
      const odd = {
        symbol: { constructor: { name: Symbol("x") } },
        getter: { get constructor() { throw new Error("trap"); } },
        proxy: new Proxy({}, { get() { throw new Error("trap"); } }),
      };
      for (const value of Object.values(odd)) {
        const rejected = await rt.secrets.set("s", "n", value as never).catch((error) => error);
        console.log(rejected.name, rejected.code);
        try {
          rt.CSRF.verify(value as never);
        } catch (error) {
          console.log((error as Error).message);
        }
      }
    `,
  });
  const { stdout, stderr, status } = await runRt({ args: ["main.ts"], cwd: project.path });
  const lines = ["TypeError ERR_INVALID_ARG_TYPE", "token must be a string, received an instance of Object"];
  expect({ lines: stdout.trimEnd().split("\n"), stderr, status }).toEqual({
    lines: [...lines, ...lines, ...lines],
    stderr: "",
    status: 0,
  });
});
