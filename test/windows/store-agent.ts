// The stores of the Windows binary for a test on another system: requests and answers are lines of JSON. Run by rt.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { secrets } from "rt";
import { raw } from "./raw-credentials.ts";

type Methods = Record<string, (...args: unknown[]) => Promise<unknown>>;
const stores = { rt: secrets, bun: Bun.secrets, raw } as unknown as Record<string, Methods>;

// Wine has a pipe that can be read as a file, and not as a stream.
const input = createReadStream("", { fd: 0 });
for await (const line of createInterface({ input })) {
  const { id, store, method, args } = JSON.parse(line);
  const answer = (outcome: object) => process.stdout.write(`${JSON.stringify({ id, ...outcome })}\n`);
  stores[store]![method]!(...args).then(
    (value) => answer({ value: value ?? null, isVoid: value === undefined }),
    ({ name, code, message, cause }) => answer({ error: { name, code, message, cause } }),
  );
}
