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
    /** Aborts the call, which rejects with the signal's reason. */
    signal?: AbortSignal;
    /** Milliseconds for the whole operation, including the time until the user confirms a dialog. */
    timeout?: number;
  }

  export interface SecretsSetOptions extends SecretsOptions {
    /** Windows: "enterprise" includes the credential in the roaming profile, "local" does not. @default "enterprise" */
    persist?: "local" | "enterprise";
  }

  /** New and experimental: the interface may change. @experimental */
  export interface Secrets {
    /** Returns the stored value, or null if the credential does not exist. */
    get(options: SecretsOptions): Promise<string | null>;
    get(service: string, name: string): Promise<string | null>;
    /** Stores a value, which may be empty, and replaces the previous one. */
    set(options: SecretsSetOptions, value: string): Promise<void>;
    set(options: SecretsSetOptions & { value: string }): Promise<void>;
    set(service: string, name: string, value: string): Promise<void>;
    /** Returns true if a credential was deleted, false if it did not exist. */
    delete(options: SecretsOptions & { value?: string }): Promise<boolean>;
    delete(service: string, name: string): Promise<boolean>;
  }

  type SHA2 = "sha256" | "sha384" | "sha512" | "sha512-256";
  type BLAKE2 = "blake2b256" | "blake2b512";
  export type CSRFAlgorithm = SHA2 | BLAKE2;

  export interface CSRFGenerateOptions {
    /** Milliseconds until the token expires. 0: it has no limit, but `maxAge` of verify() applies. @default 86400000 */
    expiresIn?: number;
    /** @default "base64url" */
    encoding?: "base64" | "base64url" | "hex";
    /** @default "sha256" */
    algorithm?: CSRFAlgorithm;
    /** Session or user ID that the token is bound to. Without it, the token is valid for every visitor. */
    sessionId?: string;
  }

  export interface CSRFVerifyOptions {
    /** The secret used by generate(), or several during a rotation; by default the thread's random secret. */
    secret?: string | readonly string[];
    /** Maximum age in milliseconds, regardless of the token's `expiresIn`. 0: no limit. @default 86400000 */
    maxAge?: number;
    /** @default "base64url" */
    encoding?: "base64" | "base64url" | "hex";
    /** @default "sha256" */
    algorithm?: CSRFAlgorithm;
    /** Session or user ID that the token must be bound to. Without it, the token must be unbound. */
    sessionId?: string;
  }

  export interface CSRF {
    /** Returns a token with a nonce, a timestamp and an HMAC signature. */
    generate(secret?: string, options?: CSRFGenerateOptions): string;
    /** Returns true if the token is valid and has not expired; never throws for an invalid token. */
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
