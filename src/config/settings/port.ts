// The variables by which `--port` reaches what runs.
//
// Non-obvious: the engine reads BUN_PORT before PORT, and both before its own `--port`. So the option is given as both
// variables: it wins over the environment, and over `.env`, which replaces no variable.

export function portVariables(port: string | undefined): Record<string, string> {
  return port === undefined ? {} : { PORT: port, BUN_PORT: port };
}
