// Prints the debugger's addresses on standard error, and formats the error if it cannot listen.
import { type InspectAddress, bracket } from "./address.ts";

export function announce(
  { hostnames }: InspectAddress,
  { chrome, webkit }: { readonly chrome: string; readonly webkit: string },
): void {
  const lines = [
    `Debugger listening on ${chrome}`,
    `For Web Inspector: ${webkit} or https://debug.bun.sh/#${webkit.slice("ws://".length)}`,
  ];
  if (!hostnames.every((name) => /^(?:127\.|::1$|localhost$)/.test(name)))
    lines.push(`warning: anyone who can reach ${hostnames[0]} can run code as you`);
  console.error(lines.join("\n"));
}

/** @param error the system's error */
export function explainFailure({ hostnames, port }: InspectAddress, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const address = `${bracket(hostnames[0]!)}:${port}`;
  const failure = code === "EADDRINUSE" ? "the address is in use" : message;
  return `error: Cannot debug at ${address}: ${failure}\nhint: use another port, for example --inspect=0 for any free one`;
}
