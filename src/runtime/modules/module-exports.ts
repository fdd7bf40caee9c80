// The exports of the module "rt": everything that the object has.
//
// Surprising: some members of the engine take up to five milliseconds to make, and exports must exist when the module is
// imported, so for these there are stand-ins that make the real one at first use.
import type { Rt } from "../rt.ts";
import { lazyProxy } from "./lazy-proxy.ts";

/** Members that cost more than 30 microseconds when they are first touched, and what `typeof` says of them. */
const COSTLY: Readonly<Record<string, "function" | "object" | undefined>> = {
  sql: "function",
  SQL: "function",
  postgres: "function",
  $: "function",
  RedisClient: "function",
  redis: "object",
  WebView: "function",
  Image: "function",
  S3Client: "function",
  s3: "object",
};

/** What `import ... from "rt"` can name. */
export function moduleExports(rt: Rt): Record<string, unknown> {
  const source = rt as unknown as Record<string, object>;
  const exports: Record<string, unknown> = { default: rt };
  for (const name of Object.keys(Bun)) {
    const kind = COSTLY[name];
    exports[name] = kind ? lazyProxy(kind, () => source[name]!) : source[name];
  }
  return exports;
}
