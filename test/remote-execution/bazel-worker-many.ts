// `rt run --filter '*' --remote` on Bazel's worker, with a workspace of thirty packages that use tsc, esbuild and vitest.
// `npm run test:remote` runs this file; `npm test` does not find it. The files of node_modules/.bin are scripts, as pnpm
// writes them, because that worker omits symlinks of its inputs.
import { expect, test } from "bun:test";
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { waitUntil } from "../support/processes.ts";
import { createProject, type Files, type Project } from "../support/project.ts";
import { startWorker } from "../support/servers/reapi-worker.ts";
import { SYSTEM } from "../support/servers/remote-project.ts";
import { cleanEnvironment, REPOSITORY, runRt, type RtResult, startRt } from "../support/rt.ts";

const MODULES = join(REPOSITORY, "node_modules");
const COUNT = 30;
const NAMES = Array.from({ length: COUNT }, (_, index) => `p${String(index).padStart(2, "0")}`);
/** Each package depends on up to two earlier ones. */
const needs = (index: number) =>
  index === 0 ? [] : [...new Set([index >> 1, Math.floor(index / 3)])].filter((each) => each < index);

/** Records that the script ran. Every third package compiles, the others bundle, and every fifth runs tests. */
const RECORD_RUN = 'echo "$npm_package_name" >> "$RAN"';
const TSC =
  "tsc src/index.ts --outDir dist --declaration --target es2022 --module es2022 --strict --skipLibCheck --lib es2022";
const ESBUILD = "esbuild src/index.ts --bundle --format=esm --log-level=warning --outfile=dist/index.js";
/** The output of vitest contains times. */
const VITEST = "vitest run --root . > /dev/null 2>&1 && echo tested";
const testOf = (name: string, text: string) =>
  `import { expect, test } from "vitest";\nimport { ${name} } from "./index.ts";\n` +
  `test("says what it is", () => expect(${name}).toMatch(/${text}$/));\n`;

/** Returns the packages with all their dependencies. */
function withDependencies(...names: string[]): string[] {
  const found = new Set(names);
  for (const name of found) {
    const manifest = JSON.parse(readFileSync(join(MODULES, name, "package.json"), "utf8")) as {
      dependencies?: object;
      optionalDependencies?: object;
    };
    const needed = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
    for (const each of needed) if (existsSync(join(MODULES, each))) found.add(each);
  }
  return [...found];
}

function packageFiles(name: string, index: number): Files {
  const others = needs(index).map((each) => NAMES[each]!);
  const isBundled = index % 3 !== 2;
  const isTested = index % 5 === 3;
  const build = isBundled ? `${ESBUILD} && cp src/index.d.ts dist` : TSC;
  const imports = others.map((each) => `import { ${each} } from "../../${each}/dist/index.js";\n`).join("");
  const sum = [...others, `"${name}"`].join(" + ");
  return {
    [`packages/${name}/package.json`]: {
      name,
      type: "module",
      dependencies: Object.fromEntries(others.map((each) => [each, "*"])),
      scripts: {
        prebuild: RECORD_RUN,
        build: isTested ? `${build} && ${VITEST}` : build,
        postbuild: `node -e 'import("./dist/index.js").then((own) => console.log(own.${name}))'`,
        hold: 'touch "$RAN.$npm_package_name"; while :; do sleep 1; done',
      },
    },
    [`packages/${name}/src/index.ts`]: `${imports}export const ${name}: string = ${sum};\n`,
    ...(isTested && { [`packages/${name}/src/index.test.ts`]: testOf(name, name) }),
    ...(isBundled && { [`packages/${name}/src/index.d.ts`]: `export declare const ${name}: string;\n` }),
  };
}

async function createMonorepo(url: string): Promise<Project> {
  const project = await createProject(
    {
      "package.json": { name: "root", workspaces: ["packages/*"] },
      ".gitignore": "node_modules\ndist\n",
      "rtfig.toml": `[run.remote]\nurl = "${url}"\nsystem = "${SYSTEM}"\n[run.remote.scripts]\nbuild = { outputs = ["dist"], env = ["RAN"] }\nhold = { env = ["RAN"] }\n`,
      ...Object.assign({}, ...NAMES.map(packageFiles)),
      "node_modules/.bin/tsc": '#!/bin/sh\nexec node "$(dirname "$0")/../typescript/lib/tsc.js" "$@"\n',
      "node_modules/.bin/esbuild":
        '#!/bin/sh\nexec "$(dirname "$0")/../@esbuild/linux-x64/bin/esbuild" "$@"\n',
      "node_modules/.bin/vitest": '#!/bin/sh\nexec node "$(dirname "$0")/../vitest/vitest.mjs" "$@"\n',
    },
    ["node_modules/.bin/tsc", "node_modules/.bin/esbuild", "node_modules/.bin/vitest"],
  );
  const typescript = readdirSync(join(MODULES, "typescript/lib")).filter((name) =>
    /^(?:_?tsc\.js|lib\..*\.d\.ts)$/.test(name),
  );
  for (const name of [
    ...["package.json", ...typescript.map((each) => `lib/${each}`)].map((each) => `typescript/${each}`),
    ...["package.json", "bin/esbuild"].map((each) => `@esbuild/linux-x64/${each}`),
    ...withDependencies("vitest", "vite"),
  ])
    cpSync(join(MODULES, name), project.join(`node_modules/${name}`), { recursive: true });
  await Bun.spawn(["git", "init", "-q"], { cwd: project.path, env: cleanEnvironment() }).exited;
  return project;
}

/** Describes each `dist`: kinds, execute permissions and digests. */
function outputs(project: Project): string {
  const list =
    'find packages/*/dist -printf "%y %p " \\( -perm -100 -printf x -o -true \\) -printf "\\n" | sort';
  const digests = "find packages/*/dist -type f | sort | xargs sha256sum";
  return Bun.spawnSync(["sh", "-c", `${list}; ${digests}`], { cwd: project.path }).stdout.toString();
}

const sorted = ({ stdout }: RtResult) => stdout.split("\n").toSorted();

test("a workspace of thirty packages has the same outputs remotely as locally, and runs each script once", async () => {
  await using worker = await startWorker();
  await using local = await createMonorepo(worker.url);
  await using remote = await createMonorepo(worker.url);
  await using marks = await createProject();
  const file = marks.join("ran");
  const ran = () => {
    const names = existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
    Bun.spawnSync(["rm", "-f", file]);
    return names.toSorted();
  };
  const run = (project: Project, filter: string, ...words: string[]) =>
    runRt({ args: ["run", "--filter", filter, ...words, "build"], cwd: project.path, env: { RAN: file } });
  const localResult = await run(local, "*");
  expect({ status: localResult.status, ran: ran() }).toEqual({ status: 0, ran: NAMES });
  const remoteResult = await run(remote, "*", "--remote");
  expect({ status: remoteResult.status, ran: ran() }).toEqual({ status: 0, ran: NAMES });
  expect(sorted(remoteResult)).toEqual(sorted(localResult));
  expect(outputs(remote)).toBe(outputs(local));
  expect(outputs(remote).split("\n").length).toBeGreaterThan(3 * COUNT);

  Bun.spawnSync(["sh", "-c", "rm -r packages/*/dist"], { cwd: remote.path });
  const again = await run(remote, "*", "--remote");
  expect({ status: again.status, ran: ran() }).toEqual({ status: 0, ran: [] });
  expect(sorted(again)).toEqual(sorted(localResult));
  expect(outputs(remote)).toBe(outputs(local));

  for (const project of [local, remote])
    await project.write({ "packages/p05/src/index.ts": 'export const p05: string = "another";\n' });
  const affected = new Set([5]);
  for (let index = 6; index < COUNT; index++)
    if (needs(index).some((each) => affected.has(each))) affected.add(index);
  expect(await run(local, "...p05")).toMatchObject({ status: 0 });
  ran();
  expect(await run(remote, "*", "--remote")).toMatchObject({ status: 0 });
  expect(ran()).toEqual([...affected].map((index) => NAMES[index]!).toSorted());
  expect(outputs(remote)).toBe(outputs(local));

  // A remote failure has the same exit code and skips the same scripts.
  for (const project of [local, remote])
    await project.write({ "packages/p14/src/index.ts": "export const p14: number = 'no';\n" });
  // A failed test too.
  for (const project of [local, remote])
    await project.write({ "packages/p13/src/index.test.ts": testOf("p13", "another") });
  const skips = (result: RtResult) => sorted(result).filter((line) => /Skipped|error TS|Exited/.test(line));
  for (const [name, skipped] of [
    ["p14", "p28"],
    ["p13", "p26"],
  ]) {
    const [failed, failedThere] = [
      await run(local, `...${name}`),
      await run(remote, `...${name}`, "--remote"),
    ];
    expect(failed.status).not.toBe(0);
    expect(failedThere.status).toBe(failed.status);
    expect(skips(failed).some((line) => line.startsWith(`${skipped} `) && line.includes("Skipped"))).toBe(
      true,
    );
    expect(skips(failedThere)).toEqual(skips(failed));
  }

  // The worker is killed while scripts run. rt prints one error and restores no partial outputs.
  const before = outputs(remote);
  const child = startRt({
    args: ["run", "--filter", "*", "--parallel", "--remote", "hold"],
    cwd: remote.path,
    env: { RAN: file },
  });
  await waitUntil(() => NAMES.some((name) => existsSync(`${file}.${name}`)));
  await worker.stop();
  expect(await child.exited).toBe(1);
  const errors = (await new Response(child.stderr).text())
    .split("\n")
    .filter((line) => /^error: /.test(line));
  expect(errors).toEqual([expect.stringMatching(/^error: The server grpc:\S+ cannot be reached: /)]);
  expect(outputs(remote)).toBe(before);
}, 600_000);
