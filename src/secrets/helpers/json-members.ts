// Adds or removes one member of a JSON object in its text; every other character stays.

interface JsonMember {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

/** Strings, brackets, commas and colons. Numbers and literals are skipped. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/** Finds the members of the outermost object of a valid JSON text. */
function findMembers(json: string): JsonMember[] {
  const members: JsonMember[] = [];
  let depth = 0;
  let current: { key: string; start: number } | undefined;
  const finish = (end: number) => {
    if (current) members.push({ ...current, end: json.slice(0, end).trimEnd().length });
    current = undefined;
  };
  for (const { 0: token, index } of json.matchAll(TOKEN)) {
    if (depth === 1 && (token === "," || token === "}")) finish(index);
    else if (!current && token[0] === '"') current = { key: JSON.parse(token) as string, start: index };
    if (token === "{" || token === "[") depth++;
    if (token === "}" || token === "]") depth--;
  }
  return members;
}

/** Inserts a new member before the others. */
export function addMember(json: string, key: string, value: string): string {
  const [first] = findMembers(json);
  const text = `${JSON.stringify(key)}: ${JSON.stringify(value)}`;
  const start = json.indexOf("{") + 1;
  if (!first) return `${json.slice(0, start)}\n\t${text}\n${json.slice(json.lastIndexOf("}"))}`;
  return `${json.slice(0, first.start)}${text},${json.slice(start, first.start)}${json.slice(first.start)}`;
}

/** Removes a member with its comma and space. Of duplicate keys it removes the last, which is the one that parsers use. */
export function removeMember(json: string, key: string): string {
  const members = findMembers(json);
  const index = members.findLastIndex((member) => member.key === key);
  const [before, member, after] = [members[index - 1], members[index], members[index + 1]];
  if (!member) return json;
  if (after) return json.slice(0, member.start) + json.slice(after.start);
  return (
    json.slice(0, before ? before.end : json.indexOf("{") + 1) +
    json.slice(before ? member.end : json.lastIndexOf("}"))
  );
}
