// The commands that GitHub Actions reads from a log: `::error file=x::text`, `##[group]name`.

const COMMAND = /^(?:::[a-z][\w-]*[ :]|##\[)/;

/** Whether a line is a command for the service rather than text. */
export function isWorkflowCommand(line: Uint8Array): boolean {
  const first = line[0];
  return (
    (first === 0x3a || first === 0x23) &&
    COMMAND.test(Buffer.from(line.buffer, line.byteOffset, Math.min(line.length, 64)).toString("latin1"))
  );
}
