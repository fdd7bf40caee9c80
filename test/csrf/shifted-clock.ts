// Runs the program named by the first argument with an adjustable clock. Each line on stdin is the number of milliseconds that
// the clock is ahead from now on.
const now = Date.now;
let ahead = 0;
Date.now = () => now() + ahead;

await import(process.argv[2]!);

for await (const line of console) {
  ahead = Number(line);
  console.log(`Clock moved by ${ahead}`);
}
export {};
