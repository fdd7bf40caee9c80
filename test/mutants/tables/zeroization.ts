// A copy of a secret stays in memory after its last use.
import type { MutantTable } from "../mutant.ts";

export default {
  "platform/secrets/linux/session.ts": [
    {
      fault: "the shared secret and the key material of a session are not zeroed",
      text: "for (const bytes of [shared, extracted, expanded]) bytes.fill(0);",
      becomes: "",
      tests: ["secrets/linux/key-exchange"],
    },
    {
      fault: "the service's answer is not zeroed",
      text: "content.fill(0);",
      becomes: "",
      tests: ["secrets/zeroization", "secrets/linux/product"],
    },
  ],
  "platform/secrets/linux/dbus/bus-socket.ts": [
    {
      fault: "a sent message is not zeroed",
      text: "bytes.fill(0, 0, written);",
      becomes: "",
      tests: ["secrets/zeroization"],
    },
    {
      fault: "the first part of an incomplete message is not zeroed",
      text: "this.#message.fill(0);",
      becomes: "",
      tests: ["secrets/zeroization"],
    },
    {
      fault: "the socket's receive buffer is not zeroed",
      text: "chunk.fill(0);",
      becomes: "",
      tests: ["secrets/zeroization"],
    },
  ],
  "platform/secrets/macos/keychain.ts": [
    {
      fault: "the Keychain's copy of a value is not zeroed",
      text: "scope.ownData(data);",
      becomes: "scope.own(data);",
      tests: ["macos/keychain", "macos/product"],
    },
  ],
  "src/secrets/grants/secret-fetch.ts": [
    {
      fault: "values are not zeroed when one of them cannot be a variable",
      text: `for (const value of values.values()) value.fill(0);
    throw error;`,
      becomes: "throw error;",
      tests: ["secrets/zeroization"],
    },
  ],
  "src/secrets/grants/command-source.ts": [
    {
      fault: "the output of a failed command is not zeroed",
      text: "output.fill(0);\n  return `${shown} ${failure}`;",
      becomes: "return `${shown} ${failure}`;",
      tests: ["secrets/zeroization", "secrets/grants/values"],
    },
    {
      fault: "chunks of a command's output are not zeroed",
      text: "for (const chunk of chunks) chunk.fill(0);",
      becomes: "",
      tests: ["secrets/zeroization", "secrets/grants/values"],
    },
  ],
  "src/redaction/filter.ts": [
    {
      fault: "held output is not zeroed",
      text: "this.#held.fill(0);",
      becomes: "",
      tests: ["redaction/filter", "secrets/zeroization"],
    },
  ],
  "src/redaction/pattern-matcher.ts": [
    {
      fault: "patterns are not zeroed",
      text: `for (const { bytes, places, failures } of this.#all) {
      bytes.fill(0);`,
      becomes: "for (const { places, failures } of this.#all) {",
      tests: ["redaction/filter"],
    },
  ],
  "src/secrets/api/secrets.ts": [
    {
      fault: "the bytes of a stored value are not zeroed",
      text: `await perform(options, (store) => store.set(service, name, bytes, options));
      } finally {
        bytes.fill(0);`,
      becomes: `await perform(options, (store) => store.set(service, name, bytes, options));
      } finally {`,
      tests: ["secrets/secrets"],
    },
    {
      fault: "the bytes of a read value are not zeroed",
      text: `);
  } finally {
    bytes.fill(0);`,
      becomes: `);
  } finally {`,
      tests: ["secrets/secrets"],
    },
  ],
  "src/secrets/command.ts": [
    {
      fault: "bytes from standard input are not zeroed",
      text: `} finally {
    bytes.fill(0);
  }`,
      becomes: "}",
      tests: ["secrets/linux/product"],
    },
  ],
  "platform/secrets/windows/credential-store.ts": [
    {
      fault: "the copy of a stored value is not zeroed on Windows",
      text: ".finally(() => copy.fill(0))",
      becomes: "",
      tests: ["windows/secrets"],
    },
  ],
} satisfies MutantTable;
