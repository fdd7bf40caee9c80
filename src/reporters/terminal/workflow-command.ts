// Recognizes and escapes workflow commands of GitHub Actions: `::error file=x::text`, `##[group]name`.
import { oneLine } from "../../printable.ts";

const COMMAND = /^(?:::[a-z][\w-]*[ :]|##\[)/;

export function isWorkflowCommand(line: Uint8Array): boolean {
  const first = line[0];
  return (
    (first === 0x3a || first === 0x23) &&
    COMMAND.test(Buffer.from(line.buffer, line.byteOffset, Math.min(line.length, 64)).toString("latin1"))
  );
}

/** Escapes the text of a command, in which `%0A` means a line break. */
export function commandText(text: string): string {
  return oneLine(text).replaceAll("%", "%25");
}

/** Escapes a property of a command, which a comma or a colon would end. */
export function commandProperty(text: string): string {
  return commandText(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
