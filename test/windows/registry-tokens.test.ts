// Tests registry tokens from the Credential Manager: only the engine reads them, from a pipe.
//
// Non-obvious: under Wine the engine cannot install or publish, but it can query a registry.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { PREPARATION_TIMEOUT } from "../support/programs/compiled.ts";
import { readLines, resultOf } from "../support/output.ts";
import { waitUntil } from "../support/processes.ts";
import { createProject, type Project } from "../support/project.ts";
import {
  canRunWindows,
  isWine,
  openWindows,
  type Windows,
  WITHOUT_PIPE_SIZES,
} from "../support/programs/windows.ts";

const TOKEN = "npm-5b0e7720c1";

interface RegistryRequest {
  readonly request: string;
  readonly credentials: string | null;
}

describe.skipIf(!canRunWindows)("tokens of registries on Windows", () => {
  let windows: Windows;
  let project: Project;
  const requests: RegistryRequest[] = [];
  /** Command lines and variables of all processes during a request. */
  let processes: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname } = new URL(request.url);
      requests.push({
        request: `${request.method} ${pathname}`,
        credentials: request.headers.get("authorization"),
      });
      if (isWine) processes = readProcesses();
      return Response.json({ username: "alice" }, { status: pathname === "/-/whoami" ? 200 : 404 });
    },
  });
  beforeAll(async () => {
    const rtfig = `[secrets.NPM_TOKEN]\nfrom = "acme/npm"\n[install.registry]\nurl = "${server.url}"\ntoken = "$NPM_TOKEN"\n`;
    [windows, project] = await Promise.all([
      openWindows(),
      createProject({ "package.json": { name: "shop", version: "1.0.0" }, "rtfig.toml": rtfig }),
    ]);
    await windows.run({ args: ["secrets", "set", "acme", "npm"], input: TOKEN });
  }, PREPARATION_TIMEOUT);
  afterAll(async () => {
    await windows?.[Symbol.asyncDispose]();
    await project?.[Symbol.asyncDispose]();
    await server.stop(true);
  });

  const run = async (args: string[], env: Record<string, string> = {}) => {
    requests.length = 0;
    return await windows.run({ args, cwd: project.path, env });
  };
  const trusted = async () => {
    const { stderr } = await run(["pm", "whoami"]);
    return { RT_TRUST: /RT_TRUST=(\S+)/.exec(stderr)?.[1] ?? "none" };
  };
  const bearer = { credentials: `Bearer ${TOKEN}` };

  test("reach the registry after consent, and appear in no command line, variable or file", async () => {
    const refused = await run(["pm", "whoami"]);
    expect(refused.stderr).toContain("is not allowed to read these secrets");
    expect(requests).toEqual([]);
    const allowed = await trusted();
    const result = await run(["pm", "whoami"], allowed);
    expect(result).toEqual({ stdout: "alice\n", stderr: "", status: 0 });
    expect(requests).toEqual([{ request: "GET /-/whoami", ...bearer }]);
    if (isWine) {
      const engine = processes.filter((text) => text.includes("whoami"));
      expect(engine.join("\n")).toContain("--config=/??/PIPE/rt-");
    }
    expect(processes.filter((text) => text.includes(TOKEN))).toEqual([]);
    const unknown = await run(["info", "nothing"], allowed);
    expect(requests).toEqual([{ request: "GET /nothing", ...bearer }]);
    expect(unknown.status).toBe(1);
    expect(unknown.stdout + unknown.stderr).not.toContain(TOKEN);
    const files = readdirSync(project.path, { recursive: true, withFileTypes: true });
    for (const file of files.filter((each) => each.isFile()))
      expect(readFileSync(`${file.parentPath}/${file.name}`, "utf8")).not.toContain(TOKEN);
  });

  test("reach the engine completely in a configuration larger than a pipe's buffer", async () => {
    const rtfig = await Bun.file(project.join("rtfig.toml")).text();
    const scopes = Array.from({ length: 1000 }, (_, at) => `"@scope-${at}" = "https://${at}.example/"\n`);
    await project.write({ "rtfig.toml": `${rtfig}[install.scopes]\n${scopes.join("")}` });
    expect(await run(["pm", "whoami"], await trusted())).toMatchObject({ stdout: "alice\n", status: 0 });
    expect(requests).toEqual([{ request: "GET /-/whoami", ...bearer }]);
    await project.write({ "rtfig.toml": rtfig });
  });

  test("never block rt when the engine ends before it has read them", async () => {
    const early = await run(["publish", "--no-such-option-of-it"], await trusted());
    expect([early.status, requests]).toEqual([1, []]);
    expect(early.stdout + early.stderr).not.toContain(TOKEN);
  });

  test("remain redacted next to a secret of the tool itself", async () => {
    const given = ["--secret", "OTHER=acme/npm", "pm", "whoami"];
    expect(await run(given, await trusted())).toMatchObject({ stdout: "alice\n", status: 0 });
    expect(requests).toEqual([{ request: "GET /-/whoami", ...bearer }]);
  });

  test.skipIf(!isWine)(
    "reach the engine alone: another process that opens the pipe reads nothing and consumes nothing",
    async () => {
      const allowed = await trusted();
      /** Stops an engine, and opens its pipe. */
      const openFirst = async () => {
        requests.length = 0;
        const child = windows.start({ args: ["pm", "whoami"], cwd: project.path, env: allowed });
        let engine: { pid: number; pipe: string } | undefined;
        await waitUntil(() => (engine = findEngine(project.path)) !== undefined);
        process.kill(engine!.pid, "SIGSTOP");
        const code = `const { openSync, readSync } = require("node:fs");
        let pipe;
        try { pipe = openSync(${JSON.stringify(engine!.pipe)}, "r"); }
        catch (error) { console.log("cannot open it:", error.code); process.exit(1); }
        console.log("has opened it");
        const bytes = Buffer.alloc(4096);
        try { console.log("read", bytes.toString("utf8", 0, readSync(pipe, bytes))); }
        catch (error) { console.log("shut out by", error.code); }`;
        const other = windows.start({ args: ["-e", code], cwd: project.path });
        const output = readLines(other.stdout);
        return { child, engine, output, first: (await output.next()).value as string };
      };
      let opened = await openFirst();
      // The engine usually loads its modules when it is stopped. On a busy machine it may have read the pipe before.
      while (opened.first.startsWith("cannot open it")) {
        process.kill(opened.engine!.pid, "SIGCONT");
        expect(await resultOf(opened.child)).toMatchObject({ status: 0 });
        opened = await openFirst();
      }
      const { child, engine, output, first } = opened;
      expect(first).toBe("has opened it");
      process.kill(engine!.pid, "SIGCONT");
      const { value } = await output.next();
      expect(value).toMatch(/^shut out by E\w+$/);
      expect(await resultOf(child)).toMatchObject({ status: 0 });
      expect(requests).toEqual([{ request: "GET /-/whoami", ...bearer }]);
    },
  );

  test.skipIf(!isWine)("come from the environment only when pipes have no size, with a warning", async () => {
    const trust = await trusted();
    const { stderr } = await run(["pm", "whoami"], { ...WITHOUT_PIPE_SIZES, ...trust });
    expect(stderr).toContain(
      "warning: NPM_TOKEN: on this system, rt pm reads them from the environment only",
    );
    expect(requests.map(({ credentials }) => credentials)).not.toContain(bearer.credentials);
    const env = { ...WITHOUT_PIPE_SIZES, ...trust, NPM_TOKEN: "from-ci" };
    expect(await run(["pm", "whoami"], env)).toEqual({ stdout: "alice\n", stderr: "", status: 0 });
    expect(requests).toEqual([{ request: "GET /-/whoami", credentials: "Bearer from-ci" }]);
  });
});

function findEngine(directory: string): { pid: number; pipe: string } | undefined {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    if (directoryOf(pid) !== directory) continue;
    const [, name] = /--config=\/\?\?\/PIPE\/(rt-[\w-]+)/.exec(readProcess(pid)) ?? [];
    if (name !== undefined) return { pid: Number(pid), pipe: `\\\\.\\pipe\\${name}` };
  }
  return undefined;
}

function directoryOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined; // the process has ended
  }
}

function readProcess(pid: string): string {
  try {
    return ["cmdline", "environ"].map((name) => readFileSync(`/proc/${pid}/${name}`, "utf8")).join();
  } catch {
    return ""; // the process has ended
  }
}

function readProcesses(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(readProcess);
}
