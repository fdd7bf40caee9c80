// Entry points whose extension is not one of source code, which the engine's rules classify.
import { compareAll, type Fixture } from "./compare.ts";

const CODE = 'console.log("code", process.argv.length, typeof Bun);';

const AS_CODE: readonly Fixture[] = ["", ".foo", ".vue", ".svg", ".csv", ".es6", ".jsonl"].map(
  (extension) => ({
    name: `code in a file that ends in "${extension}"`,
    files: { [`main${extension}`]: CODE },
    args: [`./main${extension}`, "a"],
  }),
);

const OTHERS: readonly Fixture[] = [
  {
    name: "a script for the engine's shell",
    files: { "main.sh": "echo one\necho two $1 $2\nexit 3\n" },
    args: ["./main.sh", "a", "b c"],
  },
  {
    name: "a script for the engine's shell, without ./",
    files: { "main.sh": "echo one $1\n" },
    args: ["main.sh", "a"],
  },
  {
    name: "a script with a syntax error for the engine's shell",
    files: { "main.sh": "echo (" },
    args: ["./main.sh"],
  },
  { name: "invalid XML", files: { "main.xml": CODE }, args: ["./main.xml"] },
  { name: "an addon as entry point", files: { "main.node": "none" }, args: ["./main.node"] },
];

compareAll("other extensions", [...AS_CODE, ...OTHERS]);
