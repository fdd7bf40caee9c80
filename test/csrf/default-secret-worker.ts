// Started by default-secret.test.ts as a thread: answers a token of the main thread's with what this
// thread makes of it and a token of its own.
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
