// A project with a shared cache over the Remote Execution API, and its outcome without a local cache.
import { expect } from "bun:test";
import { readdir, readlink, rm, stat } from "node:fs/promises";
import { type Faults, openReapiServer, type ReapiServer } from "../../support/servers/reapi-server.ts";
import { type CachedProject, cachedProject, forget } from "../cached-project.ts";
import { KEY } from "../server/served-cache.ts";

export const BUILD =
  "mkdir -p dist/empty; cp page dist/page; cp page dist/tool; : > dist/none; ln -sf page dist/link; chmod 755 dist/tool; echo built; echo err >&2";
export const ENV = { TURBO_REMOTE_CACHE_SIGNATURE_KEY: KEY };
export interface Opened extends AsyncDisposable {
  readonly server: ReapiServer;
  readonly project: CachedProject;
  /** Runs without local cache and outputs. */
  runFresh(env?: Record<string, string | undefined>): Promise<{ isHit: boolean; warnings: string[] }>;
}

export async function openShared(faults: Faults = {}, lines = ""): Promise<Opened> {
  const server = await openReapiServer(faults);
  const config = `build = true\n[cache.remote]\nurl = "${server.url}"\n${lines}`;
  const project = await cachedProject({ build: BUILD }, { page: "hello" }, config);
  return {
    server,
    project,
    async runFresh(env = ENV) {
      await forget(project);
      await rm(project.join("dist"), { recursive: true, force: true });
      const { stderr, stdout, status } = await project.rt(["run", "build"], env);
      expect({ stdout, status }).toEqual({ stdout: "built\n", status: 0 });
      expect(stderr).toContain("\nerr\n");
      const page = project.join("dist/page");
      expect([await Bun.file(page).text(), await readlink(project.join("dist/link"))]).toEqual([
        "hello",
        "page",
      ]);
      expect((await stat(project.join("dist/tool"))).mode & 0o777).toBe(0o755);
      expect((await readdir(project.join("dist"))).toSorted()).toEqual([
        "empty",
        "link",
        "none",
        "page",
        "tool",
      ]);
      const lines = stderr.trimEnd().split("\n");
      return {
        isHit: lines.at(-1)!.startsWith("Cached (saved "),
        warnings: lines.filter((line) => /^warn/.test(line)),
      };
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

export const RAN = { isHit: false, warnings: [] };
export const HIT = { isHit: true, warnings: [] };
export const warned = (line: string) => ({ isHit: false, warnings: [`warning: ${line}`] });

export function callsOf(server: ReapiServer, name?: string): string[] {
  const calls = server.calls.filter((each) => name === undefined || each === name);
  return name === undefined ? server.calls.splice(0) : calls;
}
