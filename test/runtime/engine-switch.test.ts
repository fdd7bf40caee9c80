// A program that runs as the engine must not turn the user's child processes into the engine.
//
// Two programs reveal an inherited engine switch: one that the stock engine compiled, and rt itself. With the switch they print
// the engine's version. Each is started by every means a program has. In most places in which code runs, a shell script that
// prints the variable replaces both, because it starts faster.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { createProject, type Project } from "../support/project.ts";
import { RT, runRt } from "../support/rt.ts";
import { placesOf } from "./places.ts";

let probe: Project;

beforeAll(async () => {
  probe = await createProject({
    "witness.ts": 'console.log("witness " + process.argv.slice(2).join(" "))',
    "package.json": { version: "9.9.9" },
    "witness.sh": `#!/bin/sh\ntest "\${BUN_BE_BUN-off}" = off || set -- "with BUN_BE_BUN=$BUN_BE_BUN"\necho "witness $*"\n`,
  });
  chmodSync(probe.join("witness.sh"), 0o755);
  const outfile = probe.join("witness");
  const built = Bun.spawnSync([process.execPath, "build", "--compile", "witness.ts", "--outfile", outfile], {
    cwd: probe.path,
  });
  expect(built.exitCode).toBe(0);
});

afterAll(() => probe[Symbol.asyncDispose]());

/** Starts \`program --version\` by every means and prints a line with each output. */
const EVERY_MEANS = `
  import { spawnSync, execSync, execFileSync, spawn, exec, execFile, fork } from "node:child_process";
  import { writeFileSync, chmodSync, mkdtempSync, readFileSync } from "node:fs";
  import { dlopen, ptr } from "bun:ffi";
  const directory = mkdtempSync((process.env.TMPDIR ?? "/tmp") + "/rt-test-means-");
  const text = (stream) => new Response(stream).text();
  const later = (start) => new Promise((settle) => start((_, out) => settle(out)));
  const listen = (child) => new Promise((settle) => { let all = ""; child.stdout.on("data", (d) => { all += d }); child.on("close", () => settle(all)) });
  for (const program of [process.env.WITNESS, process.env.RT_PROGRAM].filter(Boolean)) {
    const script = directory + "/script.sh";
    writeFileSync(script, "#!/bin/sh\\n" + program + " --version\\n");
    chmodSync(script, 0o755);
    const output = directory + "/output";
    const { system } = dlopen(process.platform === "darwin" ? "libSystem.B.dylib" : "libc.so.6", { system: { args: ["ptr"], returns: "i32" } }).symbols;
    const line = Buffer.from(program + " --version > " + output + "\\0");
    const means = {
      "Bun.spawn": () => text(Bun.spawn([program, "--version"]).stdout),
      "Bun.spawn with an environment": () => text(Bun.spawn([program, "--version"], { env: { ...process.env, X: "1" } }).stdout),
      "Bun.spawn with an empty environment": () => text(Bun.spawn([program, "--version"], { env: {} }).stdout),
      "Bun.spawnSync": () => Bun.spawnSync([program, "--version"]).stdout.toString(),
      "Bun.$": () => Bun.$\`\${program} --version\`.text(),
      "Bun.$ through sh": () => Bun.$\`sh -c \${program + " --version"}\`.text(),
      spawn: () => listen(spawn(program, ["--version"])),
      "spawn through a shell": () => listen(spawn(program, ["--version"], { shell: true })),
      "spawn with an environment": () => listen(spawn(program, ["--version"], { env: { ...process.env, X: "1" } })),
      exec: () => later((done) => exec(program + " --version", done)),
      execFile: () => later((done) => execFile(program, ["--version"], done)),
      spawnSync: () => spawnSync(program, ["--version"]).stdout.toString(),
      execSync: () => execSync(program + " --version").toString(),
      execFileSync: () => execFileSync(program, ["--version"]).toString(),
      fork: () => listen(fork("--version", [], { execPath: program, execArgv: [], silent: true })),
      "a shell script": () => Bun.spawnSync([script]).stdout.toString(),
      "env": () => Bun.spawnSync(["env", program, "--version"]).stdout.toString(),
      "the C library": () => { system(ptr(line)); return readFileSync(output, "utf8") },
    };
    for (const [name, start] of Object.entries(means)) {
      const said = String(await start()).trim();
      console.log("RESULT " + (program === process.env.WITNESS ? "witness" : "rt") + " by " + name + ": " + said);
    }
  }
  process.exit();
`;

/** The places that the engine's own start reaches, and one that it does not. */
const WITH_SWITCH =
  /^the main module$|engine|with -e|^-e$|standard input|by -e|in -e|-b$|a test|tsconfig|with options/;

/** Places from which the compiled program and rt are started. */
const PROGRAMS = ["the main module", "the main module, as the engine", "-e", "a Worker, as the engine"];

const { version } = (await import("../../package.json")) as { version: string };

describe.concurrent("child processes do not inherit the engine switch from", () => {
  for (const { name, files, args, stdin } of placesOf(EVERY_MEANS).filter(({ name }) =>
    WITH_SWITCH.test(name),
  )) {
    test(
      name,
      async () => {
        await using project = await createProject({ "pre.ts": "", ...files });
        const probes = PROGRAMS.includes(name)
          ? { WITNESS: probe.join("witness"), RT_PROGRAM: RT }
          : { WITNESS: probe.join("witness.sh") };
        const count = 18 * Object.keys(probes).length;
        const env = { ...probes, TMPDIR: project.path };
        const { stdout, stderr } = await runRt({ args, cwd: project.path, env, stdin });
        const results = stdout.split("\n").filter((line) => line.startsWith("RESULT"));
        const wrong = results.filter(
          (line) =>
            !line.endsWith(line.startsWith("RESULT witness") ? ": witness --version" : `: ${version}`),
        );
        expect({ count: results.length, wrong, stderr: results.length === count ? "" : stderr }).toEqual({
          count,
          wrong: [],
          stderr: "",
        });
      },
      120_000,
    );
  }
});
