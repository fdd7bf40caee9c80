// The machines of a shared run: processes with separate checkouts that use one Redis and one shared cache.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { serveCache, type ServedCache, variablesFor } from "../cache/server/served-cache.ts";
import { createProject, type Files, type Project } from "../support/project.ts";
import { type Redis, startRedis } from "../support/servers/redis.ts";
import { type Environment, type RtResult, startRt } from "../support/rt.ts";
import { waitUntil } from "../support/processes.ts";
import { workspace } from "../support/workspace.ts";

export interface Machine {
  readonly name: string;
  /** The path of its checkout. */
  readonly path: string;
  /** Starts `rt run --share`. */
  start(words: readonly string[], env?: Environment): RunningMachine;
}

export interface RunningMachine {
  readonly result: Promise<Pick<RtResult, "stdout" | "stderr" | "status">>;
  /** Waits until the output contains this text. */
  waitForOutput(text: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

export interface Machines extends AsyncDisposable {
  readonly redis: Redis;
  readonly served: ServedCache;
  readonly all: readonly Machine[];
  /** The lines that scripts have appended to the file $RAN. */
  readonly ran: () => Promise<readonly string[]>;
  /** The files that scripts wait for. */
  readonly folder: Project;
  /** Opens a gate for all scripts, or for the script with this process ID. */
  open(gate: string, pid?: number): Promise<void>;
  /** Waits until this many scripts have reached the gate. Returns their process IDs. */
  reached(gate: string, count?: number): Promise<readonly number[]>;
  /** A unique ID of the shared run. */
  readonly id: string;
}

/** A shell command that reports its process ID and waits until the gate is open. */
export const waitAt = (gate: string) =>
  `echo $$ >> "$GATES/${gate}.reached"; until [ -e "$GATES/${gate}" ] || [ -e "$GATES/${gate}.$$" ]; do sleep 0.05; done`;

export const RECORD = 'echo "$npm_package_name $PWD" >> "$RAN"';

export interface MachinesOptions {
  readonly count: number;
  readonly packages: Readonly<Record<string, { pret?: string; t: string; needs?: readonly string[] }>>;
  /** Lines of [run.cache]; by default the rule that `t` needs. */
  readonly config?: string;
  readonly redis?: Redis;
}

export async function createMachines(options: MachinesOptions): Promise<Machines> {
  const { count, packages } = options;
  const redis = options.redis ?? (await startRedis());
  const served = await serveCache();
  const folder = await createProject({ "gates/.keep": "", "ran.txt": "" });
  const manifests = Object.entries(packages).map(([name, { needs = [], ...scripts }]) => [
    name,
    { scripts, dependencies: Object.fromEntries(needs.map((each) => [each, "*"])) },
  ]);
  // Files of the test are not inputs.
  const ignored = `../../../../${basename(folder.path)}/**`;
  const rule = `t = { outputs = ["out.txt"], env = ["RAN", "GATES"], ignore = ["${ignored}"] }`;
  const files: Files = {
    ...workspace(Object.fromEntries(manifests)),
    "rtfig.toml": `[run.cache]\n${options.config ?? rule}\n`,
  };
  for (const name of Object.keys(packages)) files[`packages/${name}/src.txt`] = `${name}\n`;
  const id = crypto.randomUUID();
  const projects: Project[] = [];
  for (let at = 0; at < count; at++) {
    const project = await createProject();
    const checkout = Object.entries(files).map(([path, content]) => [`checkout/${path}`, content]);
    await project.write({ ...Object.fromEntries(checkout), "tmp/.keep": "" });
    projects.push(project);
  }
  const all = projects.map((project, at): Machine => {
    const name = `m${at + 1}`;
    return {
      name,
      path: project.join("checkout"),
      start(words, env) {
        const share = [`--share=${redis.url}`, `--share-id=${id}`, `--share-name=${name}`];
        const child = startRt({
          args: ["run", ...share, "--filter", "*", ...words, "t"],
          cwd: project.join("checkout"),
          env: {
            ...variablesFor(served),
            // The path is part of the dependencies, so it must be equal although each machine has its own cache.
            XDG_CACHE_HOME: "/proc/self/cwd/.cache",
            // The runner of the tests sets another, which contains the checkouts.
            TMPDIR: project.join("tmp"),
            RAN: folder.join("ran.txt"),
            GATES: folder.join("gates"),
            ...env,
          },
        });
        return watch(child);
      },
    };
  });
  return {
    redis,
    served,
    all,
    folder,
    id,
    async ran() {
      return (await Bun.file(folder.join("ran.txt")).text()).split("\n").filter(Boolean);
    },
    async open(gate, pid) {
      await folder.write({ [`gates/${gate}${pid === undefined ? "" : `.${pid}`}`]: "" });
    },
    async reached(gate, wanted = 1) {
      const path = folder.join(`gates/${gate}.reached`);
      const read = async () =>
        (existsSync(path) ? await readFile(path, "utf8") : "").split("\n").slice(0, -1);
      await waitUntil(async () => (await read()).length >= wanted);
      return (await read()).map(Number);
    },
    async [Symbol.asyncDispose]() {
      for (const each of [...projects, folder]) await each[Symbol.asyncDispose]();
      await served[Symbol.asyncDispose]();
      await redis[Symbol.asyncDispose]();
    },
  };
}

function watch(child: ReturnType<typeof startRt>): RunningMachine {
  const written = { stdout: "", stderr: "" };
  let isOver = false;
  const read = async (name: keyof typeof written) => {
    for await (const chunk of child[name]) written[name] += new TextDecoder().decode(chunk);
  };
  const result = (async () => {
    await Promise.all([read("stdout"), read("stderr"), child.exited]);
    isOver = true;
    return { ...written, status: child.signalCode ?? child.exitCode ?? 1 };
  })();
  const has = (text: string) => written.stdout.includes(text) || written.stderr.includes(text);
  return {
    result,
    kill: (signal) => child.kill(signal),
    async waitForOutput(text) {
      await waitUntil(() => has(text) || isOver);
      if (!has(text)) throw new Error(written.stderr);
    },
  };
}
