// `npm run tools`: every project of projects.ts with the newest packages of its tool, installed where nothing else is, and
// the table of docs/tools.md made of the result. Before a release, since it needs the network and some minutes.
import { join } from "node:path";
import { format, renderTable } from "../../build/docs/page.ts";
import { createProject } from "../support/project.ts";
import { REPOSITORY, runRt } from "../support/rt.ts";
import { PROJECTS, SAID, type ToolProject } from "./projects.ts";

/** What went wrong, or nothing. */
async function tryTool({
  files,
  packages,
  steps,
}: ToolProject): Promise<{ failure?: string; version: string }> {
  await using project = await createProject(files);
  const install = ["npm", "install", "--no-audit", "--no-fund", "--legacy-peer-deps", ...packages];
  const installed = Bun.spawnSync(install, { cwd: project.path, stdout: "ignore", stderr: "pipe" });
  if (installed.exitCode !== 0) return { failure: `${installed.stderr}`, version: "" };
  const name = packages[0]!.replace(/(?<=.)@.*/, "");
  const { version } = (await Bun.file(project.join("node_modules", name, "package.json")).json()) as {
    version: string;
  };
  let output = "";
  for (const args of steps) {
    const { stdout, stderr, status } = await runRt({
      args,
      cwd: project.path,
      env: { NEXT_TELEMETRY_DISABLED: "1" },
    });
    if (status !== 0) return { failure: `${args.join(" ")}: ${stdout}${stderr}`, version };
    output = stdout;
  }
  return output.includes(SAID) ? { version } : { failure: output, version };
}

/** The one of the page that is made here. */
const TABLE = /\| Tool [\s\S]*?(?=\n\n|$)/;
const PAGE = join(REPOSITORY, "docs/tools.md");

const rows: string[][] = [];
let hasFailed = false;
for (const project of PROJECTS) {
  const { failure, version } = await tryTool(project);
  console.log(`${failure === undefined ? "ok" : "not ok"} ${project.tool} ${version}`);
  if (failure !== undefined) console.error(failure);
  hasFailed ||= failure !== undefined;
  rows.push([project.tool, version, project.needs, failure === undefined ? "works" : "fails"]);
}
const page = await Bun.file(PAGE).text();
const table = renderTable(["Tool", "Tried with", "Needs", "Result"], rows);
await Bun.write(
  PAGE,
  format(
    page.replace(TABLE, () => table),
    PAGE,
  ),
);
process.exit(hasFailed ? 1 : 0);
