// Installs the tool of a project of projects.ts, runs its steps under rt, and checks the output of the last step or the server's page.
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { installTool, type Workshop } from "./installation.ts";
import { SAID, type ToolProject } from "./projects.ts";
import { visit } from "./server.ts";

const ENVIRONMENT = { NEXT_TELEMETRY_DISABLED: "1", CI: "true" };

export interface Trial {
  /** The output of a failed step. */
  readonly failure?: string;
  readonly version: string;
}

export async function tryProject(
  { files, packages, steps, server }: ToolProject,
  workshop: Workshop,
): Promise<Trial> {
  await using project = await createProject(files);
  const version = await installTool(project.path, packages, workshop);
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
