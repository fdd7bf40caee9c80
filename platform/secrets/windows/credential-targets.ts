// What the entries of one credential are called.
//
//   service/name                 where Bun and keytar look, with the name as the user name
//   rt:service/name              escaped, where another credential has taken that target
//   rt:service/name#a1, #a2 ...  the parts of a value that does not fit into one entry
//
// The first form is ambiguous: "a/b" and "c" share it with "a" and "b/c", and Windows does not tell upper from lower
// case in it. So whose an entry is depends on its target and user name to the letter. The other forms are: an escaped
// text has neither slashes nor anything that case changes.
import type { CredentialName } from "../contract/secret-provider.ts";

/** Of the forms that only rt uses; a service that begins with it is always escaped. */
const RESERVED = "rt:";

/** The two places for a value's parts, so that a new one is whole before the old one goes. */
export type Slot = "a" | "b";
export const SLOTS: readonly Slot[] = ["a", "b"];

export interface Targets {
  /** Absent where it would look like one of ours. */
  readonly plain: string | undefined;
  readonly escaped: string;
  /** @param index from 1 */
  part(slot: Slot, index: number): string;
}

export function targetsOf({ service, name }: CredentialName): Targets {
  const plain = `${service}/${name}`;
  const escaped = `${RESERVED}${escape(service)}/${escape(name)}`;
  return {
    plain: plain.toLowerCase().startsWith(RESERVED) ? undefined : plain,
    escaped,
    part: (slot, index) => `${escaped}#${slot}${index}`,
  };
}

/** The credential whose value begins in this entry; undefined for parts and for what other programs address otherwise. */
export function credentialOf(target: string, userName: string): CredentialName | undefined {
  if (!target.startsWith(RESERVED)) {
    const service = target.endsWith(`/${userName}`) ? target.slice(0, -userName.length - 1) : "";
    return service && userName ? { service, name: userName } : undefined;
  }
  const words = target.slice(RESERVED.length).split("/");
  if (words.length !== 2 || target.includes("#")) return undefined;
  try {
    const [service, name] = words.map(decodeURIComponent);
    return service && name === userName ? { service, name } : undefined;
  } catch {
    return undefined;
  }
}

/** What `decodeURIComponent` takes back, in lower case throughout. */
function escape(text: string): string {
  const encode = (byte: number) => `%${byte.toString(16).padStart(2, "0")}`;
  return text.replace(/[^a-z0-9._@-]/gu, (character) =>
    Array.from(new TextEncoder().encode(character), encode).join(""),
  );
}
