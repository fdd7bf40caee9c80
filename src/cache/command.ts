// `rt cache`: how much is kept, why a script ran or did not, and an end to all of it.
import { existsSync, rmSync } from "node:fs";
import { nearest } from "../nearest.ts";
import { Failure } from "../failure.ts";
import { oneLine } from "../printable.ts";
import { type Finding, parseFinding } from "./finding.ts";
import { Store, storeDirectory } from "./store.ts";

const WORDS = ["status", "clear", "why", "import", "serve", "token"];

/** Throws Failure. */
export function answerCache([word = "status", ...rest]: readonly string[]): string {
  const directory = storeDirectory();
  if (directory === undefined)
    throw new Failure("Nothing says where the cache is", "set HOME or XDG_CACHE_HOME");
  switch (word) {
    case "status":
      return describeStatus(directory);
    case "clear":
      rmSync(directory, { recursive: true, force: true });
      return "Nothing is kept any more";
    case "why":
      return explain(directory, rest);
  }
  const [similar] = nearest(word, WORDS);
  throw new Failure(
    `rt cache knows no "${word}"`,
    similar ? `did you mean ${similar}?` : "rt cache status, rt cache clear, rt cache why <script>",
  );
}

function describeStatus(directory: string): string {
  if (!existsSync(directory)) return `Nothing is kept in ${oneLine(directory)}`;
  const { size, entries } = new Store(directory).measure();
  return `${entries} ${entries === 1 ? "run" : "runs"} in ${(size / 1e6).toFixed(1)} MB, in ${oneLine(directory)}`;
}

function explain(directory: string, [script, ...more]: readonly string[]): string {
  if (script === undefined || more.length > 0)
    throw new Failure("rt cache why needs one script", "as in: rt cache why build");
  const findings = existsSync(directory) ? allFindings(new Store(directory)) : [];
  const meant = findings.filter(({ label }) => label === script || label.split(/[ :]/).includes(script));
  if (meant.length === 0)
    throw new Failure(`Nothing is known of a script "${script}"`, "it has not run with [run.cache] yet");
  return meant
    .toSorted((a, b) => b.at - a.at)
    .map(({ label, text, at }) => `${oneLine(label)}, ${new Date(at).toISOString()}: ${oneLine(text)}`)
    .join("\n");
}

function allFindings(store: Store): Finding[] {
  return store.scripts().flatMap((name) => parseFinding(store.readFinding(name)) ?? []);
}
