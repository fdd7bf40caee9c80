// What one rt tells the next through the environment. The user's code does not see it in process.env. The engine has a map
// of its own, though, which Bun.spawn() without `env` hands on: RT_BECAME arrives there and says nothing to the child,
// which has another process id.

/** That another rt stays with it: see watch/engine-watch.ts. */
export const SUPERVISED = "RT_SUPERVISED";

/**
 * That we have been here: the process id outlives becoming the engine. An emulator such as qemu-user gives each variable
 * one value, and with it the engine's switch is lost; without this rt would become itself for ever.
 */
export const REPLACED_PID_VARIABLE = "RT_BECAME";
