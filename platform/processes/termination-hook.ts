// Runs a cleanup before a signal from outside, such as Ctrl-C, ends this process.
import { host } from "./process.ts";

const ENDING = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/** Calls `act`, then ends by the same signal. Returns a function that removes the hook. Signals that rt ignores stay ignored. */
export function onTermination(act: () => void): () => void {
  const stop = () => removers.forEach((remove) => remove());
  const removers = host.handledSignals(ENDING).map((signal) => {
    const hear = () => {
      act();
      stop();
      process.kill(process.pid, signal);
    };
    process.on(signal, hear);
    return () => void process.off(signal, hear);
  });
  return stop;
}
