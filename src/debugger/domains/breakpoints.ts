// The breakpoints of one client: where it set them, and where they are in the running code.
//
// Invariants:
// - A breakpoint for a file that is not loaded is set when the file is loaded.
// - The engine accepts one breakpoint per location. Several breakpoints at one location share it; their conditions are joined.
import type { Backend } from "../engine-connection.ts";
import type { Location, Script, ScriptRegistry } from "./scripts.ts";

export interface Breakpoint {
  readonly id: string;
  readonly condition: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
  matches(script: Script): boolean;
}

/** One breakpoint of the engine. */
interface BreakpointLocation {
  readonly requested: Location;
  readonly owners: Set<Breakpoint>;
  /** The pending change; resolves to the actual location, or undefined if the engine rejected it. */
  state: Promise<{ engineId: string; location: Location } | undefined>;
}

export class Breakpoints {
  readonly #backend: Backend;
  readonly #scripts: ScriptRegistry;
  readonly #onResolved: (id: string, location: Location) => void;
  readonly #all = new Map<string, Breakpoint>();
  readonly #locations: BreakpointLocation[] = [];
  readonly #pending = new Set<Promise<unknown>>();
  #lastId = 0;

  constructor(
    backend: Backend,
    scripts: ScriptRegistry,
    onResolved: (id: string, location: Location) => void,
  ) {
    this.#backend = backend;
    this.#scripts = scripts;
    this.#onResolved = onResolved;
  }

  /** Sets a breakpoint. The returned locations are positions in the file. */
  async set(
    wanted: Omit<Breakpoint, "id">,
    label: string,
  ): Promise<{ breakpointId: string; locations: Location[] }> {
    const { lineNumber, columnNumber } = wanted;
    const id = `${(this.#lastId += 1)}:${lineNumber}:${columnNumber}:${label}`;
    const breakpoint = { ...wanted, id };
    this.#all.set(id, breakpoint);
    const scripts = [...this.#scripts.all()].filter((script) => breakpoint.matches(script));
    const locations = await Promise.all(scripts.map((script) => this.#put(breakpoint, script)));
    return { breakpointId: id, locations: locations.filter((location) => location !== undefined) };
  }

  /** Sets the matching breakpoints in a new script. */
  onScript(script: Script): void {
    for (const breakpoint of this.#all.values()) {
      if (!breakpoint.matches(script)) continue;
      this.#put(breakpoint, script).then(
        (location) => {
          if (location && this.#all.has(breakpoint.id)) this.#onResolved(breakpoint.id, location);
        },
        () => {},
      );
    }
  }

  async remove(id: string): Promise<void> {
    const breakpoint = this.#all.get(id);
    this.#all.delete(id);
    await Promise.all(
      this.#locations.map(async (place) => {
        if (breakpoint && place.owners.delete(breakpoint)) await this.#apply(place);
      }),
    );
  }

  async removeAll(): Promise<void> {
    await Promise.allSettled([...this.#all.keys()].map((id) => this.remove(id)));
  }

  clear(): void {
    this.#locations.length = 0;
  }

  /** Resolves when all requested breakpoints are set. */
  async settle(): Promise<void> {
    await Promise.all(this.#pending);
  }

  /** Returns the IDs of the breakpoints at a location whose conditions are true. */
  async hitAt(location: Location, callFrameId: string): Promise<string[]> {
    const hit: string[] = [];
    for (const { owners, state } of this.#locations) {
      const placed = await state;
      if (!placed || !isSame(placed.location, location)) continue;
      for (const owner of owners) if (await this.#holds(owner, callFrameId)) hit.push(owner.id);
    }
    return hit;
  }

  /** Returns the IDs of the client's breakpoints for one that the engine hit. */
  async hitBy(engineId: string, callFrameId: string): Promise<string[]> {
    for (const { owners, state } of this.#locations) {
      if ((await state)?.engineId !== engineId) continue;
      if (owners.size === 1) return [...owners].map(({ id }) => id);
      const hit: string[] = [];
      for (const owner of owners) if (await this.#holds(owner, callFrameId)) hit.push(owner.id);
      return hit;
    }
    return [];
  }

  async #holds({ condition }: Breakpoint, callFrameId: string): Promise<boolean> {
    if (condition === "") return true;
    const expression = `!!(${condition}\n)`;
    const options = { doNotPauseOnExceptionsAndMuteConsole: false, returnByValue: true };
    const answer = await this.#backend
      .send("Debugger.evaluateOnCallFrame", { callFrameId, expression, ...options })
      .catch(() => undefined);
    return answer?.result?.value === true && !answer.wasThrown;
  }

  async #put(breakpoint: Breakpoint, script: Script): Promise<Location | undefined> {
    const change = this.#putNow(breakpoint, script);
    this.#pending.add(change);
    try {
      return await change;
    } finally {
      this.#pending.delete(change);
    }
  }

  async #putNow(breakpoint: Breakpoint, { scriptId }: Script): Promise<Location | undefined> {
    const { lineNumber, columnNumber } = breakpoint;
    const isBeginning = lineNumber === 0 && columnNumber === 0;
    const requested =
      (isBeginning ? await this.#findBeginning(scriptId) : undefined) ??
      this.#scripts.toEngine({ scriptId, lineNumber, columnNumber });
    if (!requested) return undefined;
    let place = this.#locations.find((each) => isSame(each.requested, requested));
    if (place) {
      place.owners.add(breakpoint);
      await this.#apply(place);
    } else {
      place = { requested, owners: new Set([breakpoint]), state: Promise.resolve(undefined) };
      this.#locations.push(place);
      if (!(await this.#apply(place))) place = await this.#joinNearest(place, breakpoint);
    }
    const placed = await place?.state;
    return placed && this.#scripts.toClient(placed.location);
  }

  /**
   * Finds the first location outside of functions, which is at the start of a line of the transpiled text. The engine would
   * move a breakpoint at the start of the script into the first function.
   */
  async #findBeginning(scriptId: string): Promise<Location | undefined> {
    const start = { scriptId, lineNumber: 0, columnNumber: 0 };
    const locations = await this.#possibleLocations(start, Number.MAX_SAFE_INTEGER);
    return locations.find(({ columnNumber }) => columnNumber === 0);
  }

  async #possibleLocations(start: Location, lines: number): Promise<Location[]> {
    const { scriptId } = start;
    const lineNumber = Math.min(start.lineNumber + lines, this.#scripts.endOf(scriptId));
    const end = { scriptId, lineNumber, columnNumber: 0 };
    const answer = await this.#backend
      .send("Debugger.getBreakpointLocations", { start, end })
      .catch(() => undefined);
    return (answer?.locations ?? []) as Location[];
  }

  /** Adds the breakpoint to an existing one at the same location, because the engine rejects a second one. */
  async #joinNearest(
    place: BreakpointLocation,
    breakpoint: Breakpoint,
  ): Promise<BreakpointLocation | undefined> {
    this.#locations.splice(this.#locations.indexOf(place), 1);
    const locations = await this.#possibleLocations(place.requested, 1000);
    for (const other of this.#locations) {
      const placed = await other.state;
      if (!placed || !locations[0] || !isSame(placed.location, locations[0])) continue;
      other.owners.add(breakpoint);
      await this.#apply(other);
      return other;
    }
    return undefined;
  }

  /** Replaces the engine's breakpoint by one with the conditions of the current owners. */
  #apply(place: BreakpointLocation): BreakpointLocation["state"] {
    place.state = place.state.then(async (before) => {
      if (before) await this.#backend.send("Debugger.removeBreakpoint", { breakpointId: before.engineId });
      if (place.owners.size === 0) return undefined;
      const conditions = [...place.owners].map(({ condition }) => condition);
      const condition = conditions.includes("")
        ? undefined
        : conditions.length === 1
          ? conditions[0]
          : conditions.map((each) => `(()=>{try{return(${each}\n)}catch{}})()`).join("||"); // one may throw
      const options = condition === undefined ? {} : { options: { condition } };
      return await this.#backend
        .send("Debugger.setBreakpoint", { location: place.requested, ...options })
        .then(({ breakpointId, actualLocation }) => ({ engineId: breakpointId, location: actualLocation }))
        .catch(() => undefined);
    });
    return place.state;
  }
}

function isSame(a: Location, b: Location): boolean {
  return a.scriptId === b.scriptId && a.lineNumber === b.lineNumber && a.columnNumber === b.columnNumber;
}
