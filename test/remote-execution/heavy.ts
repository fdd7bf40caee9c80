// `rt run --filter '*' --remote` with a worker that is killed, and a network that is cut, at random times. All outputs are
// complete outputs of the current or the previous run. The run succeeds or has one error, and leaves no process or file
// behind. `npm run test:remote` runs this file; `npm test` does not find it. RT_TEST_KILLS sets the number of rounds,
// RT_TEST_SEED the random seed.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { openCuttableNetwork } from "../support/servers/cuttable-network.ts";
import { createMark, waitUntil } from "../support/processes.ts";
import { createProject } from "../support/project.ts";
import { createRandom } from "../support/random.ts";
import { startReapiProcess } from "../support/servers/reapi-process.ts";
import { SYSTEM } from "../support/servers/remote-project.ts";
import { cleanEnvironment, type RtResult, startRt } from "../support/rt.ts";
import { workspace } from "../support/workspace.ts";

const TIMES = Number(process.env.RT_TEST_KILLS ?? 200);
const SEED = Number(process.env.RT_TEST_SEED ?? 1);
const HOUR = 3600_000;
/** Large, so that a transfer or a write can be interrupted. */
const FILL = "0123456789abcdef".repeat(40 << 10);
/** The packages with their dependencies: two chains that join. */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  left: ["base"],
  right: ["base"],
  app: ["left", "right"],
  lone: [],
};
const NAMES = Object.keys(NEEDS);

function createFiles() {
  const packages = NAMES.map((name) => {
    const parts = NEEDS[name]!.map((each) => `../${each}/dist/text`).join(" ");
    const build = `mkdir -p dist; cat src.txt ${parts} > dist/text; sleep 0.05; cat src.txt fill > dist/large; echo built $npm_package_name`;
    const dependencies = Object.fromEntries(NEEDS[name]!.map((each) => [each, "*"]));
    return [name, { dependencies, scripts: { build } }];
  });
  return {
    ...workspace(Object.fromEntries(packages) as Record<string, object>),
    ".gitignore": "node_modules\ndist\n",
    ...Object.fromEntries(NAMES.map((name) => [`packages/${name}/fill`, FILL])),
  };
}

async function openRuns() {
  const random = createRandom(SEED);
  let worker = await startReapiProcess();
  const line = await openCuttableNetwork(worker.port);
  const config = [
    `[run.remote]\nurl = "grpc://127.0.0.1:${line.port}"\nsystem = "${SYSTEM}"`,
    '[run.remote.scripts.build]\noutputs = ["dist"]\n',
  ].join("\n");
  const project = await createProject({ ...createFiles(), "rtfig.toml": config });
  await Bun.spawn(["git", "init", "--quiet"], { cwd: project.path, env: cleanEnvironment() }).exited;
  const mark = createMark();
  const sources: Record<string, string> = {};
  /** The output of this package: its source and the outputs of its dependencies. */
  const textOf = (name: string): string => sources[name]! + NEEDS[name]!.map(textOf).join("");

  const read = async (name: string, file: string) => {
    const path = project.join(`packages/${name}/dist/${file}`);
    return existsSync(path) ? await Bun.file(path).text() : undefined;
  };
  const readOutputs = async () =>
    await Promise.all(NAMES.map(async (name) => [await read(name, "text"), await read(name, "large")]));
  const expectedOutputs = () => NAMES.map((name) => [textOf(name), sources[name]! + FILL]);

  /** Changes some sources to unused texts. */
  async function change(round: number): Promise<void> {
    for (const name of NAMES)
      if (round === 0 || random.below(2) === 0) {
        sources[name] = `${name} ${round}\n`;
        await project.write({ [`packages/${name}/src.txt`]: sources[name] });
      }
  }

  /** @param disturb called after the start */
  async function run(disturb: () => Promise<void> | void = () => {}): Promise<RtResult> {
    const child = startRt({
      args: ["run", "--filter", "*", "--remote", "build"],
      cwd: project.path,
      env: mark.env,
    });
    const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => new Response(stream).text());
    await disturb();
    await child.exited;
    return { stdout: await stdout!, stderr: await stderr!, status: child.exitCode ?? child.signalCode! };
  }

  /** Expects that no process and no temporary file remains. */
  async function expectNothingLeft(): Promise<void> {
    await waitUntil(() => mark.find().length === 0);
    const left = readdirSync(project.path, { recursive: true }).filter((name) => /\.rt-/.test(String(name)));
    expect(left).toEqual([]);
  }

  return {
    random,
    line,
    change,
    run,
    readOutputs,
    expectedOutputs,
    expectNothingLeft,
    clean: () => {
      for (const name of NAMES)
        rmSync(project.join(`packages/${name}/dist`), { recursive: true, force: true });
    },
    kill: async () => await worker.kill(),
    async start(): Promise<void> {
      worker = await startReapiProcess();
      line.setTarget(worker.port);
    },
    async [Symbol.asyncDispose]() {
      mark.kill();
      line[Symbol.dispose]();
      await worker.kill();
      await project[Symbol.asyncDispose]();
    },
  };
}

type Runs = Awaited<ReturnType<typeof openRuns>>;

const errorsOf = ({ stderr }: RtResult) => stderr.split("\n").filter((line) => line.startsWith("error: "));

/** Runs once with a disturbance. @returns true if that run succeeded */
async function expectCompleteOutputs(
  runs: Runs,
  round: number,
  disturb: (moment: number) => Promise<void>,
  longest: number,
) {
  const before =
    round === 0 ? NAMES.map((): undefined[] => [undefined, undefined]) : await runs.readOutputs();
  await runs.change(round);
  const expectedOutputs = runs.expectedOutputs();
  const result = await runs.run(async () => {
    await Bun.sleep(runs.random.below(longest));
    await disturb(round);
  });
  const found = await runs.readOutputs();
  expect({ round, status: result.status, errors: errorsOf(result).length }).toEqual(
    result.status === 0 ? { round, status: 0, errors: 0 } : { round, status: 1, errors: 1 },
  );
  if (result.status === 0) expect(found).toEqual(expectedOutputs);
  // Both files of a package are from the same run.
  for (const [at, each] of found.entries()) expect([before[at], expectedOutputs[at]]).toContainEqual(each);
  await runs.expectNothingLeft();
  return result.status === 0;
}

async function expectSuccess(runs: Runs, round: number): Promise<void> {
  const { status, stderr } = await runs.run();
  expect({ round, status, stderr }).toMatchObject({ round, status: 0 });
  expect(await runs.readOutputs()).toEqual(runs.expectedOutputs());
  await runs.expectNothingLeft();
}

/** Measures a run. Returns 120 % of its duration in milliseconds, over which the disturbances are spread. */
async function measure(runs: Runs): Promise<number> {
  await runs.change(0);
  const begin = performance.now();
  await runs.run();
  return Math.ceil((performance.now() - begin) * 1.2);
}

test(
  `a remote run whose worker is killed ${TIMES} times leaves no wrong or partial output`,
  async () => {
    await using runs = await openRuns();
    const longest = await measure(runs);
    let successes = 0;
    for (let round = 1; round <= TIMES; round++) {
      if (runs.random.below(3) === 0) runs.clean();
      // Every second time a new worker without any data replaces it at once.
      const isReplaced = round % 2 === 0;
      const disturb = async () => {
        await runs.kill();
        if (isReplaced) await runs.start();
      };
      if (await expectCompleteOutputs(runs, round, disturb, longest)) successes += 1;
      if (!isReplaced) await runs.start();
      await expectSuccess(runs, round);
    }
    console.error(`${TIMES} workers killed, each in ${longest} ms: ${successes} runs did not need it`);
  },
  HOUR,
);

test(
  `a remote run whose network is cut ${TIMES} times leaves no wrong or partial output`,
  async () => {
    await using runs = await openRuns();
    const longest = await measure(runs);
    const successes = { short: 0, long: 0 };
    for (let round = 1; round <= TIMES; round++) {
      if (runs.random.below(3) === 0) runs.clean();
      const isLasting = round % 2 === 0;
      const disturb = async () => runs.line.cut(isLasting);
      if (await expectCompleteOutputs(runs, round, disturb, longest))
        successes[isLasting ? "long" : "short"] += 1;
      else expect({ round, isLasting }).toEqual({ round, isLasting: true });
      runs.line.mend();
      await expectSuccess(runs, round);
    }
    console.error(`${TIMES} cuts, each in ${longest} ms: ${JSON.stringify(successes)} runs ended well`);
  },
  HOUR,
);
