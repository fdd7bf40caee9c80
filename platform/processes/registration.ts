// Opens the registration program, which registers a child with the kill watchdog before the child's own program begins. Linux only.

/** Returns its path; undefined if the system has none, or executes no program from a memfd. */
export function openRegistration(): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const { openProgram } =
      require("../native/linux/memory-program.ts") as typeof import("../native/linux/memory-program.ts");
    return openProgram("registration");
  } catch {
    return undefined;
  }
}
