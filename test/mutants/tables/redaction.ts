// Mutants of src/redaction, and of how a script with secrets is started.
import type { MutantTable } from "../mutant.ts";

export default {
  "src/redaction/value-variants.ts": [
    {
      fault: "base64 is found at its beginning alone",
      text: "for (const lead of [0, 1, 2]) {",
      becomes: "for (const lead of [0]) {",
      tests: ["redaction/filter"],
    },
    {
      fault: "HTML is not looked for",
      text: ", ...inHtml(value, places)",
      becomes: "",
      tests: ["redaction/filter"],
    },
    {
      fault: "the lines of a key are not looked for",
      text: "value.includes(NEWLINE) ? linesOf(value) : []",
      becomes: "[]",
      tests: ["redaction/filter"],
    },
    {
      fault: "the line that says what a key is is hidden",
      text: 'if (!startsWith(line, "-----")) lines.push',
      becomes: "lines.push",
      tests: ["redaction/filter"],
    },
    {
      fault: "all of a beginning is shown after a while",
      text: "publicLength: Math.min(start + 2, bytes.length >> 1)",
      becomes: "publicLength: bytes.length",
      tests: ["redaction/filter"],
    },
  ],
  "src/runner/task-run/run-redaction.ts": [
    {
      fault: "what runs on shows a value that another one was given since",
      text: "if (isMore) for (const output of open) output.learn(secrets);",
      becomes: "",
      tests: ["secrets/mapping/same-name"],
    },
  ],
  "src/redaction/filter.ts": [
    {
      fault: "a value with colours in it is shown",
      text: "if (between > 0 && between <= MOST_BETWEEN) found.push",
      becomes: "if (between < 0) found.push",
      tests: ["redaction/filter"],
    },
    {
      fault: "a sequence that is a part of a value is shown",
      text: "if (start < end && !touches(literal, base + start, base + end)) spans.push",
      becomes: "if (start < end) spans.push",
      tests: ["redaction/filter"],
    },
    {
      fault: "a value that is cut by colours is not held back",
      text: "if (visible) keep = Math.min(keep, this.#visibleBeginning(piece, visible));",
      becomes: "",
      tests: ["redaction/filter"],
    },
    {
      fault: "what was shown as a mark gets another one",
      text: "if (!region.isMarked) parts.push(",
      becomes: "parts.push(",
      tests: ["redaction/filter"],
    },
    {
      fault: "what overlaps without an end is held without an end",
      text: "if (end - last.start > MOST_MERGED && region.start >= last.start) {",
      becomes: "if (end < 0) {",
      tests: ["redaction/filter"],
    },
    {
      fault: "on the second screen a mark moves what follows it",
      text: "if (!isSecond) return mark;",
      becomes: "return mark;",
      tests: ["redaction/filter"],
    },
    {
      fault: "a value that begins in what is held is missed where a long piece follows",
      text: "some(({ start }) => start < held.length)) return NOTHING;",
      becomes: "some(({ start }) => start < 0)) return NOTHING;",
      tests: ["redaction/filter"],
    },
  ],
  "src/redaction/pattern-matcher.ts": [
    {
      fault: "values stay in memory",
      text: "for (const { bytes } of this.#all) bytes.fill(0);",
      becomes: "",
      tests: ["redaction/filter"],
    },
    {
      fault: "the search skips too far",
      text: "if (skips[gram]! > last - at) skips[gram] = last - at;",
      becomes: "if (skips[gram]! > last - at) skips[gram] = last - at + (at === 0 ? 1 : 0);",
      tests: ["redaction/filter"],
    },
  ],
  "src/redaction/common-values.ts": [
    {
      fault: "a word that stands everywhere is taken without a word",
      text: "return WORDS.has(text) || PATTERN.test(text);",
      becomes: "return false;",
      tests: ["run/attended"],
    },
  ],
  "src/redaction/stream.ts": [
    {
      fault: "a prompt that could begin a value is never shown",
      text: "this.#timer ??= setTimeout(() => this.#look(), PATIENCE);\n    }\n    return pending;",
      becomes: "}\n    return pending;",
      tests: ["redaction/filter", "run/attended"],
    },
    {
      fault: "a value of a few characters is taken",
      text: "  refuseShort(secrets);\n  let patterns",
      becomes: "  let patterns",
      tests: ["redaction/filter"],
    },
  ],
  "src/runner/script/launch.ts": [
    {
      fault: "a hook runs before a value is found to be too short",
      text: "    refuseShort(shown);\n",
      becomes: "",
      tests: ["run/attended"],
    },
    {
      fault: "a hook without secrets shows those of its script",
      text: "await runStep(step, shown, descriptors!, next, early)",
      becomes: "await runStep(step, secretsFor(step.event), descriptors!, next, early)",
      tests: ["run/attended"],
    },
  ],
  "src/runner/task-run/multi-script.ts": [
    {
      fault: "a value that was replaced is shown by what starts again",
      text: "if (!known.some((other) => isSameValue(other, value))) known.push(value);",
      becomes: `{
            const at = known.findIndex(({ name }) => name === value.name);
            known.splice(at < 0 ? known.length : at, 1, value);
          }`,
      tests: ["secrets/mapping/same-name"],
    },
    {
      fault: "a value that another script has is shown",
      text: "if (isCollected) return { ...command, redact: attending.redact };",
      becomes: "if (isCollected) return command;",
      tests: ["tasks/redaction"],
    },
  ],
  "src/runner/script/stdio-strategy.ts": [
    {
      fault: "standard output and error in one file lose their order",
      text: 'isJoined ? "joined" : "pipe"',
      becomes: '"pipe"',
      tests: ["run/attended"],
    },
  ],
  "src/runner/script/redacted-process.ts": [
    {
      fault: "a program goes on writing to a reader that has gone",
      text: "attended.hangUp(descriptor);",
      becomes: "void descriptor;",
      tests: ["run/attended"],
    },
  ],
  "platform/terminal/posix/terminal-sync.ts": [
    {
      fault: "the terminal stays raw",
      text: "if (this.#modes && !isInBackground(outer)) setModes(outer, this.#modes);",
      becomes: "",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "both terminals change line ends",
      text: "setModes(inner, isBehind ? withOutputChanged(modes, false) : modes);",
      becomes: "setModes(inner, modes);",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "nobody looks whether the job is in front again",
      text: "this.#looking = setInterval(() => isInBackground(outer) || this.look(), LOOK_AGAIN_AFTER)",
      becomes: "this.#looking = undefined",
      tests: ["run/attended", "run/attended-jobs"],
    },
  ],
  "platform/terminal/posix/terminal-session.ts": [
    {
      fault: "Ctrl-Z stops nothing",
      text: "const at = isOurs && key !== undefined ? rest.indexOf(key) : -1;",
      becomes: "const at = -1;",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "what is stopped stays so",
      text: '    this.#send(stopped, "SIGCONT");\n',
      becomes: "",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "signals to rt are not passed on",
      text: "this.#told.delete(signal) || this.#send(pid, signal)",
      becomes: "{}",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "Ctrl-C ends the program alone, and not what waits for it",
      text: "      this.#send(0, signal);\n",
      becomes: "",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "a new size is not told",
      text: 'this.#hear("SIGWINCH", () => this.#isOver || this.#terminals.copySize());',
      becomes: "",
      tests: ["run/attended", "run/attended-jobs"],
    },
    {
      fault: "a program outlives its terminal",
      text: "      onEnd: () => this.hangUp(),\n",
      becomes: "      onEnd() {},\n",
      tests: ["run/attended", "run/attended-jobs"],
    },
  ],
} satisfies MutantTable;
