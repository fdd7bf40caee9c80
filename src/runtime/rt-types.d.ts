// Types of `rt`, for projects that run with it. Printed by `rt types`; needs the package "bun-types".
/// <reference types="bun-types" />

declare module "rt" {
  export * from "bun";

  /** One credential of the operating system's store. */
  export interface SecretsOptions {
    /** Service or application, 1 to 255 characters; reverse-domain style is recommended. */
    service: string;
    /** Account, 1 to 255 characters. */
    name: string;
    /** Gives up waiting; the call rejects with the signal's reason. */
    signal?: AbortSignal;
    /** Milliseconds for the whole operation, time for a person to answer a dialog included. */
    timeout?: number;
  }

  export interface SecretsSetOptions extends SecretsOptions {
    /** Windows: "local" keeps the credential on this computer where the account roams. @default "enterprise" */
    persist?: "local" | "enterprise";
  }

  /** New and experimental: the interface may change. @experimental */
  export interface Secrets {
    /** The stored value, or null when there is none. */
    get(options: SecretsOptions): Promise<string | null>;
    get(service: string, name: string): Promise<string | null>;
    /** Stores a value in place of the one before. */
    set(options: SecretsSetOptions, value: string): Promise<void>;
    set(options: SecretsSetOptions & { value: string }): Promise<void>;
    set(service: string, name: string, value: string): Promise<void>;
    /** True when a credential was deleted, false when there was none. */
    delete(options: SecretsOptions & { value?: string }): Promise<boolean>;
    delete(service: string, name: string): Promise<boolean>;
  }

  type SHA2 = "sha256" | "sha384" | "sha512" | "sha512-256";
  type BLAKE2 = "blake2b256" | "blake2b512";
  export type CSRFAlgorithm = SHA2 | BLAKE2;

  export interface CSRFGenerateOptions {
    /** Milliseconds until the token expires. @default 86400000 */
    expiresIn?: number;
    /** @default "base64url" */
    encoding?: "base64" | "base64url" | "hex";
    /** @default "sha256" */
    algorithm?: CSRFAlgorithm;
    /** Binds the token to the requesting principal. */
    sessionId?: string;
  }

  export interface CSRFVerifyOptions {
    /** The secret of generation, or several during a rotation; this thread's own by default. */
    secret?: string | readonly string[];
    /** Greatest age in milliseconds, whatever the token's own `expiresIn`. @default 86400000 */
    maxAge?: number;
    /** @default "base64url" */
    encoding?: "base64" | "base64url" | "hex";
    /** @default "sha256" */
    algorithm?: CSRFAlgorithm;
    /** The principal of generation. */
    sessionId?: string;
  }

  export interface CSRF {
    /** A token with a nonce, a timestamp and an HMAC signature. */
    generate(secret?: string, options?: CSRFGenerateOptions): string;
    /** Whether a token is valid and unexpired; never throws for a bad token. */
    verify(token: string, options?: CSRFVerifyOptions): boolean;
  }

  /** New and experimental: the interface may change. @experimental */
  export const secrets: Secrets;
  export const CSRF: CSRF;

  const rt: Omit<typeof import("bun"), "secrets" | "CSRF"> & {
    /** New and experimental: the interface may change. @experimental */
    readonly secrets: Secrets;
    readonly CSRF: CSRF;
  };
  export default rt;
}

// eslint-disable-next-line no-var -- only a var is a property of globalThis
declare var rt: (typeof import("rt"))["default"];
