// The worker of default-secret.test.ts: verifies the main thread's token and returns the result with a token of this thread.
import { CSRF } from "../../src/csrf/csrf.ts";

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<string>) => {
  const token = CSRF.generate(undefined, { sessionId: "alice" });
  self.postMessage({
    token,
    ownIsValid: CSRF.verify(token, { sessionId: "alice" }),
    yoursIsValid: CSRF.verify(data, { sessionId: "alice" }),
  });
};
