// Environment variables that one rt process passes to the next. User code does not see them in process.env.
//
// Non-obvious: the engine's own environment map, which Bun.spawn() without `env` passes on, still has RT_BECAME.
// The child ignores it, because its process id differs.

/** Set if another rt process supervises this one (watch/engine-watch.ts). */
export const SUPERVISED = "RT_SUPERVISED";

/**
 * Set by `rt --watch run` from the second start on, to its process id. Warnings about the configuration were printed already.
 * A process with another parent ignores it.
 */
export const RESTARTED = "RT_RESTARTED";

/**
 * The process id of an rt that has become the engine, which keeps the id. An emulator such as qemu-user passes each variable once, and
 * so loses the engine's switch. Without this variable rt would start itself without end.
 */
export const REPLACED_PID_VARIABLE = "RT_BECAME";

/** The front sets it after it has started a script with permissions: src/runner/task-run/replayed-permissions.ts. */
export const ADOPTED_VARIABLE = "RT_ADOPTED";
