/** A secret in the environment of a script; redaction replaces its value by its name. */
export interface SecretValue {
  readonly name: string;
  /** UTF-8. The creator zeroizes it after the script has ended or has been started. */
  readonly value: Uint8Array;
  /** False with `redact = false` or --no-redact. */
  readonly isRedacted: boolean;
}
