// Passes `--port` to the started program as environment variables.
//
// Non-obvious: the engine reads BUN_PORT before PORT, and both before its own `--port`. Setting both variables overrides the
// environment and `.env` files.

export function portVariables(port: string | undefined): Record<string, string> {
  return port === undefined ? {} : { PORT: port, BUN_PORT: port };
}
