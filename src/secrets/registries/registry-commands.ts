// Lists the engine's package commands that connect to registries.

const WITH_CREDENTIALS = " install i add a update outdated audit publish info pm ";
/** Commands that connect to registries in some cases, with the credentials that the engine finds itself. */
const OTHERS = " remove rm dedupe prune link unlink patch why init create x ";

/** Returns whether rt passes credentials of [secrets] to the command. */
export function takesCredentials(tool: string): boolean {
  return WITH_CREDENTIALS.includes(` ${tool} `);
}

/** Returns whether the command itself runs a program that the user names, which inherits the environment. */
export function runsProgram(tool: string): boolean {
  return tool === "x" || tool === "create";
}

export function contactsRegistries(tool: string): boolean {
  return takesCredentials(tool) || OTHERS.includes(` ${tool} `);
}
