// A hit is stale, or the store is damaged.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/cache/key/cache-key.ts": [
    {
      fault: "arguments are not part of the key",
      text: "step.argv.map(ownProgram)]",
      becomes: "[]]",
      tests: ["cache/entry/cache-key"],
    },
    {
      fault: "environment variables are not part of the key",
      text: "fields.push({ name: VARIABLE + name, hash: hashesOf(meant) });",
      becomes: "void hash;",
      tests: ["cache/entry/stale-hits"],
    },
  ],
  "src/cache/key/declared-inputs.ts": [
    {
      fault: "dependencies' packages are not part of the key",
      text: "return [packageDirectory, ...directoriesNeeded(root, packageDirectory)];",
      becomes: "return [packageDirectory];",
      tests: ["cache/entry/declared-inputs"],
    },
    {
      fault: "lockfiles are not part of the key",
      text: "new Set(sharedFiles(root))",
      becomes: "new Set<string>()",
      tests: ["cache/entry/declared-inputs"],
    },
  ],
  "src/cache/key/symlink-targets.ts": [
    {
      fault: "targets of symbolic links are not inputs",
      text: "if (links.length === 0) return [...paths];",
      becomes: "return [...paths];",
      tests: ["cache/entry/symlink-targets"],
    },
  ],
  "platform/tracing/linux/syscalls.ts": [
    {
      fault: "openat is not traced",
      text: `{ ...call("openat", 257, 56, at("probe")), open: { flags: 2 } },`,
      becomes: "",
      tests: ["cache/entry/stale-hits"],
    },
  ],
  "platform/tracing/linux/seccomp-filter.ts": [
    {
      fault: "32-bit system calls are not traced",
      text: `value: AUDIT_ARCHITECTURES[architecture], no: "notify"`,
      becomes: `value: AUDIT_ARCHITECTURES[architecture], no: "allow"`,
      tests: ["cache/tracing/syscall-table"],
    },
  ],
  "platform/tracing/linux/tracer.ts": [
    {
      fault: "a process that survives the script does not prevent caching",
      text: "hasSurvivor = true;",
      becomes: "",
      tests: ["cache/entry/uncacheable-reasons"],
    },
  ],
  "src/cache/entry/entry-builder.ts": [
    {
      fault: "a missing file is not a dependency",
      text: "else conditions.push([first.kind, path]);",
      becomes: `else if (first.kind === "other") conditions.push([first.kind, path]);`,
      tests: ["cache/entry/stale-hits"],
    },
    {
      fault: "an input that changed during the run is recorded with its final state",
      text: `if (last || (first.kind === "file" && first.isFresh)) throw new NotCacheableError("changed", path);`,
      becomes: "",
      tests: ["cache/entry/stale-hits", "cache/entry/uncacheable-reasons"],
    },
  ],
  "src/cache/entry/entry-validation.ts": [
    {
      fault: "file modes are not compared",
      text: "if (state.mode !== condition[3]) return",
      becomes: "if (state.mode < 0) return",
      tests: ["cache/entry/stale-hits"],
    },
    {
      fault: "file contents are not compared",
      text: "return (await hashes.hash(path, state)) === condition[2] ? null",
      becomes: "return (await hashes.hash(path, state)) !== null ? null",
      tests: ["cache/entry/stale-hits"],
    },
    {
      fault: "a file that was removed from a directory is not noticed",
      text: "difference: removed === undefined ? null : `",
      becomes: "difference: removed !== null ? null : `",
      tests: ["cache/entry/cache-hits", "cache/entry/stale-hits"],
    },
  ],
  "src/cache/memo/run-memo.ts": [
    {
      fault: "memoized runs of another user are read",
      text: `makePrivate(directoryOf(store));
  return true;`,
      becomes: "return true;",
      tests: ["cache/entry/run-memo"],
    },
  ],
  "src/cache/store/eviction.ts": [
    {
      fault: "objects of an entry that is being written are evicted",
      text: "if (!blob || !isOld(blob)) return;",
      becomes: "if (!blob) return;",
      tests: ["cache/store/eviction"],
    },
  ],
  "src/cache/store/cache-store.ts": [
    {
      fault: "other users can read objects",
      text: "chmodSync(draft, 0o600);",
      becomes: "",
      tests: ["cache/store/cache-store"],
    },
    {
      fault: "a key of any length is accepted",
      text: "if (bytes?.length === 32) return bytes;",
      becomes: "if (bytes) return bytes;",
      tests: ["cache/store/cache-store"],
    },
    {
      fault: "a damaged log is used",
      text: "if (bytes && hashBytes(bytes) === hash) return bytes;",
      becomes: "if (bytes) return bytes;",
      tests: ["cache/store/cache-store"],
    },
  ],
  "src/cache/entry/stored-entry.ts": [
    {
      fault: "a damaged entry is used",
      text: "if (!bytes || hashBytes(bytes) !== hash) return null;",
      becomes: "if (!bytes) return null;",
      tests: ["cache/store/cache-store"],
    },
  ],
  "src/cache/remote/signature.ts": [
    {
      fault: "an unsigned artifact is used",
      text: "if (!this.#key || isSigned(tag, this.#key, id, this.#teamId, bytes)) return bytes;",
      becomes: "if (!this.#key || tag !== id) return bytes;",
      tests: ["cache/remote/lying-turbo-server"],
    },
    {
      fault: "every signature is valid",
      text: "return given.length === right.length && timingSafeEqual(given, right);",
      becomes: "return given.length >= 0;",
      tests: ["cache/remote/artifact"],
    },
  ],
  "src/cache/remote/shareable-outputs.ts": [
    {
      fault: "symbolic links in an artifact lead out of the project",
      text: "return end === root || isBelow(end, root);",
      becomes: `return end !== "";`,
      tests: ["cache/remote/artifact"],
    },
  ],
  "src/cache/remote/artifact.ts": [
    {
      fault: "objects are not compared with their digests",
      text: "!wanted.has(digest) || hashBytes(content) !== digest",
      becomes: "!wanted.has(digest)",
      tests: ["cache/remote/artifact"],
    },
  ],
  "src/cache/server/server.ts": [
    {
      fault: "a token for one scope writes to the main scope",
      text: `return { scope: token.access === "write-own" ? token.name : MAIN, team, kind };`,
      becomes: "return { scope: MAIN, team, kind };",
      tests: ["cache/server/server"],
    },
    {
      fault: "a hash may be a path",
      text: `if (!ID.test(id)) return problem(400, "bad_request", "Invalid hash");
  if (method === "GET"`,
      becomes: `if (method === "GET"`,
      tests: ["cache/server/server"],
    },
  ],
  "src/distributed/redis-scripts.ts": [
    {
      fault: "a machine whose lease expired overwrites a newer result",
      text: "if not holds(script, claim) then return 0 end",
      becomes: "",
      tests: ["distributed/board"],
    },
  ],
  "src/cache/entry/recorded-listings.ts": [
    {
      fault: "directory listings are not dependencies",
      text: `return [stems ? ["names", traced.path, counted, stems] : ["names", traced.path, counted]];`,
      becomes: "return [];",
      tests: ["cache/entry/stale-hits"],
    },
  ],
} satisfies MutantTable;
