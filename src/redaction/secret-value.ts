/** A value that a script gets in its environment, and the name that is shown in its place. */
export interface SecretValue {
  /** The variable's name. */
  readonly name: string;
  /** UTF-8. Whoever made it zeroes it when the script has ended or has been started. */
  readonly value: Uint8Array;
  /** False where `redact = false` or --no-redact says that it may be shown. */
  readonly isRedacted: boolean;
}
