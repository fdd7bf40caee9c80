// `rt secrets` on the command line.
export async function runSecretsCommand(_args: string[]): Promise<number> {
  return 1;
}
