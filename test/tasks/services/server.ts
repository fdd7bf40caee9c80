// A project with small servers as services, which log their starts and ends.
import { createProject, type Files, type Project } from "../../support/project.ts";
import { createMark } from "../../support/processes.ts";
import { RT, runRt } from "../../support/rt.ts";

/** `server.js NAME`: listens on a free port, writes it to NAME.port, and logs its start and end. */
const SERVER = `
import { appendFileSync, writeFileSync } from "node:fs";
const name = process.argv[2];
const log = (text) => appendFileSync("log", name + " " + text + "\\n");
process.on("SIGTERM", () => { log("ended"); process.exit(0); });
process.on("SIGINT", () => { log("interrupted"); process.exit(0); });
const server = Bun.serve({ port: 0, fetch: () => new Response(name) });
log("started");
writeFileSync(name + ".pid", String(process.pid));
writeFileSync(name + ".port", String(server.port));
console.log("listening");
`;

/** The command of a server with this name. */
export const serve = (name: string) => `exec ${RT} server.js ${name}`;
/** Prints the answer of a server, or fails. */
export const ask = (name: string) => `curl -sfw '\\n' localhost:$(cat ${name}.port)`;

export interface Scripts {
  readonly [name: string]: string;
}

export async function createServices(scripts: Scripts, config: string, files: Files = {}): Promise<Project> {
  return await createProject({
    "package.json": JSON.stringify({ name: "app", scripts }),
    "rtfig.toml": config,
    "server.js": SERVER,
    ...files,
  });
}

/** Runs tasks, and finds the processes that are left behind. */
export async function runServices(project: Project, ...args: readonly string[]) {
  const mark = createMark();
  const result = await runRt({ args: ["run", ...args], cwd: project.path, env: mark.env });
  const left = mark.find();
  mark.kill();
  return { ...result, lines: result.stdout.split("\n").filter((line) => line !== ""), left };
}

export async function logOf(project: Project): Promise<string[]> {
  return (await Bun.file(project.join("log")).text()).trim().split("\n");
}
