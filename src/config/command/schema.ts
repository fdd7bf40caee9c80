// Renders the JSON schema of rtfig.toml from the table of its keys, for editors.
import { type ConfigKey, KEYS } from "../keys.ts";

interface SchemaNode {
  key?: ConfigKey;
  /** By name; "*" for a name of the user's choice. */
  readonly children: Map<string, SchemaNode>;
}

type Schema = Readonly<Record<string, unknown>>;

export function renderSchema(): string {
  const root: SchemaNode = { children: new Map() };
  for (const key of KEYS) {
    let node = root;
    for (const part of key.name.split(".")) {
      let child = node.children.get(part);
      if (!child) node.children.set(part, (child = { children: new Map() }));
      node = child;
    }
    node.key = key;
  }
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "rtfig.toml",
    ...tableOf(root),
  };
  return JSON.stringify(schema, null, 2);
}

function tableOf({ children }: SchemaNode): Schema {
  const properties = [...children].filter(([name]) => name !== "*");
  const other = children.get("*");
  return {
    type: "object",
    ...(properties.length > 0 && {
      properties: Object.fromEntries(properties.map(([name, node]) => [name, schemaOf(node)])),
    }),
    additionalProperties: other ? schemaOf(other) : false,
  };
}

/** A key may be a value and a table, such as `install.registry`. */
function schemaOf(node: SchemaNode): Schema {
  const { key, children } = node;
  const values = key ? key.kinds.map((kind) => valueOf(kind, key)) : [];
  const all = children.size > 0 ? [...values, tableOf(node)] : values;
  const description = key && { description: key.help };
  return all.length === 1 ? { ...description, ...all[0] } : { ...description, anyOf: all };
}

function valueOf(kind: ConfigKey["kinds"][number], { choices, range }: ConfigKey): Schema {
  switch (kind) {
    case "strings":
      return { type: "array", items: { type: "string" } };
    case "string":
      return choices ? { enum: choices } : { type: "string" };
    case "integer": {
      const [minimum = 0, maximum = Number.MAX_SAFE_INTEGER] = range ?? [];
      return { type: "integer", minimum, ...(maximum < Number.MAX_SAFE_INTEGER && { maximum }) };
    }
    default:
      return { type: kind };
  }
}
