// `rt types`: a project that uses `rt` passes its type checker with the printed declarations, and mistakes fail.
import { expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { createProject } from "../support/project.ts";
import { REPOSITORY, RT, runRt } from "../support/rt.ts";

const RIGHT = `
  import own, { secrets, CSRF, type Secrets, type CSRFGenerateOptions, file, spawn, $ } from "rt";
  import * as all from "rt";
  const value: string | null = await secrets.get("service", "name");
  const again: string | null = await rt.secrets.get({ service: "s", name: "n", timeout: 1000, signal: AbortSignal.timeout(1) });
  await secrets.set({ service: "s", name: "n", value: "v" });
  await secrets.set({ service: "s", name: "n" }, "v");
  await secrets.set("s", "n", "v");
  const gone: boolean = await own.secrets.delete({ service: "s", name: "n" });
  const options: CSRFGenerateOptions = { expiresIn: 1, encoding: "hex", algorithm: "blake2b256", sessionId: "x" };
  const token: string = CSRF.generate("secret", options) + rt.CSRF.generate();
  const valid: boolean = all.CSRF.verify(token, { secret: ["a", "b"], maxAge: 5, encoding: "base64", algorithm: "sha512-256", sessionId: "y" });
  const same: Secrets = rt.secrets;
  const text: string = await rt.file("x").text() + await file("y").text() + rt.version + await $\`echo\`.text();
  rt.serve({ fetch: () => new Response("x") });
  spawn(["true"]);
  const secret: (string | undefined)[] = [process.env.TOKEN, Bun.env.TOKEN, rt.env.TOKEN, import.meta.env.TOKEN];
  export { secret };
  export { value, again, gone, valid, same, text };
`;

const WRONG = [
  'rt.secrets.get("only a service");',
  'rt.secrets.set({ service: "s", name: "n" });',
  "const a: string = await rt.secrets.get('s', 'n');",
  'rt.CSRF.generate("s", { algorithm: "md5" });',
  'rt.CSRF.verify("t", { encoding: "utf8" });',
  'rt.CSRF.verify("t", "secret");',
  "rt.nothing;",
  'import { nothing } from "rt"; nothing;',
  "process.env.UNDECLARED;",
];

test("a project with the printed declarations passes the type checker, and mistakes fail", async () => {
  await using named = await createProject({
    "rtfig.toml": '[secrets.TOKEN]\nfrom = "a/b"\nabout = "closes */ nothing"',
  });
  const types = await runRt({ args: ["types"], cwd: named.path });
  expect({ stderr: types.stderr, status: types.status }).toEqual({ stderr: "", status: 0 });
  await using project = await createProject({
    "rt.d.ts": types.stdout,
    "tsconfig.json": {
      compilerOptions: {
        target: "ESNext",
        module: "Preserve",
        moduleResolution: "bundler",
        moduleDetection: "force",
        strict: true,
        noPropertyAccessFromIndexSignature: true,
        noEmit: true,
        lib: ["ESNext"],
        types: ["bun-types"],
      },
      include: ["right.ts", "rt.d.ts"],
    },
    "wrong/tsconfig.json": { extends: "../tsconfig.json", include: ["*.ts", "../rt.d.ts"] },
    "right.ts": RIGHT,
    ...Object.fromEntries(WRONG.map((line, index) => [`wrong/w${index}.ts`, `${line}\nexport {};\n`])),
  });
  await symlink(join(REPOSITORY, "node_modules"), project.join("node_modules"));
  const [stock, own, wrong] = await Promise.all([
    runRt({ program: [process.execPath], args: ["check"], cwd: project.path }),
    runRt({ program: [RT], args: ["check"], cwd: project.path }),
    runRt({ program: [RT], args: ["check"], cwd: project.join("wrong") }),
  ]);
  expect(stock).toMatchObject({ status: 0, stdout: expect.not.stringContaining("error") });
  expect(own).toMatchObject({ status: 0, stdout: expect.not.stringContaining("error") });
  const reported = new Set(
    [...`${wrong.stdout}${wrong.stderr}`.matchAll(/w(\d+)\.ts\(\d/g)].map(([, index]) => Number(index)),
  );
  expect(WRONG.filter((_, index) => !reported.has(index))).toEqual([]);
  expect(wrong.status).not.toBe(0);
});

test("the declarations name bun-types when the project lacks it", async () => {
  expect((await runRt({ args: ["types"] })).stdout).toContain('/// <reference types="bun-types" />');
});

test("the declarations follow prettier's format and eslint's recommended rules", async () => {
  const { stdout } = await runRt({ args: ["types"] });
  const code = stdout.split("\n").filter((line) => !/^\s*(?:\/\/|\/\*\*)/.test(line));
  expect(code.filter((line) => line.length > 80)).toEqual([]);
  expect(stdout).toEndWith(";\n");
  expect(stdout).toMatch(/no-var[^\n]*\ndeclare var rt/);
});
