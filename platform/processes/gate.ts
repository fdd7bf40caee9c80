// Opens the gate: the program that registers a child with the watchdog before the child's own program begins. Linux has one.

/** Its path, for this process and its children. Undefined where the system has none, or starts no program from memory. */
export function openGate(): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const { openProgram } =
      require("../native/linux/memory-program.ts") as typeof import("../native/linux/memory-program.ts");
    return openProgram("gate");
  } catch {
    return undefined;
  }
}
