// Runs the program named by the first argument with a clock that the test moves: each line on stdin is a
// number of milliseconds to be ahead from now on.
const now = Date.now;
let ahead = 0;
Date.now = () => now() + ahead;

await import(process.argv[2]!);

for await (const line of console) {
  ahead = Number(line);
  console.log(`Clock moved by ${ahead}`);
}
export {};
