// Environment variables that one rt process passes to the next. User code does not see them in process.env.
//
// Non-obvious: the engine's own environment map, which Bun.spawn() without `env` passes on, still has RT_BECAME.
// The child ignores it, because its process id differs.

/** Set if another rt process supervises this one (watch/engine-watch.ts). */
export const SUPERVISED = "RT_SUPERVISED";

/**
 * That we have been here: the process id outlives becoming the engine. An emulator such as qemu-user gives each variable
 * one value, and with it the engine's switch is lost; without this rt would become itself for ever.
 */
export const REPLACED_PID_VARIABLE = "RT_BECAME";
