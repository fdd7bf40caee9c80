// Measures planning of 1,000 tasks in 200 packages, and a whole dry run of them beside turbo's.
//
// Invariants:
// - Planning is the time from the parsed command line to the finished plan. It includes rtfig.toml, all package.json
//   files and the code that is loaded for them. It excludes the start of the engine and the printed plan.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { findPeer } from "../peers.ts";
import { median, timeCommands } from "../processes.ts";
import { compareTimes, type Figure } from "../row.ts";

const PACKAGES = 200;
const MAX_PLANNING = 50; // ms

/** The dependencies of each task, in the syntax that rt and turbo share. */
const TASKS = {
  build: ["^build"],
  test: ["build"],
  lint: ["^build"],
  typecheck: ["^build"],
  pack: ["build", "test"],
} as const;
const NAMES = Object.keys(TASKS);

/** Each package has all tasks and depends on up to four others. */
async function createMonorepo(directory: string): Promise<string> {
  const write = (path: string, value: object) => Bun.write(join(directory, path), JSON.stringify(value));
  await mkdir(directory, { recursive: true });
  const rows = Object.entries(TASKS).map(
    ([name, dependsOn]) => `[tasks.${name}]\ndepends-on = ${JSON.stringify(dependsOn)}\n`,
  );
  await Bun.write(join(directory, "rtfig.toml"), rows.join("\n"));
  await write("turbo.json", {
    tasks: Object.fromEntries(Object.entries(TASKS).map(([name, dependsOn]) => [name, { dependsOn }])),
  });
  const root = { name: "root", private: true, packageManager: "npm@11.0.0", workspaces: ["packages/*"] };
  await write("package.json", root);
  const lock: Record<string, object> = { "": root };
  const scripts = Object.fromEntries(NAMES.map((name) => [name, "true"]));
  for (let index = 0; index < PACKAGES; index += 1) {
    const targets = new Set([index - 1, index - 3, index >> 1, index - 20]);
    const dependencies = Object.fromEntries(
      [...targets].filter((each) => each >= 0 && each < index).map((each) => [`p${each}`, "*"]),
    );
    const manifest = { name: `p${index}`, version: "1.0.0", scripts, dependencies };
    await write(`packages/p${index}/package.json`, manifest);
    lock[`packages/p${index}`] = { version: "1.0.0", dependencies };
    lock[`node_modules/p${index}`] = { resolved: `packages/p${index}`, link: true };
  }
  await write("package-lock.json", { name: "root", lockfileVersion: 3, packages: lock });
  return directory;
}

/** Returns the milliseconds from the parsed command line to the finished plan, as rt prints them. */
function timePlanning(rt: string, args: readonly string[], cwd: string): number {
  const env = { ...process.env, RT_DEBUG: "times" };
  const { stderr, exitCode } = Bun.spawnSync([rt, ...args], { cwd, env, stdout: "ignore" });
  const phases = new Map(
    Array.from(stderr.toString().matchAll(/^(.*): ([\d.]+) ms$/gm), ([, name, time]) => [
      name!,
      Number(time),
    ]),
  );
  const [parsed, planned] = [phases.get("command line"), phases.get("plan")];
  if (exitCode !== 0 || parsed === undefined || planned === undefined)
    throw new Error(`${rt} ${args.join(" ")} exited with ${exitCode}: ${stderr.toString()}`);
  return planned - parsed;
}

/** @param rt the program @param directory an empty directory */
export async function measurePlan(rt: string, directory: string, runs: number): Promise<Figure[]> {
  const monorepo = await createMonorepo(directory);
  const count = `${(PACKAGES * NAMES.length).toLocaleString("en-US")} tasks in ${PACKAGES} packages`;
  const args = ["run", "--dry-run=json", "--workspaces", ...NAMES];
  const turbo = findPeer("turbo");
  const command = (name: string, line: string) => ({ name, argv: ["sh", "-c", line] });
  const peers =
    turbo === undefined ? [] : [command("turbo", `${turbo} run ${NAMES.join(" ")} --dry-run=json`)];
  const timings = timeCommands([command("rt", [rt, ...args].join(" ")), ...peers], runs, monorepo);
  const planning = median(Array.from({ length: runs }, () => timePlanning(rt, args, monorepo)));
  return [
    ...compareTimes(`dry run of ${count}`, timings, { turbo: 1 }, 1),
    {
      figure: `plan of ${count}, from the parsed command line`,
      ours: `${planning.toFixed(1)} ms`,
      peer: "",
      ratio: planning,
      goal: `<= ${MAX_PLANNING}`,
      met: planning <= MAX_PLANNING,
    },
  ];
}
