// Mutants of what is remembered of a whole run: each would tell a hit that is none, or keep what it must not.
import type { MutantTable } from "../mutant.ts";

const tests = ["cache/recall"];

export default {
  "src/cache/memo/run-memo.ts": [
    {
      fault: "a plan counts whatever has happened to what it was made from",
      text: `if (!this.#isSame(row)) return false;
    return true;`,
      becomes: "if (!this.#isSame(row)) return true;\n    return true;",
      tests,
    },
    {
      fault: "a hit counts whatever has happened to what it was judged by",
      text: "return known?.rows.every((row) => this.#isSame(row)) ? known.part : undefined;",
      becomes: "return known?.part;",
      tests,
    },
    {
      fault: "what was seen before something ran counts afterwards",
      text: `  end(): void {
    this.#verdicts = undefined;`,
      becomes: "  end(): void {",
      tests,
    },
    {
      fault: "of a stamp the kind alone counts",
      text: "if ((how & WHOLE) === 0)",
      becomes: "if (how < 4)",
      tests,
    },
    {
      fault: "the last words of a stamp do not count",
      text: "word < STAMP_WORDS; word += 1)",
      becomes: "word < 3; word += 1)",
      tests,
    },
    {
      fault: "links are not followed where they were",
      text: "(how & FOLLOWS) !== 0",
      becomes: "false",
      tests,
    },
    {
      fault: "what others have written is read",
      text: `makePrivate(directoryOf(store));
  return true;`,
      becomes: "return true;",
      tests,
    },
    {
      fault: "all that was ever written is kept",
      text: "if (names.length <= MOST) return;",
      becomes: "if (names.length > 0) return;",
      tests,
    },
  ],
  "src/cache/memo/path-observations.ts": [
    {
      fault: "what has just changed is remembered",
      text: "return stamps!.changeOf(stamp) < this.#before;",
      becomes: "return true;",
      tests,
    },
    {
      fault: "names that were listed are not looked at",
      text: `if (type === DIRECTORY && how !== "names")`,
      becomes: "if (type === DIRECTORY)",
      tests,
    },
    {
      fault: "the file of an entry is not looked at",
      text: `for (const path of [file, finding]) sights.set(path, sightOf("state"));`,
      becomes: "",
      tests,
    },
    {
      fault: "what globs mean counts as looked at",
      text: `if (GLOB.test(glob) || (kind !== "file" && kind !== "absent")) return undefined;`,
      becomes: "",
      tests,
    },
  ],
  "src/cache/entry/entry-validation.ts": [
    {
      fault: "what another script has looked at is not noted of this one",
      text: "else world.look(path); //",
      becomes: "//",
      tests,
    },
  ],
  "src/cache/memo/file-system-view.ts": [
    {
      fault: "what is looked at is not noted",
      text: `if (sights.get(path)?.how !== "names") sights.set(path, sightOf("state", state.kind));`,
      becomes: "",
      tests,
    },
    {
      fault: "what is listed is not noted",
      text: `sights.set(path, sightOf("names", names ? "directory" : "absent"));`,
      becomes: "",
      tests,
    },
  ],
  "src/runner/task-run/memoized-run.ts": [
    {
      fault: "the environment is no part of the question",
      text: "environment: host.originalEnvironment(),",
      becomes: "environment: {},",
      tests,
    },
    {
      fault: "the words are no part of the question",
      text: "[host.exactArguments(process.argv.slice(2)), cwd, settings, ",
      becomes: "[cwd, ",
      tests,
    },
    {
      fault: "an entry is never marked as used again",
      text: "known.used < Date.now() - HOUR || known.used > Date.now()",
      becomes: "known.used > Date.now()",
      tests,
    },
    {
      fault: "the memory does not end when something starts",
      text: "this.#known?.run.end();",
      becomes: "",
      tests,
    },
    {
      fault: "what is asked once is remembered at once",
      text: "if (isExpectedAgain) noteHits();",
      becomes: "noteHits();",
      tests,
    },
    {
      fault: "a plan with something wrong is remembered",
      text: "return tasks.length >= FEWEST && notices.length === 0 && cycles.length === 0 && !isIncomplete;",
      becomes: "return tasks.length >= FEWEST;",
      tests,
    },
    {
      fault: "a package.json is read when something may have changed it",
      text: "void task.manifest;",
      becomes: ";",
      tests,
    },
  ],
  "platform/files/files.ts": [
    {
      fault: "what was read is not noted",
      text: "if (seen) note(seen, path, content);",
      becomes: "",
      tests,
    },
  ],
  "platform/files/directories.ts": [
    {
      fault: "listings are not noted",
      text: `glances()?.note(path, "names", listing !== null);`,
      becomes: "",
      tests,
    },
    {
      fault: "what was read below a directory is not noted",
      text: `seen.note(\`\${directory === "/" ? "" : directory}/\${name}\`, "content", text !== null);`,
      becomes: "",
      tests,
    },
  ],
  "platform/processes/program-search.ts": [
    {
      fault: "where a program might have been is not noted",
      text: "if (glances()) note(name, where, found);",
      becomes: "",
      tests,
    },
  ],
} satisfies MutantTable;
