// Creates the exports of the module "rt": every member of the `rt` object.
//
// Non-obvious:
// - Some members of the engine take up to 5 ms to create, but exports must exist at import. These are lazy proxies.
import type { Rt } from "../rt.ts";
import { lazyProxy } from "./lazy-proxy.ts";

/** Members that take more than 30 µs at first access, with their `typeof`. */
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

export function moduleExports(rt: Rt): Record<string, unknown> {
  const source = rt as unknown as Record<string, object>;
  const exports: Record<string, unknown> = { default: rt };
  for (const name of Object.keys(Bun)) {
    const kind = COSTLY[name];
    exports[name] = kind ? lazyProxy(kind, () => source[name]!) : source[name];
  }
  return exports;
}
