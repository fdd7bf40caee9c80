// Splits the names of tasks in rtfig.toml. Separate, because the check for secrets before every start needs nothing else.

export interface TaskName {
  /** Name or glob; undefined for all packages. */
  readonly package: string | undefined;
  /** Name or glob. */
  readonly task: string;
}

export function splitTaskName(name: string): TaskName {
  const hash = name.indexOf("#");
  return { package: hash < 0 ? undefined : name.slice(0, hash), task: name.slice(hash + 1) };
}
