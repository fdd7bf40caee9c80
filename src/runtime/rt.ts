// The `rt` object: everything the engine's own namespace has, with `secrets` and `CSRF` ours.
//
// Contract (specification, "Endpoints"): reachable as `rt` and as named exports of the module "rt".
//
// Surprising: making the object loads nothing. The methods of `secrets` and `CSRF` load their code when one is
// first called, and some members of the engine take up to five milliseconds to make, so the module (whose exports
// must exist when it is imported) has stand-ins for those that make the real one at first use.
import type { CSRF } from "../csrf/csrf.ts";
import type { Secrets } from "../secrets/secrets.ts";
import type { Parts } from "./parts.ts";
import { standIn } from "./stand-in.ts";

export interface Rt extends Omit<typeof Bun, "secrets" | "CSRF"> {
  readonly secrets: Secrets;
  readonly CSRF: typeof CSRF;
}

export function createRt({ loadSecrets, loadCSRF }: Parts): Rt {
  // Kept here: asking for a loaded module again takes longer than signing a token.
  let secrets: Promise<Secrets> | undefined;
  let csrf: typeof CSRF | undefined;
  const lateSecrets = {
    get: async (...args: [never]) => (await (secrets ??= loadSecrets())).get(...args),
    set: async (...args: [never]) => (await (secrets ??= loadSecrets())).set(...args),
    delete: async (...args: [never]) => (await (secrets ??= loadSecrets())).delete(...args),
  };
  const lateCSRF: typeof CSRF = {
    generate: (secret, options) => (csrf ??= loadCSRF()).generate(secret, options),
    verify: (token, options) => (csrf ??= loadCSRF()).verify(token, options),
  };
  return { __proto__: Bun, secrets: lateSecrets, CSRF: lateCSRF } as unknown as Rt;
}

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
    exports[name] = kind ? standIn(kind, () => source[name]!) : source[name];
  }
  return exports;
}
