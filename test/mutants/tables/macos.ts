// Mutants of platform/secrets/macos.
import type { MutantTable } from "../mutant.ts";

const KEYCHAIN = ["macos/keychain"];

export default {
  "platform/secrets/macos/keychain.ts": [
    {
      fault: "a value that was read is not erased from the system's memory",
      text: "  scope.ownData(data);\n",
      becomes: "  scope.own(data);\n",
      tests: ["macos/keychain", "macos/product"],
    },
    {
      fault: "a value that was given up is handed out",
      text: "  scope.ownData(data);\n  checkNotOver(isOver);",
      becomes: "  scope.ownData(data);",
      tests: KEYCHAIN,
      why: "nobody is left who could take it; it costs a copy that is not made",
    },
    {
      fault: "an item that another program makes meanwhile is an error",
      text: "(count < MAX_ATTEMPTS ? [status] : [])",
      becomes: "[] as number[]",
      tests: KEYCHAIN,
    },
    {
      fault: "a value is stored anew without end",
      text: "(count < MAX_ATTEMPTS ? [status] : [])",
      becomes: "[status]",
      tests: KEYCHAIN,
    },
    {
      fault: "what was given up is stored",
      text: "return;\n    checkNotOver(isOver);\n    // Keychain Access",
      becomes: "return;\n    // Keychain Access",
      tests: KEYCHAIN,
    },
    {
      fault: "every service's credentials are listed",
      text: "if (service) entries.push([constants.kSecAttrService, scope.string(service)]);",
      becomes: "",
      tests: KEYCHAIN,
    },
    {
      fault: "the name does not count",
      text: "if (name) entries.push([constants.kSecAttrAccount, scope.string(name)]);",
      becomes: "",
      tests: KEYCHAIN,
    },
    {
      fault: "an item has no label",
      text: "[...item, [constants.kSecAttrLabel, scope.string(service)], content]",
      becomes: "[...item, content]",
      tests: KEYCHAIN,
    },
    {
      fault: "only one credential is listed",
      text: "constants.kSecMatchLimit, constants.kSecMatchLimitAll]",
      becomes: "constants.kSecMatchLimit, constants.kSecMatchLimitOne]",
      tests: KEYCHAIN,
    },
  ],
  "platform/secrets/macos/core-foundation.ts": [
    {
      fault: "values are not erased",
      text: "for (const data of this.#data.splice(0)) contentOf(data)?.fill(0);",
      becomes: "",
      tests: ["macos/keychain", "macos/product"],
    },
    {
      fault: "references are not released",
      text: "for (const reference of this.#owned.splice(0).toReversed()) framework().CFRelease(reference);",
      becomes: "",
      tests: KEYCHAIN,
    },
    {
      fault: "no memory left is a reference",
      text: `if (reference === 0n) throw new Error("CoreFoundation has no memory left");`,
      becomes: "",
      tests: KEYCHAIN,
      why: "CoreFoundation ends the program itself where there is no memory; the check is for what it does not say",
    },
    {
      fault: "an object of any kind is read as a string",
      text: " || CFGetTypeID(reference) !== CFStringGetTypeID()",
      becomes: "",
      tests: KEYCHAIN,
      why: "services and accounts are strings in every item that the system makes; the stand-in makes no others",
    },
  ],
} satisfies MutantTable;
