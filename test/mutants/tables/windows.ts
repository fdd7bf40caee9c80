// Mutants of platform/secrets/windows.
import type { MutantTable } from "../mutant.ts";

export default {
  "platform/processes/windows/job-object.ts": [
    {
      fault: "a script's processes outlive rt",
      text: "keepsChildren ? KILL_ON_JOB_CLOSE : KILL",
      becomes: "keepsChildren ? 0 : KILL",
      tests: ["windows/run"],
      why: "our jobs lie in that which the engine has for all that it starts, and which ends with rt",
    },
    {
      fault: "what rt has become outlives it",
      text: "KILL_ON_JOB_CLOSE | SILENT_BREAKAWAY_OK",
      becomes: "SILENT_BREAKAWAY_OK",
      tests: ["windows/run"],
    },
    {
      fault: "what a script left in the background ends with it",
      text: "  setLimits(job, 0);\n",
      becomes: "",
      tests: ["windows/run"],
    },
  ],
  "platform/secrets/windows/credential-store.ts": [
    {
      fault: "a credential is deleted without the lock",
      text: "withLock(call, isOver, () => remove(vault))",
      becomes: "remove(vault)",
      tests: ["windows/secrets"],
    },
    {
      fault: "a credential is stored without the lock",
      text: "await withLock(call, isOver, write).finally(() => copy.fill(0));",
      becomes: "await write().finally(() => copy.fill(0));",
      tests: ["windows/secrets"],
    },
    {
      fault: "a value that is changing is an error",
      text: "if (!(error instanceof ChangingValue)) throw error;",
      becomes: "throw error;",
      tests: ["windows/secrets", "windows/entries"],
    },
    {
      fault: "the copy of a value that was given up stays in memory",
      text: "if (!isInUse) copy.fill(0);",
      becomes: "",
      tests: ["windows/secrets"],
    },
    {
      fault: "the copy of a stored value stays in memory",
      text: ".finally(() => copy.fill(0))",
      becomes: "",
      tests: ["windows/secrets"],
    },
  ],
  "platform/secrets/windows/chunked-credentials.ts": [
    {
      fault: "the parts of a new value are written over those of the old",
      text: `slot: old?.slot === "a" ? "b" : "a",`,
      becomes: `slot: "a",`,
      tests: ["windows/entries"],
    },
    {
      fault: "parts are removed from the first to the last",
      text: "for (; count > 0; count--) await vault.remove(targets.part(slot, count));",
      becomes: "for (let index = 1; index <= count; index++) await vault.remove(targets.part(slot, index));",
      tests: ["windows/entries"],
    },
    {
      fault: "the old parts are left",
      text: `    await removeParts(vault, targets, head.slot === "a" ? "b" : "a");\n`,
      becomes: "",
      tests: ["windows/entries"],
    },
    {
      fault: "parts of another value are taken",
      text: "part?.comment === describePart(head, index) && ",
      becomes: "part !== null && ",
      tests: ["windows/entries"],
    },
    {
      fault: "a part that was read stays in memory",
      text: "    part?.blob.fill(0);\n    if (belongs)",
      becomes: "    if (belongs)",
      tests: ["windows/entries", "windows/secrets"],
    },
    {
      fault: "half a value stays in memory",
      text: "    value.fill(0);\n",
      becomes: "",
      tests: ["windows/entries"],
    },
    {
      fault: "a value of the greatest size is refused",
      text: "if (count > MAX_PARTS) {",
      becomes: "if (count >= MAX_PARTS) {",
      tests: ["windows/entries", "windows/secrets"],
    },
    {
      fault: "a value that looks like a head is one",
      text: "if (id === undefined || Buffer.compare(blob, Buffer.from(comment)) !== 0) return undefined;",
      becomes: "if (id === undefined) return undefined;",
      tests: ["windows/entries"],
    },
    {
      fault: "another credential's entry is written over",
      text: "return { target: plain ? targets.escaped : (targets.plain ?? targets.escaped) };",
      becomes: "return { target: targets.plain ?? targets.escaped };",
      tests: ["windows/entries"],
    },
  ],
  "platform/secrets/windows/credential-targets.ts": [
    {
      fault: "a service that begins like rt's own is not escaped",
      text: "plain.toLowerCase().startsWith(RESERVED) ? undefined : plain",
      becomes: "plain",
      tests: ["windows/entries"],
    },
    {
      fault: "parts are credentials",
      text: ` || target.includes("#")`,
      becomes: "",
      tests: ["windows/entries"],
    },
    {
      fault: "capitals are not escaped",
      text: "/[^a-z0-9._@-]/gu",
      becomes: "/[^a-z0-9._@-]/giu",
      tests: ["windows/entries"],
    },
  ],
  "platform/secrets/windows/credential.ts": [
    {
      fault: "the blob that Windows gave stays in memory",
      text: "  original.fill(0);\n",
      becomes: "",
      tests: ["windows/secrets", "windows/credential"],
    },
    {
      fault: "UTF-16 that was turned into UTF-8 stays in memory",
      text: "  blob.fill(0);\n  return text;",
      becomes: "  return text;",
      tests: ["windows/credential"],
    },
    {
      fault: "half a surrogate pair is text",
      text: "  return !wantsLow;\n",
      becomes: "  return true;\n",
      tests: ["windows/credential"],
    },
    {
      fault: "a credential roams although it must not",
      text: "local: 2, enterprise: 3",
      becomes: "local: 3, enterprise: 3",
      tests: ["windows/credential", "windows/secrets"],
    },
    {
      fault: "an entry that is not generic is one",
      text: "=== GENERIC;\n  const credential",
      becomes: "!== 0;\n  const credential",
      tests: ["windows/credential", "windows/secrets"],
    },
  ],
  "platform/processes/windows/command-line.ts": [
    {
      fault: "backslashes in front of the last quote end the word",
      text: `.replace(/\\\\+$/, "$&$&")}"\`;\n}`,
      becomes: `}"\`;\n}`,
      tests: ["windows/credential", "windows/run"],
    },
    {
      fault: "an empty word is lost",
      text: `word !== "" && !/[\\s"]/`,
      becomes: `!/[\\s"]/`,
      tests: ["windows/credential", "windows/run"],
    },
    {
      fault: "a batch file's argument expands variables",
      text: `      .replaceAll("%", "%%cd:~,%")}"\`;`,
      becomes: `}"\`;`,
      tests: ["windows/credential", "windows/run"],
    },
    {
      fault: "a line break is a second command",
      text: "if ([file, ...args].some((word) => /[\\r\\n]/.test(word))) return undefined;",
      becomes: "",
      tests: ["windows/credential", "windows/run"],
    },
  ],
  "platform/secrets/windows/advapi.ts": [
    {
      fault: "the lock is kept",
      text: `      await call("ReleaseMutex", [mutex]);\n`,
      becomes: "",
      tests: ["windows/secrets", "windows/conformance"],
    },
    {
      fault: "what was given up is stored",
      text: `      if (isOver()) throw new ProviderFailure("CANCELED", "The operation was given up");\n`,
      becomes: "",
      tests: ["windows/secrets", "windows/conformance"],
    },
    {
      fault: "an entry that Windows gave is not freed",
      text: "        return takeCredential(Number(out[0]));\n      } finally {\n        free(out[0]!);",
      becomes: "        return takeCredential(Number(out[0]));\n      } finally {",
      tests: ["windows/secrets"],
    },
    {
      fault: "the values of what is listed stay in memory",
      text: "          credential?.blob.fill(0);\n",
      becomes: "",
      tests: ["windows/secrets"],
      why: "`rt secrets list` and the helpers list, and end right behind it; till then nobody else can look into them",
    },
  ],
  "platform/files/windows/ephemeral-file.ts": [
    {
      fault: "whoever opens the pipe first gets the tokens",
      text: "if (reader[0] === pid) {",
      becomes: "if (reader[0] !== undefined) {",
      tests: ["windows/registry-tokens"],
    },
    {
      fault: "who may not read the pipe keeps the engine from it",
      text: "        pipes().DisconnectNamedPipe(handle);\n        pipes().ConnectNamedPipe(handle, overlapped);\n",
      becomes: "        break;\n",
      tests: ["windows/registry-tokens"],
    },
    {
      fault: "an engine that ends without its configuration is waited for",
      text: "WaitForMultipleObjects(2, either",
      becomes: "WaitForMultipleObjects(1, either",
      tests: ["windows/registry-tokens"],
    },
    {
      fault: "the engine gets a pipe that it cannot read",
      text: "return isTold;",
      becomes: "return isTold || true;",
      tests: ["windows/registry-tokens"],
    },
    {
      fault: "other users may open the pipe",
      text: "      forThisUser(),\n",
      becomes: "      0n,\n",
      tests: ["windows/registry-tokens"],
      why: "Wine has one user, whom both let in",
    },
    {
      fault: "the tokens stay in rt's memory",
      text: "      bytes.fill(0);\n",
      becomes: "",
      tests: ["windows/registry-tokens"],
      why: "nothing looks into the memory of a Windows program here; rt waits for the engine and is asked for nothing else",
    },
  ],
  "platform/terminal/windows/terminal.ts": [
    {
      fault: "an engine whose output is looked through gets no configuration",
      text: "    serve?.(child.pid);\n",
      becomes: "",
      tests: ["windows/registry-tokens"],
    },
  ],
  "platform/processes/windows/process-tree.ts": [
    {
      fault: "a background process holds the run up for ever",
      text: "for (const reader of readers) void reader.cancel().catch(() => {});",
      becomes: "",
      tests: ["windows/run"],
    },
    {
      fault: "error output is taken for output",
      text: "pump(subprocess.stderr, true)",
      becomes: "pump(subprocess.stderr, false)",
      tests: ["windows/run"],
    },
  ],
} satisfies MutantTable;
