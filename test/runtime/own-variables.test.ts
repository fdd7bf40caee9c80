// rt's internal variables are invisible to programs and their child processes, in each way of running code.
import { describe, expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { ABSENT, RT, runRt, startRt } from "../support/rt.ts";

/** Prints the internal variables that this program and its children see, for each way of starting a child. */
const PROGRAM = `
  import { execSync, spawnSync } from "node:child_process";
  const OURS = /^(?:BUN_BE_BUN|RT_BECAME|RT_SUPERVISED)(?==)/gm;
  const list = (env) => Object.entries(env).map(([name, value]) => name + "=" + value).join("\\n");
  const means = {
    "process.env": () => list(process.env),
    "Bun.env": () => list(Bun.env),
    "Bun.spawn": () => new Response(Bun.spawn(["env"]).stdout).text(),
    "Bun.spawn with options": () => new Response(Bun.spawn({ cmd: ["env"], stderr: "ignore" }).stdout).text(),
    "Bun.spawnSync": () => Bun.spawnSync(["env"]).stdout.toString(),
    "rt.spawnSync": () => rt.spawnSync(["env"], {}).stdout.toString(),
    "Bun.$": () => Bun.$\`env\`.text(),
    spawnSync: () => spawnSync("env").stdout.toString(),
    execSync: () => execSync("env").toString(),
  };
  for (const [name, look] of Object.entries(means))
    console.log("RESULT " + name + ": " + String(await look()).includes("CHILD=") + " " + (String(await look()).match(OURS) ?? ""));
  process.exit();
`;

/** Sends its own environment and a child's to the parent, which may be a process or a thread. */
const CHILD = `
  const seen = Object.entries(process.env).map((entry) => entry.join("=")).join("\\n") + "\\n" + Bun.spawnSync(["env"]).stdout;
  if (process.send) process.send(seen);
  else postMessage(seen);
`;

/** Ways of running code that start as the engine, and one that does not. */
const RUNS: Readonly<Record<string, { readonly args: readonly string[]; readonly stdin?: string }>> = {
  "a file": { args: ["a.mjs"] },
  "a file with an option": { args: ["--smol", "a.mjs"] },
  "-e": { args: ["-e", PROGRAM] },
  "standard input": { args: ["run", "-"], stdin: PROGRAM },
  "a test": { args: ["test", "./a.mjs"] },
  "a script that calls node, with --rt": { args: ["--rt", "--silent", "run", "go"] },
};

describe.skipIf(process.platform === "win32").concurrent("rt's own variables are not seen from", () => {
  for (const [name, { args, stdin }] of Object.entries(RUNS)) {
    test(name, async () => {
      await using project = await createProject({
        "package.json": { scripts: { go: "node a.mjs" } },
        "a.mjs": PROGRAM,
        "child.mjs": CHILD,
      });
      const env = { CHILD: project.join("child.mjs") };
      const { stdout, stderr } = await runRt({ args, cwd: project.path, env, stdin });
      const results = stdout.split("\n").filter((line) => line.startsWith("RESULT"));
      const wrong = results.filter((line) => !line.endsWith(": true "));
      const isWhole = results.length === (PROGRAM.match(/: \(\) =>/g) ?? []).length;
      expect({ isWhole, wrong, stderr: isWhole ? "" : stderr }).toEqual({
        isWhole: true,
        wrong: [],
        stderr: "",
      });
    });
  }

  for (const start of [
    "new Promise((settle) => fork(process.env.CHILD).on('message', settle))",
    "new Promise((settle) => { new Worker(process.env.CHILD).onmessage = ({ data }) => settle(data) })",
    "new Promise((settle) => new Thread(process.env.CHILD).on('message', settle))",
  ])
    test(start, async () => {
      await using project = await createProject({
        "a.mjs": `import { fork } from "node:child_process"; import { Worker as Thread } from "node:worker_threads";
          const seen = await ${start};
          console.log(seen.includes("CHILD="), seen.match(/^(?:BUN_BE_BUN|RT_BECAME|RT_SUPERVISED)=.*/gm)); process.exit();`,
        "child.mjs": CHILD,
      });
      const env = { CHILD: project.join("child.mjs") };
      expect(await runRt({ args: ["--smol", "a.mjs"], cwd: project.path, env })).toEqual({
        stdout: "true null\n",
        stderr: "",
        status: 0,
      });
    });

  for (const [name, option] of [
    ["one script", "--silent"],
    ["a script of many", "--sequential"],
  ] as const)
    test(`${name} in the built-in shell, except the engine's switch, which is off`, async () => {
      await using project = await createProject({ "package.json": { scripts: { go: "env" } } });
      const args = ["run", "--shell", "rt", option, "go"];
      const { stdout } = await runRt({ args, cwd: project.path });
      expect(stdout.match(/(?:BUN_BE_BUN|RT_BECAME|RT_SUPERVISED)=.*/g)).toEqual(["BUN_BE_BUN=off"]);
    });
});

describe.skipIf(process.platform === "win32").concurrent("what the user has set", () => {
  test("keep their values", async () => {
    const code =
      "console.log(process.env.BUN_BE_BUN, String(Bun.spawnSync(['sh', '-c', 'echo $BUN_BE_BUN']).stdout))";
    for (const args of [
      ["-e", code],
      ["--smol", "-e", code],
    ])
      expect(await runRt({ args, env: { BUN_BE_BUN: "0" } })).toEqual({
        stdout: "0 0\n\n",
        stderr: "",
        status: 0,
      });
  });

  test("reach children of Bun.spawn as they were at the start, as under the engine", async () => {
    const code = `process.env.LATE = "late"; delete process.env.EARLY;
      console.log(String(Bun.spawnSync(["sh", "-c", "echo [$EARLY$LATE]"]).stdout).trim());
      console.log(String(Bun.spawnSync(["sh", "-c", "echo [$EARLY$LATE]"], { env: { LATE: "own" } }).stdout).trim());`;
    expect(await runRt({ args: ["-e", code], env: { EARLY: "early" } })).toEqual({
      stdout: "[early]\n[own]\n",
      stderr: "",
      status: 0,
    });
  });
});

describe
  .skipIf(process.platform === "win32")
  .concurrent("a program that is started again sees none, by", () => {
    for (const option of ["--watch", "--hot"])
      test(option, async () => {
        const text = (run: number) =>
          `process.env.LATE = "late";
        console.log("run ${run}", process.env.BUN_BE_BUN, String(Bun.spawnSync(["env"]).stdout).match(/^(?:BUN_BE_BUN|RT_BECAME|RT_SUPERVISED|LATE)=.*/gm), typeof rt);
        setInterval(() => {}, 1e6);`;
        await using project = await createProject({ "a.ts": text(1) });
        const child = startRt({
          program: [RT],
          args: [option, "--no-clear-screen", "a.ts"],
          cwd: project.path,
        });
        let printed = "";
        const reader = child.stdout.getReader();
        for (let run = 1; run <= 3; run += 1) {
          const line = `run ${run} undefined null object\n`;
          while (!printed.includes(line)) {
            const { done, value } = await reader.read();
            if (done) break;
            printed += new TextDecoder().decode(value);
          }
          expect(printed).toContain(line);
          await project.write({ "a.ts": text(run + 1) });
        }
        child.kill("SIGTERM");
        await child.exited;
      });
  });

test("the stack of a Bun.spawn error begins at the program's own line", async () => {
  await using project = await createProject({
    "a.ts": `function go() {\n  Bun.spawn(['${ABSENT}']);\n}\ngo();\n`,
  });
  const { stderr } = await runRt({ args: ["--smol", "a.ts"], cwd: project.path });
  const { stderr: engine } = await runRt({
    program: [process.execPath],
    args: ["--smol", "a.ts"],
    cwd: project.path,
  });
  expect(stderr).toBe(engine);
});
