// What is wrong and what to do about it, for a person: the two lines on standard error that every refusal of rt is.

/** Returns the exit code. */
export function complain(message: string, hint?: string, status = 1): number {
  console.error(`error: ${message}`);
  if (hint) console.error(`hint: ${hint}`);
  return status;
}
