// Changes one member of a JSON file and leaves every other character as it is: indentation, order, line ends.

interface JsonMember {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

/** Texts, brackets, and the commas and colons between; numbers and words are passed over. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/** The members of the outermost object. `json` must be valid. */
function findMembers(json: string): JsonMember[] {
  const members: JsonMember[] = [];
  let depth = 0;
  let begun: { key: string; start: number } | undefined;
  const finish = (end: number) => {
    if (begun) members.push({ ...begun, end: json.slice(0, end).trimEnd().length });
    begun = undefined;
  };
  for (const { 0: token, index } of json.matchAll(TOKEN)) {
    if (depth === 1 && (token === "," || token === "}")) finish(index);
    else if (!begun && token[0] === '"') begun = { key: JSON.parse(token) as string, start: index };
    if (token === "{" || token === "[") depth++;
    if (token === "}" || token === "]") depth--;
  }
  return members;
}

/** Puts a member that is not there yet in front of the others. */
export function addMember(json: string, key: string, value: string): string {
  const [first] = findMembers(json);
  const text = `${JSON.stringify(key)}: ${JSON.stringify(value)}`;
  const start = json.indexOf("{") + 1;
  if (!first) return `${json.slice(0, start)}\n\t${text}\n${json.slice(json.lastIndexOf("}"))}`;
  return `${json.slice(0, first.start)}${text},${json.slice(start, first.start)}${json.slice(first.start)}`;
}

/** With the comma and the space that belong to it; of several with one name the last, which is what a reader takes. */
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
