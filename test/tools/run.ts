// `npm run tools`: every project of projects.ts with the newest packages of its tool, installed where nothing else is, and
// the table of docs/tools.md made of the result. Before a release, since it needs the network and some minutes.
//
//   npm run tools -- next vite     those only whose names have one of the words; the other rows stay as they are
import { join } from "node:path";
import { format, renderTable } from "../../build/docs/page.ts";
import { createProject } from "../support/project.ts";
import { REPOSITORY, runRt } from "../support/rt.ts";
import { PROJECTS, SAID, type ToolProject } from "./projects.ts";
import { visit } from "./server.ts";

const ENVIRONMENT = { NEXT_TELEMETRY_DISABLED: "1", CI: "true" };

interface Trial {
  /** What went wrong, if anything. */
  readonly failure?: string;
  readonly version: string;
}

async function tryTool({ files, packages, steps, server }: ToolProject): Promise<Trial> {
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
    const { stdout, stderr, status } = await runRt({ args, cwd: project.path, env: ENVIRONMENT });
    if (status !== 0) return { failure: `${args.join(" ")}: ${stdout}${stderr}`, version };
    output = stdout;
  }
  if (server) {
    const { page, hasEnded } = await visit(server, project.path, ENVIRONMENT);
    if (!hasEnded) return { failure: `${server.join(" ")} left processes behind`, version };
    output = page;
  }
  return output.includes(SAID) ? { version } : { failure: output, version };
}

/** The one of the page that is made here. */
const TABLE = /\| Tool [\s\S]*?(?=\n\n|$)/;
const PAGE = join(REPOSITORY, "docs/tools.md");

/** The cells of the table as it is, by the tool's name. */
function readRows(page: string): Map<string, readonly string[]> {
  const lines = TABLE.exec(page)![0].split("\n").slice(2);
  const rows = lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return new Map(rows.map((row) => [row[0]!, row]));
}

const words = process.argv.slice(2).map((word) => word.toLowerCase());
const isChosen = ({ tool }: ToolProject) =>
  words.length === 0 || words.some((word) => tool.toLowerCase().includes(word));

const rows = readRows(await Bun.file(PAGE).text());
let hasFailed = false;
for (const project of PROJECTS.filter(isChosen)) {
  const { failure, version } = await tryTool(project);
  const isExpected = project.fails === undefined ? failure === undefined : failure?.includes(project.fails);
  console.log(`${isExpected ? "ok" : "not ok"} ${project.tool} ${version}`);
  if (!isExpected) console.error(failure ?? `works now, and should say: ${project.fails}`);
  hasFailed ||= !isExpected;
  rows.set(project.tool, [project.tool, version, project.needs, failure === undefined ? "works" : "fails"]);
}
const known = PROJECTS.flatMap(({ tool }) => (rows.has(tool) ? [rows.get(tool)!] : []));
const table = renderTable(["Tool", "Tried with", "Needs", "Result"], known);
const page = (await Bun.file(PAGE).text()).replace(TABLE, () => table);
await Bun.write(PAGE, format(page, PAGE));
process.exit(hasFailed ? 1 : 0);
