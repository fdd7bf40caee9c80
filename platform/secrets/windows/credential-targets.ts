// Target names of a credential's entries:
//
// - `service/name`: the target of Bun and keytar, with the name as user name
// - `rt:service/name`: escaped, if another credential uses that target
// - `rt:service/name#a1`, `#a2` and so on: parts of a value that does not fit into one entry
//
// Non-obvious: the first form is ambiguous ("a/b" + "c" and "a" + "b/c"), and Windows ignores its case. So an entry belongs to a
// credential only if target and user name match exactly. An escaped text contains neither slashes nor upper case.
import type { CredentialName } from "../contract/secret-provider.ts";

/** Prefix of rt's own forms; a service that begins with it is always escaped. */
const RESERVED = "rt:";

/** Two slots for a value's parts, so that the new value is complete before the old one is removed. */
export type Slot = "a" | "b";
export const SLOTS: readonly Slot[] = ["a", "b"];

export interface Targets {
  /** Undefined if it would look like rt's own form. */
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

/** Returns the credential whose value begins in this entry; undefined for parts and for other programs' entries. */
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

/** The inverse of `decodeURIComponent`, in lower case. */
function escape(text: string): string {
  const encode = (byte: number) => `%${byte.toString(16).padStart(2, "0")}`;
  return text.replace(/[^a-z0-9._@-]/gu, (character) =>
    Array.from(new TextEncoder().encode(character), encode).join(""),
  );
}
