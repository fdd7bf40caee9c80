// The engine's tools that ask registries, or send to them.

const WITH_CREDENTIALS = " install i add a update outdated audit publish info pm ";
/** They ask registries now and then, with the credentials that the engine finds by itself. */
const OTHERS = " remove rm dedupe prune link unlink patch why init create x ";

/** Whether rt gives it credentials from [secrets]. */
export function takesCredentials(tool: string): boolean {
  return WITH_CREDENTIALS.includes(` ${tool} `);
}

export function asksRegistries(tool: string): boolean {
  return takesCredentials(tool) || OTHERS.includes(` ${tool} `);
}
