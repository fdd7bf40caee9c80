// What is said on stderr of where a debugger can connect, or why none can.
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
    lines.push(`warning: whoever reaches ${hostnames[0]} can run code as you`);
  console.error(lines.join("\n"));
}

/** @param error the system's */
export function explainFailure({ hostnames, port }: InspectAddress, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const place = `${bracket(hostnames[0]!)}:${port}`;
  const failure = code === "EADDRINUSE" ? "the address is in use" : message;
  return `error: Cannot debug at ${place}: ${failure}\nhint: choose another port, as in --inspect=0 for any`;
}
