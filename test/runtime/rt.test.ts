// Checks the global `rt` and the module "rt" in every place in which a user's code runs.
import { describe, expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { placesOf } from "./places.ts";

const CHECK = `
  import own, { secrets, CSRF, version, $ } from "rt";
  import * as all from "rt";
  const again = await import("rt");
  const required = require("rt");
  const checks = {
    global: globalThis.rt === rt && typeof rt === "object",
    hidden: !Object.keys(globalThis).includes("rt"),
    default: own === rt && all.default === rt && again.default === rt,
    secrets: secrets === rt.secrets && all.secrets === secrets && again.secrets === secrets && typeof secrets.get === "function",
    CSRF: CSRF === rt.CSRF && all.CSRF === CSRF && required.CSRF === CSRF && required.secrets === secrets,
    ours: rt.secrets !== Bun.secrets && rt.CSRF !== Bun.CSRF,
    rest: version === Bun.version && rt.file === Bun.file && required.spawn === Bun.spawn && (await $\`echo shell\`.text()) === "shell\\n",
    signs: CSRF.verify(CSRF.generate("k"), { secret: "k" }) && !CSRF.verify("", { secret: "k" }),
    ownSecret: CSRF.verify(CSRF.generate()),
    validates: await secrets.get({ service: "", name: "" } as never).then(() => false, (error: any) => error instanceof TypeError || error instanceof RangeError),
    program: process.argv[0] === process.execPath,
    files: Bun.embeddedFiles.length === 0,
    environment: !("RT_BECAME" in process.env) && process.env.BUN_BE_BUN !== "1",
    options: !process.execArgv.some((word) => /^--(?:config|preload)=(?:data:|\\/dev)/.test(word)),
    members: Object.keys(Bun).filter((name) => !(name in rt) || !(name in all)).join(),
  };
  const failed = Object.entries(checks).filter(([, result]) => result !== true && result !== "");
  console.log("RESULT " + (failed.length ? JSON.stringify(failed) : "good"));
`;

describe.concurrent('`rt` and the module "rt" work in', () => {
  for (const { name, files, args, stdin } of placesOf(CHECK)) {
    test(name, async () => {
      await using project = await createProject({ "pre.ts": "", ...files });
      const { stdout, stderr, status } = await runRt({ args, cwd: project.path, stdin });
      const results = stdout.split("\n").filter((line) => line.startsWith("RESULT"));
      expect({ results, status, stderr: args[0] === "test" ? "" : stderr }).toEqual({
        results: ["RESULT good"],
        status: 0,
        stderr: "",
      });
    });
  }
});

test.concurrent("`rt` can be replaced and deleted, as a global of the engine can", async () => {
  const { stdout, stderr, status } = await runRt({
    args: [
      "-e",
      "rt.CSRF = 1; console.log(rt.CSRF, delete rt.CSRF, typeof rt.CSRF); rt = 2; console.log(rt, delete globalThis.rt, typeof rt)",
    ],
  });
  expect({ stdout, stderr, status }).toEqual({
    stdout: "1 true object\n2 true undefined\n",
    stderr: "",
    status: 0,
  });
});

test.concurrent("`rt` lists its own members first and has all members of Bun", async () => {
  await using project = await createProject({
    "main.ts":
      'console.log(Object.keys(rt), "spawn" in rt, rt.constructor === Object, `${rt}`); for (const name of Object.keys(Bun)) if ((rt as any)[name] === undefined) console.log(name);',
  });
  const plain = await runRt({ args: ["main.ts"], cwd: project.path });
  const engine = await runRt({ args: ["--smol", "main.ts"], cwd: project.path });
  expect(plain).toEqual({ stdout: '[ "secrets", "CSRF" ] true true [object Bun]\n', stderr: "", status: 0 });
  expect(engine).toEqual(plain);
});

test.concurrent("every costly export of the module behaves like the engine's", async () => {
  await using project = await createProject({
    "main.ts": `
      import { $, sql, SQL, postgres, redis, RedisClient } from "rt";
      console.log(typeof $, typeof sql, typeof SQL, typeof postgres, typeof redis, typeof RedisClient);
      console.log(await $\`echo a\`.text(), typeof $.cwd, Object.keys(new SQL("sqlite://:memory:")).length >= 0);
      const db = new SQL("sqlite://:memory:");
      console.log(db instanceof SQL, db instanceof Bun.SQL, (await db\`select 1 as one\`)[0]);
      class Mine extends RedisClient {}
      console.log(Mine.prototype instanceof Bun.RedisClient, RedisClient.name);
      await db.close();`,
  });
  const { stdout, stderr, status } = await runRt({ args: ["main.ts"], cwd: project.path });
  expect({ stdout, stderr, status }).toEqual({
    stdout:
      "function function function function object function\na\n function true\ntrue true {\n  one: 1,\n}\ntrue RedisClient\n",
    stderr: "",
    status: 0,
  });
});

test.concurrent("a stack trace does not contain the runtime's own source", async () => {
  for (const args of [["-e"], ["--smol", "-e"]]) {
    const { stderr } = await runRt({ args: [...args, "rt.CSRF.generate(1 as never)"] });
    expect(stderr).toContain("ERR_INVALID_ARG_TYPE");
    expect(stderr).not.toContain("base64,");
    expect(stderr.length).toBeLessThan(3000);
  }
});
