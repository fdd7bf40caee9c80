// Mutants of src/secrets/grants, and of where what it decides is carried out.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/secrets/grants/grants.ts": [
    {
      fault: "a glob means hooks",
      text: "return isHook ? row.script === script : matches(row.script, script);",
      becomes: "return matches(row.script, script);",
      tests: ["secrets/mapping/scripts"],
    },
    {
      fault: "a row of one package is for all",
      text: "row.package !== undefined && owner !== undefined &&",
      becomes: "row.package === owner &&",
      tests: ["secrets/mapping/scripts"],
    },
  ],
  "src/secrets/grants/secret-provisioning.ts": [
    {
      fault: "a project that nobody has allowed lets a value be shown",
      text: `mapped.isRedacted || !isTrusted(mapping, "scripts");`,
      becomes: "mapped.isRedacted;",
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "what has been entered is told to be missing",
      text: "throw missingFailure(rest);",
      becomes: "throw missingFailure(missing);",
      tests: ["secrets/mapping/missing"],
    },
    {
      fault: "hooks get what the command line gives to a script",
      text: "if (!isScript || !receiver.isHook) for",
      becomes: "for",
      tests: ["secrets/mapping/scripts"],
    },
    {
      fault: "the environment counts for nothing",
      text: "return isFromLine ? undefined : host.originalVariable(name);",
      becomes: "return isFromLine ? undefined : host.originalVariable(`${name} `);",
      tests: ["secrets/mapping/scripts"],
    },
    {
      fault: "the environment wins over the command line",
      text: "return isFromLine ? undefined : host.originalVariable(name);",
      becomes: "return host.originalVariable(name);",
      tests: ["secrets/mapping/scripts", "options/secrets"],
    },
    {
      fault: "nobody is asked before a project reads secrets",
      text: '        requireTrust(mapping, "scripts");\n',
      becomes: "        void requireTrust;\n",
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "others can look into rt while it keeps values",
      text: "if (all.length > 0) host.hideMemory?.();",
      becomes: "",
      tests: ["secrets/mapping/values"],
    },
    {
      fault: "a script runs without what is missing",
      text: "const missing = lacking.filter(({ secret }) => !secret.isOptional);",
      becomes: "const missing = lacking.filter(() => false);",
      tests: ["secrets/mapping/scripts"],
    },
  ],
  "src/config/root-project.ts": [
    {
      fault: "a workspace without an rtfig.toml is nobody's",
      text: `ownerOf(FILE_NAME) ?? ownerOf("package.json")`,
      becomes: "ownerOf(FILE_NAME)",
      tests: ["secrets/mapping/places", "secrets/import"],
    },
    {
      fault: "a dependency's own rtfig.toml counts",
      text: "if (/[\\\\/]node_modules(?:[\\\\/]|$)/.test(here)) return undefined;",
      becomes: "",
      tests: ["secrets/mapping/places"],
    },
    {
      fault: "a member's own rtfig.toml counts",
      text: "const root = findWorkspaceRoot(own) ?? own;",
      becomes: "const root = own;",
      tests: ["secrets/mapping/places"],
    },
    {
      fault: "another user's folder above counts",
      text: "return owner === uid || owner === 0 || owner === lstatSync(own).uid;",
      becomes: "return owner !== -1 || uid === 0;",
      tests: ["secrets/mapping/places"],
    },
  ],
  "src/workspace/members.ts": [
    {
      fault: "a folder above speaks for packages that are not its members",
      text: "return belongsTo(collectMembers(root, patterns, where), resolveDirectory(from)) ? root : null;",
      becomes: "return collectMembers(root, patterns, where) ? root : null;",
      tests: ["secrets/mapping/places"],
    },
  ],
  "src/secrets/trust/yes-no-prompt.ts": [
    {
      fault: "a terminal that does not wait says no",
      text: 'if ((error as { code?: string }).code !== "EAGAIN") throw error;',
      becomes: "throw error;",
      tests: ["secrets/mapping/trust"],
    },
  ],
  "src/secrets/grants/env-command.ts": [
    {
      fault: "a script that is not there is told to get nothing, and no more",
      text: "names.length === 0) warnOfUnknown(script);",
      becomes: "names.length < 0) warnOfUnknown(script);",
      tests: ["secrets/mapping/scripts"],
    },
  ],
  "src/secrets/trust/trust.ts": [
    {
      fault: "another registry needs no other answer",
      text: "...(registries.length > 0 && {",
      becomes: "...(registries.length < 0 && {",
      tests: ["secrets/registry-tokens"],
    },
    {
      fault: "scripts of a project that was allowed ask again for an .npmrc",
      text: "    listAllowances().some((each) => each.scripts === scripts) ||\n",
      becomes: "",
      tests: ["secrets/registry-tokens"],
    },
    {
      fault: "who has allowed all by its hash has not allowed what scripts get",
      text: "    isAllowed(scripts) ||\n    listAllowances().some((each) => each.scripts === scripts) ||\n    isAllowed(fingerprint(mapping))\n",
      becomes: "    isAllowed(scripts) || listAllowances().some((each) => each.scripts === scripts)\n",
      tests: ["secrets/registry-tokens"],
    },
    {
      fault: "what scripts may have may be sent to any registry",
      text: 'if (purpose === "all") return isAllowed(fingerprint(mapping));',
      becomes: "void purpose;",
      tests: ["secrets/registry-tokens"],
    },
    {
      fault: "a password in a registry's address is shown",
      text: '  url.username = url.password = "";\n',
      becomes: "",
      tests: ["secrets/registry-tokens"],
    },
    {
      fault: "a part of what a project asks for is said to be rt trust's to allow",
      text: "mapping.part === undefined",
      becomes: "mapping !== undefined",
      tests: ["cache/secrets"],
    },
    {
      fault: "what a project says of a secret is as long as it likes",
      text: "text.length > LONGEST_ABOUT",
      becomes: "text.length < 0",
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "what is allowed is allowed in every folder",
      text: "    version: 1,\n    folder,\n",
      becomes: "    version: 1,\n",
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "other addresses need no other answer",
      text: '      return [source.kind, source.service, source.name];\n    case "command":',
      becomes: '      return [source.kind];\n    case "command":',
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "other scripts need no other answer",
      text: "grants.map(({ pattern, names }) => [pattern, names.toSorted()] as const)",
      becomes: 'grants.map(({ names }) => ["", names.toSorted()] as const)',
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "the beginning of a hash is enough",
      text: "each.trim() === hash",
      becomes: "each.trim() !== '' && hash.startsWith(each.trim())",
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "a pipe answers the question",
      text: "if (!canAsk()) throw refusal(mapping);",
      becomes: "",
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "a no is taken for a yes",
      text: 'if (!askYes("Allow it?"))',
      becomes: 'if (askYes("Allow it?") === undefined)',
      tests: ["secrets/mapping/trust"],
    },
  ],
  "platform/files/state-directory.ts": [
    {
      fault: "a directory is made where a link leads to, before it is refused",
      text: "      requireOwnPlace(place, directory, true);\n",
      becomes: "",
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "what others can write is believed",
      text: "(Number(mode) & (WRITABLE_BY_GROUP | WRITABLE_BY_ALL)) !== 0)",
      becomes: "false)",
      tests: ["secrets/mapping/trust"],
    },
    {
      fault: "a directory above that others can write is believed",
      text: "if (uid !== process.getuid!() || isOpen)",
      becomes: "if (uid !== process.getuid!())",
      tests: ["secrets/mapping/trust"],
    },
  ],
  "src/secrets/grants/missing-secrets.ts": [
    {
      fault: "somebody is asked where there is no terminal",
      text: "if (!canAsk() || lacking",
      becomes: "if (lacking",
      tests: ["secrets/mapping/missing"],
    },
    {
      fault: "an address is asked for twice",
      text: "byAddress.get(address) ?? (await ask",
      becomes: "(await ask",
      tests: ["secrets/mapping/missing"],
    },
  ],
  "src/secrets/grants/command-source.ts": [
    {
      fault: "what a program leaves behind is waited for",
      text: "if (size() === before) end();",
      becomes: "if (size() < before) end();",
      tests: ["secrets/mapping/values"],
    },
    {
      fault: "a program that writes without an end is asked to stop",
      text: 'child.kill("SIGKILL")',
      becomes: "child.kill()",
      tests: ["secrets/mapping/values"],
    },
    {
      fault: "a program that failed has given a value",
      text: "if (exitCode !== 0) return",
      becomes: "if (exitCode === -1) return",
      tests: ["secrets/mapping/values"],
    },
    {
      fault: "every line break at the end is taken off",
      text: "if (bytes.at(-1) !== LINE_FEED) return bytes.length;",
      becomes:
        "if (bytes.at(-1) !== LINE_FEED) return bytes.length;\n  if (bytes.at(-2) === LINE_FEED) return bytes.length - 2;",
      tests: ["secrets/mapping/values"],
    },
    {
      fault: "a program reads what is meant for the script",
      text: 'stdin: "ignore",',
      becomes: 'stdin: "inherit",',
      tests: ["secrets/mapping/scripts"],
    },
  ],
  "src/secrets/grants/secret-fetch.ts": [
    {
      fault: "an address is read for each name that has it",
      text: "const read = reads.get(key) ?? readSource(secret, folder, files);",
      becomes: "const read = readSource(secret, folder, files);",
      tests: ["secrets/mapping/fetching"],
    },
    {
      fault: "each secret is read over a connection of its own",
      text: "store ??= import(",
      becomes: "store = import(",
      tests: ["secrets/mapping/fetching"],
    },
    {
      fault: "a value with a NUL character is cut",
      text: "if (value.includes(0))",
      becomes: "if (value.length < 0)",
      tests: ["secrets/mapping/values"],
    },
  ],
  "src/secrets/grants/variable-name.ts": [
    {
      fault: "a secret may be a variable that steers programs",
      text: "    STEERING.has(capital) ||\n",
      becomes: "",
      tests: ["options/secrets"],
    },
  ],
  "src/runner/script/launch.ts": [
    {
      fault: "a script that is wrong does not wait for its secrets",
      text: "  } catch {\n    return undefined;\n  }",
      becomes: "  } finally {\n  }",
      tests: ["secrets/mapping/values"],
    },
  ],
  "src/runner/task-run/secrets.ts": [
    {
      fault: "a program gets the connection to the store",
      text: "    descriptors,\n    secretsFor(event) {",
      becomes: "    secretsFor(event) {",
      tests: ["secrets/mapping/scripts"],
    },
  ],
  "src/runner/task-run/multi-script.ts": [
    {
      fault: "every script of a run gets what one of them gets",
      text: "provision?.valuesFor(receiverOf({ manifest }, scriptName, !isMain)) ?? [];",
      becomes: 'provision?.valuesFor(receiverOf({ manifest }, "show", false)) ?? [];',
      tests: ["secrets/mapping/scripts"],
    },
  ],
} satisfies MutantTable;
