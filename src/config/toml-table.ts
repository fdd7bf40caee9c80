// A table of rtfig.toml as it is parsed, before a schema gives its keys types.

export type TomlTable = Readonly<Record<string, unknown>>;

/** A copy that is changed before it is written. */
export type MutableTomlTable = Record<string, unknown>;
