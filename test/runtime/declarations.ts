// The declarations of `rt types` and the implementation are assignable to each other. Only the type checker of `npm
// test` reads this.
import type {
  CSRF as DeclaredCSRF,
  CSRFGenerateOptions,
  CSRFVerifyOptions,
  Secrets,
  SecretsOptions,
  SecretsSetOptions,
} from "rt";
import type * as csrf from "../../src/csrf/csrf.ts";
import type * as secrets from "../../src/secrets/api/secrets.ts";

type Agrees<Declared, Implemented> = [Declared] extends [Implemented]
  ? [Implemented] extends [Declared]
    ? true
    : never
  : never;

export const agreement: [
  Agrees<Secrets, secrets.Secrets>,
  Agrees<SecretsOptions, secrets.SecretsOptions>,
  Agrees<SecretsSetOptions, secrets.SecretsSetOptions>,
  Agrees<keyof SecretsSetOptions, keyof secrets.SecretsSetOptions>,
  Agrees<DeclaredCSRF, typeof csrf.CSRF>,
  Agrees<CSRFGenerateOptions, csrf.CSRFGenerateOptions>,
  Agrees<CSRFVerifyOptions, csrf.CSRFVerifyOptions>,
  Agrees<keyof Secrets, keyof secrets.Secrets>,
  Agrees<keyof SecretsOptions, keyof secrets.SecretsOptions>,
  Agrees<keyof CSRFGenerateOptions, keyof csrf.CSRFGenerateOptions>,
  Agrees<keyof CSRFVerifyOptions, keyof csrf.CSRFVerifyOptions>,
] = [true, true, true, true, true, true, true, true, true, true, true];
