// The `rt` object: everything the engine's own namespace has, with `secrets` and `CSRF` ours.
//
// Contract (specification, "Endpoints"): reachable as `rt` and as named exports of the module "rt" (module-exports.ts).
//
// Surprising: making the object loads nothing. The methods of `secrets` and `CSRF` load their code when one is
// first called.
import type { CSRF } from "../csrf/csrf.ts";
import type { Secrets } from "../secrets/secrets.ts";
import type { Parts } from "./parts.ts";

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
