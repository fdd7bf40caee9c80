// Side-by-side samples in short alternating batches, so that a slow machine slows all of them. Medians ignore a disturbance of a
// single batch.

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}

/** Returns the nanoseconds per call in each round, for every contender. `call` gets a running number. */
export function sampleRates(
  contenders: readonly ((call: number) => unknown)[],
  rounds: number,
  batch: number,
): number[][] {
  for (const contender of contenders) for (let call = 0; call < 20_000; call++) contender(call);
  const samples = contenders.map(() => [] as number[]);
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contenders.length; turn++) {
      // Each contender is first equally often, because a pending garbage collection affects the first.
      const index = (turn + round) % contenders.length;
      const contender = contenders[index]!;
      const start = Bun.nanoseconds();
      for (let call = 0; call < batch; call++) contender(call);
      samples[index]!.push((Bun.nanoseconds() - start) / batch);
    }
  }
  return samples;
}

/** Runs a bench module in another program and returns the rows that it prints with `--json`. */
export function measureIn<T>(program: string, module: string): T {
  const child = Bun.spawnSync([program, module, "--json"], { stderr: "inherit" });
  if (child.exitCode !== 0) throw new Error(`${program} ${module} ended with ${child.exitCode}`);
  return JSON.parse(child.stdout.toString()) as T;
}

/** The `rt` object when the compiled program runs this module; undefined in the engine alone. */
export function runningRt(): { CSRF: typeof import("../../src/csrf/csrf.ts").CSRF } | undefined {
  return (globalThis as { rt?: { CSRF: typeof import("../../src/csrf/csrf.ts").CSRF } }).rt;
}
