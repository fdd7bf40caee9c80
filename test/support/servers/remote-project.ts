// A project whose scripts run on the fake server of reapi-server.ts.
import { join } from "node:path";
import { createProject, type Files, type Project } from "../project.ts";
import { type Faults, openReapiServer, type ReapiServer } from "./reapi-server.ts";
import { cleanEnvironment, type Environment, runRt } from "../rt.ts";
import { trustAll } from "../trusted.ts";

export const SYSTEM = `${process.platform}-${process.arch}`;

export const config = (url: string, more = "") =>
  `[run.remote]\nurl = "${url}"\nsystem = "${SYSTEM}"\n${more}\n[run.remote.scripts.build]\noutputs = ["dist", "report.txt"]\n`;

export interface RemoteProject extends AsyncDisposable {
  readonly project: Project;
  readonly server: ReapiServer;
  /** A separate cache directory, since a server of another test may have had the same port. */
  readonly cache: string;
  /** The variables that select the cache directory. */
  readonly env: Environment;
  run(args: readonly string[], env?: Environment): ReturnType<typeof runRt>;
}

export async function openProject(files: Files, faults: Faults = {}, folder = "."): Promise<RemoteProject> {
  const server = await openReapiServer(faults);
  const project = await createProject({ ...files, [`${folder}/rtfig.toml`]: config(server.url) });
  await Bun.spawn(["git", "init", "--quiet"], { cwd: project.path, env: cleanEnvironment() }).exited;
  const cache = await createProject();
  const own = { XDG_CACHE_HOME: cache.path };
  return {
    project,
    server,
    cache: cache.path,
    env: own,
    async run(args, env) {
      const cwd = project.join(folder);
      const mayAsk = /\$|env = /.test(await Bun.file(join(cwd, "rtfig.toml")).text());
      return await runRt({ args, cwd, env: { ...own, ...(mayAsk && (await trustAll(cwd))), ...env } });
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
      await cache[Symbol.asyncDispose]();
    },
  };
}

export const count = ({ calls }: ReapiServer, name: string) => calls.filter((each) => each === name).length;
