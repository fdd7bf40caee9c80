// rt.CSRF in the compiled program.
import { expect, test } from "bun:test";
import { CSRF } from "../../src/csrf/csrf.ts";
import { expectRt, runRt } from "../support/rt.ts";
import { createProject } from "../support/project.ts";

const WAYS_IN = {
  "the global rt": "const { CSRF } = rt;",
  'import { CSRF } from "rt"': 'import { CSRF } from "rt";',
  'import rt from "rt"': 'import own from "rt"; const { CSRF } = own;',
  'import * as ns from "rt"': 'import * as ns from "rt"; const { CSRF } = ns;',
  'require("rt")': 'const { CSRF } = require("rt");',
};

test.each(Object.entries(WAYS_IN))("%s signs and checks a token", async (_, prologue) => {
  await expectRt({
    files: {
      "main.ts": `${prologue}
        const token = CSRF.generate("a secret", { sessionId: "alice" });
        console.log(
          CSRF === rt.CSRF,
          CSRF.verify(token, { secret: "a secret", sessionId: "alice" }),
          CSRF.verify(token, { secret: "a secret", sessionId: "bob" }),
          CSRF.verify("", { secret: "a secret" }),
          CSRF.verify(token, { secret: ["new", "a secret"], sessionId: "alice" }),
        );`,
    },
    args: ["main.ts"],
    stdout: "true true false false true\n",
  });
});

test("Bun.CSRF in the same program is the engine's own, and each accepts the other's tokens", async () => {
  await expectRt({
    args: [
      "-p",
      `[Bun.CSRF !== rt.CSRF, Bun.CSRF.verify(rt.CSRF.generate("k"), { secret: "k" }), rt.CSRF.verify(Bun.CSRF.generate("k"), { secret: "k" })].join()`,
    ],
    stdout: "true,true,true\n",
  });
});

test("misuse throws errors with codes", async () => {
  await expectRt({
    files: {
      "main.ts": `
        import { CSRF } from "rt";
        for (const call of [() => CSRF.verify(1 as never), () => CSRF.generate("k", { expiresIn: -1 }), () => CSRF.generate("")]) {
          try { call() } catch (error: any) { console.log(error instanceof TypeError, error instanceof RangeError, error.code) }
        }`,
    },
    args: ["main.ts"],
    stdout: "true false ERR_INVALID_ARG_TYPE\nfalse true ERR_OUT_OF_RANGE\ntrue false ERR_INVALID_ARG_TYPE\n",
  });
});

test.each([
  [
    "Worker",
    'const thread = new Worker(new URL("./thread.ts", import.meta.url).href); thread.onmessage = (event) => finish(event.data);',
  ],
  [
    "worker_threads",
    'import { Worker as Thread } from "node:worker_threads"; const thread = new Thread(new URL("./thread.ts", import.meta.url)); thread.on("message", finish);',
  ],
])("a %s has its own default secret", async (_, start) => {
  await expectRt({
    files: {
      "thread.ts": `
        import { CSRF } from "rt";
        import { parentPort } from "node:worker_threads";
        const own = CSRF.generate();
        parentPort!.postMessage({ own, ownIsValid: CSRF.verify(own), named: CSRF.generate("shared") });`,
      "main.ts": `
        import { CSRF } from "rt";
        const own = CSRF.generate();
        function finish({ own: theirs, ownIsValid, named }: { own: string; ownIsValid: boolean; named: string }) {
          console.log(CSRF.verify(own), ownIsValid, CSRF.verify(theirs), CSRF.verify(named, { secret: "shared" }));
          thread.terminate();
        }
        ${start}`,
    },
    args: ["main.ts"],
    stdout: "true true false true\n",
  });
});

test("tokens of the default secret are invalid after a restart, tokens of a named secret are valid", async () => {
  await using project = await createProject({
    "issue.ts":
      'import { CSRF } from "rt"; console.log(JSON.stringify([CSRF.generate(), CSRF.generate("named")]));',
    "check.ts": `
      import { CSRF } from "rt";
      const [own, named] = JSON.parse(process.argv[2]!);
      console.log(CSRF.verify(own), CSRF.verify(named, { secret: "named" }));`,
  });
  const issued = await runRt({ args: ["issue.ts"], cwd: project.path });
  expect(issued).toMatchObject({ stderr: "", status: 0 });
  expect(CSRF.verify(JSON.parse(issued.stdout)[1], { secret: "named" })).toBe(true);
  const checked = await runRt({ args: ["check.ts", issued.stdout.trim()], cwd: project.path });
  expect(checked).toEqual({ stdout: "false true\n", stderr: "", status: 0 });
});
