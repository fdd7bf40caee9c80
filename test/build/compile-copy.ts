// Compiles targets with the build of another checkout, and prints what came out: `compile-copy.ts <root> <targets...>`.
// A process of its own, since a module is loaded once per path.
import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

const [root, ...names] = process.argv.slice(2) as [string, ...string[]];
const { compile } = (await import(
  join(root, "build", "compile.ts")
)) as typeof import("../../build/compile.ts");
const { TARGETS } = (await import(
  join(root, "build", "targets.ts")
)) as typeof import("../../build/targets.ts");

for (const name of names) {
  const file = join(root, "elsewhere", `made-of-${name}`);
  await compile(
    TARGETS.find((target) => target.name === name)!,
    file,
  );
  console.log(name, createHash("sha256").update(readFileSync(file)).digest("hex"));
  rmSync(file);
}
