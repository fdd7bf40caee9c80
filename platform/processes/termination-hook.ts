// What has to be done before this process is ended from outside, as by Ctrl-C: something that it has made is not to stay.
import { host } from "./process.ts";

const ENDING = ["SIGHUP", "SIGINT", "SIGTERM"] as const;

/** Calls `act` and then ends by the same signal. Gives what ends the listening. A signal that rt ignores stays ignored. */
export function onTermination(act: () => void): () => void {
  const stop = () => removers.forEach((remove) => remove());
  const removers = host.heeded(ENDING).map((signal) => {
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
