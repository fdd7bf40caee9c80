// Reads the code and the message of a caught value, which can be anything that a program throws.

/** Returns Node's code, such as "ENOENT". Undefined if there is none. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the code, which is short enough for the end of a message, or else the whole error as text. */
export function errorReason(error: unknown): string {
  return errorCode(error) ?? String(error);
}
