// Mutants of src/workspace.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/workspace/filter.ts": [
    {
      fault: "...x... leaves out what the dependents need",
      text: "selector.withDependencies && selector.withDependents ? reachable(dependents, own) : new Set(own)",
      becomes: "new Set(own)",
      tests: ["workspace/filter"],
    },
    {
      fault: "the caret of ...^x is not seen",
      text: `withSelf: !before.endsWith("^") && `,
      becomes: "withSelf: ",
      tests: ["workspace/filter"],
    },
    {
      fault: "* means the root too",
      text: `if (name === "*" || name === "**") return ({ isRoot }) => !isRoot;`,
      becomes: `if (name === "*" || name === "**") return () => true;`,
      tests: ["workspace/filter", "tasks/workspace-run"],
    },
    {
      fault: "a name glob means the root",
      text: `member.name !== "" && !member.isRoot && glob`,
      becomes: `member.name !== "" && glob`,
      tests: ["workspace/filter"],
    },
    {
      fault: "a path glob means the root",
      text: "!isRoot && glob.match(directory)",
      becomes: "glob.match(directory)",
      tests: ["workspace/filter"],
    },
    {
      fault: "a directory means its namesakes",
      text: `directory.startsWith(parent.endsWith("/") ? parent : \`\${parent}/\`)`,
      becomes: "directory.startsWith(parent)",
      tests: ["workspace/filter"],
    },
    {
      fault: "exclusions are taken away before the others are added",
      text: "  const unreadable = broken.filter((error)",
      becomes:
        "  for (const selector of positive) for (const index of apply(selector)) selected.add(index);\n  const unreadable = broken.filter((error)",
      tests: ["workspace/filter"],
    },
    {
      fault: "the place we stand in is a pattern",
      text: `from.replace(/[*?[\\]{}!]/g, "\\\\$&")`,
      becomes: "from",
      tests: ["workspace/filter"],
    },
    {
      fault: "the order of filters is that of the packages",
      text: "[...selected].sort((a, b) => a - b)",
      becomes: "[...selected]",
      tests: ["workspace/filter"],
    },
    {
      fault: "a package in a folder that cannot be listed is meant by no path",
      text: "(unmatched.includes(source) && mayLeadInto(path || selector.directory))",
      becomes: "false",
      tests: ["workspace/unlistable-folders"],
    },
    {
      fault: "a listed package that is not there is fatal",
      text: `return files.readFile(file, 0) !== "ENOENT";`,
      becomes: "return true;",
      tests: ["tasks/workspace-run"],
    },
  ],
  "src/workspace/affected.ts": [
    {
      fault: "git starts what the repository's configuration names",
      text: '"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", ',
      becomes: "",
      tests: ["tasks/affected"],
    },
    {
      fault: "a folder of the project's files is taken for a repository",
      text: `"-c", "safe.bareRepository=explicit"`,
      becomes: "",
      tests: ["tasks/affected"],
    },
    {
      fault: "what git says is not passed on",
      text: 'failed in ${cwd}${reason === undefined ? "" : `: ${reason}`}`',
      becomes: "failed in ${cwd}`",
      tests: ["tasks/affected-refusals"],
    },
    {
      fault: "a repository of another user's is taken for one that is not there",
      text: "if (trust !== undefined) hint =",
      becomes: "if (trust === undefined) hint =",
      tests: ["tasks/affected-refusals"],
    },
    {
      fault: "git that is not installed is taken for git that fails",
      text: `if ("code" in answer)`,
      becomes: "if (false)",
      tests: ["tasks/affected-refusals"],
    },
    {
      fault: "git speaks the user's language",
      text: `, LC_ALL: "C" }`,
      becomes: " }",
      tests: ["tasks/affected-refusals"],
    },
    {
      fault: "npm-shrinkwrap.json affects the root alone",
      text: `  "npm-shrinkwrap.json",\n`,
      becomes: "",
      tests: ["tasks/affected"],
    },
    {
      fault: "what a file was called before is not looked at",
      text: `"--no-renames", `,
      becomes: "",
      tests: ["tasks/affected"],
    },
    {
      fault: "files that Git does not know do not count",
      text: `git(top, ["ls-files", "--others", "--exclude-standard", "-z"]),`,
      becomes: `Promise.resolve(""),`,
      tests: ["tasks/affected"],
    },
    {
      fault: "ignored files count",
      text: `"--exclude-standard", `,
      becomes: "",
      tests: ["tasks/affected"],
    },
    {
      fault: "what others have done since counts",
      text: "return (base ?? known).trim();",
      becomes: "return known.trim();",
      tests: ["tasks/affected"],
    },
    {
      fault: "a changed file belongs to the root, whatever package holds it",
      text: "for (let directory: string | null = file; directory !== null;",
      becomes: "for (let directory: string | null = root; directory !== null;",
      tests: ["tasks/affected"],
    },
    {
      fault: "a package that is a repository of its own belongs to the one around it",
      text: "let directory: string | null = file;",
      becomes: "let directory = parentDirectory(file);",
      tests: ["tasks/affected-repositories"],
    },
    {
      fault: "a repository that nobody has added is not known by its path",
      text: String.raw`file.replace(/\/$/, "")`,
      becomes: "file",
      tests: ["tasks/affected-repositories"],
    },
    {
      fault: "a repository that holds several packages stands for none of them",
      text: "for (const each of held.get(file) ?? [])",
      becomes: "for (const each of [] as number[])",
      tests: ["tasks/affected-repositories"],
    },
    {
      fault: "an untracked file in a submodule is no change",
      text: "...CAUTION, ...WHOLE_SUBMODULES, ",
      becomes: "...CAUTION, ",
      tests: ["tasks/affected-repositories"],
    },
    {
      fault: "the default branch of the remote is not asked for",
      text: "if (remote !== null) return remote.trim();",
      becomes: "",
      tests: ["tasks/affected"],
    },
    {
      fault: "what depends on a changed package is not affected",
      text: "causes.set(dependent, { dependsOn: index });",
      becomes: "void 0;",
      tests: ["tasks/affected"],
    },
  ],
  "src/workspace/dependencies.ts": [
    {
      fault: "peerDependencies do not count",
      text: `, "peerDependencies"] as const`,
      becomes: "] as const",
      tests: ["workspace/members", "workspace/filter"],
    },
    {
      fault: "a package depends on itself",
      text: " && target !== self",
      becomes: "",
      tests: ["workspace/members", "workspace/filter"],
    },
    {
      fault: "an alias counts for its own name",
      text: "ALIAS.exec(spec)?.[1] ?? key",
      becomes: "key",
      tests: ["workspace/members", "workspace/filter"],
    },
    {
      fault: "a path counts for its key alone",
      text: "byDirectory.get(resolve(directory, path)) ?? byName.get(key)",
      becomes: "byName.get(key)",
      tests: ["workspace/members", "workspace/filter"],
    },
  ],
  "src/workspace/member-patterns.ts": [
    {
      fault: "a folder that cannot be listed is empty",
      text: "unlistable.set(directory, code);",
      becomes: "{}",
      tests: ["workspace/unlistable-folders"],
    },
  ],
  "src/workspace/members.ts": [
    {
      fault: "what may be in an excluded folder counts",
      text: "isTold || search.isMatched(negated, `${pathFrom(root, directory)}/*`)",
      becomes: "isTold",
      tests: ["workspace/unlistable-folders"],
    },
    {
      fault: "a folder that cannot be read is told twice",
      text: "if (isTold || ",
      becomes: "if (",
      tests: ["workspace/unlistable-folders"],
    },
    {
      fault: "a negated pattern excludes nothing",
      text: "negated.length > 0 && search",
      becomes: "negated.length > 1 && search",
      tests: ["workspace/members"],
    },
    {
      fault: "two packages of one name are accepted",
      text: "if (belongsTo(workspace, resolveDirectory(from))) return rejectDuplicates(workspace);",
      becomes: "if (belongsTo(workspace, resolveDirectory(from))) return workspace;",
      tests: ["workspace/members"],
    },
    {
      fault: "a package that the workspace does not list belongs to it",
      text: "if (hasPackageJson(directory)) return false;",
      becomes: "",
      tests: ["workspace/members"],
    },
    {
      fault: "members come in the order in which they are found",
      text: "of paths.sort())",
      becomes: "of paths)",
      tests: ["workspace/members", "tasks/workspace-run"],
    },
    {
      fault: "a listed package that is not there is not told",
      text: "if (!found && pattern.isLiteral && !isHidden(pattern)) broken.push(missingMember(root, pattern));",
      becomes: "",
      tests: ["workspace/members", "tasks/workspace-run"],
    },
    {
      fault: "workspaces with settings alone are an error",
      text: `if (list === undefined && typeof workspaces === "object") return null; // only settings, such as catalogs`,
      becomes: "",
      tests: ["workspace/members"],
    },
  ],
  "src/workspace/package-json.ts": [
    {
      fault: "an inherited property is a script",
      text: "return Object.hasOwn(scripts, name) ? scripts[name] : undefined;",
      becomes: "return scripts[name];",
      tests: ["workspace/package-json", "run/script", "run/resolution"],
    },
    {
      fault: "an empty script is one",
      text: ` && command !== "" ? command : null;`,
      becomes: " ? command : null;",
      tests: ["workspace/package-json", "run/script", "cli/command-line"],
    },
    {
      fault: "a package.json with an array in it is accepted",
      text: " && !Array.isArray(value);",
      becomes: ";",
      tests: ["workspace/package-json", "cli/malformed-package"],
    },
    {
      fault: "a file in the place of a directory is an error",
      text: `content === "ENOENT" || content === "ENOTDIR"`,
      becomes: `content === "ENOENT"`,
      tests: ["workspace/package-json", "workspace/members", "run/unwritable"],
    },
  ],
  "src/workspace/lenient-json.ts": [
    {
      fault: "columns count from 0",
      text: "this.column = offset - start + 1;",
      becomes: "this.column = offset - start;",
      tests: ["workspace/package-json", "cli/malformed-package"],
    },
    {
      fault: "a member named __proto__ is the prototype",
      text: "Object.defineProperty(value, key, {",
      becomes:
        "(key === '__proto__' ? Object.setPrototypeOf(value, {}) : Object).defineProperty?.(value, key, {",
      tests: ["workspace/package-json"],
    },
    {
      fault: "nesting has no end",
      text: "if (++depth > DEEPEST)",
      becomes: "if (depth > DEEPEST)",
      tests: ["workspace/package-json"],
    },
    {
      fault: "what stands behind the value is not looked at",
      text: "if (at < text.length) fail(`expected the end of the file",
      becomes: "if (false) fail(`expected the end of the file",
      tests: ["workspace/package-json"],
    },
    {
      fault: "a comment without an end is one",
      text: `if (end < 0) fail("expected */ to close this comment");`,
      becomes: "",
      tests: ["workspace/package-json"],
    },
  ],
  "src/nearest.ts": [
    {
      fault: "a name with nothing in common is suggested",
      text: " && edits < wanted.length; // something of it is left",
      becomes: ";",
      tests: ["cli/nearest"],
    },
    {
      fault: "the farthest name comes first",
      text: "a.score - b.score ||",
      becomes: "b.score - a.score ||",
      tests: ["cli/nearest"],
    },
  ],
} satisfies MutantTable;
