import { expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { createProject } from "../support/project.ts";
import { resultOf } from "../support/output.ts";
import { REPOSITORY } from "../support/rt.ts";

const FAULTS: Readonly<Record<string, string>> = {
  "no-floating-promises": `export function f(): void { work(); }`,
  "no-misused-promises": `export const f = (): unknown => [1].forEach(async () => { await work(); });`,
  "switch-exhaustiveness-check": `export function f(a: "b" | "c"): void { switch (a) { case "b": } }`,
  "no-unsafe-assignment": `export const f: unknown[] = [...JSON.parse("[]")];`,
  "no-unsafe-member-access": `export const f: unknown = JSON.parse("{}").a;`,
  "no-unsafe-return": `export const f = (): string => JSON.parse("{}");`,
};

test("npm run lint reports a fault of each rule that needs types", async () => {
  const name = (rule: string) => `src/${rule}.ts`;
  const work = "export async function work(): Promise<void> {}\n";
  await using project = await createProject({
    "tsconfig.json": { compilerOptions: { strict: true, lib: ["ESNext"], types: [] } },
    ...Object.fromEntries(Object.entries(FAULTS).map(([rule, text]) => [name(rule), `${work}${text}\n`])),
  });
  // oxlint searches for tsgolint from the working directory.
  await symlink(join(REPOSITORY, "node_modules"), project.join("node_modules"));
  const oxlint = join(REPOSITORY, "node_modules/oxlint/bin/oxlint");
  const child = Bun.spawn(
    [process.execPath, oxlint, "--format=unix", "-c", join(REPOSITORY, ".oxlintrc.json"), "src"],
    { cwd: project.path, stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  );
  const { stdout, status } = await resultOf(child);
  const found = [...stdout.matchAll(/^(\S+?):.*typescript\((\S+)\)\]$/gm)].map(([, file, rule]) => [
    file,
    rule,
  ]);
  expect(found.toSorted()).toEqual(
    Object.keys(FAULTS)
      .map((rule) => [name(rule), rule])
      .toSorted(),
  );
  expect(status).toBe(1);
});
