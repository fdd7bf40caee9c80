// Breakpoints of one client: where it set them, and where they are in the code that runs.
//
// Contract: one that is set for a file which is not loaded yet is set when that is. Several may lie at one place of the
// code, of which the engine takes one; it then has the conditions of all.
import type { Backend } from "../engine-connection.ts";
import type { Location, Script, ScriptRegistry } from "./scripts.ts";

export interface Breakpoint {
  readonly id: string;
  readonly condition: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
  matches(script: Script): boolean;
}

/** One of the engine's. */
interface BreakpointLocation {
  readonly requested: Location;
  readonly owners: Set<Breakpoint>;
  /** What is being done to it; resolves to where it lies in the code, or undefined. */
  state: Promise<{ engineId: string; location: Location } | undefined>;
}

export class Breakpoints {
  readonly #backend: Backend;
  readonly #scripts: ScriptRegistry;
  readonly #onResolved: (id: string, location: Location) => void;
  readonly #all = new Map<string, Breakpoint>();
  readonly #places: BreakpointLocation[] = [];
  readonly #underway = new Set<Promise<unknown>>();
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

  /** @returns where it lies, as the client counts */
  async set(
    wanted: Omit<Breakpoint, "id">,
    label: string,
  ): Promise<{ breakpointId: string; locations: Location[] }> {
    const { lineNumber, columnNumber } = wanted;
    const id = `${(this.#lastId += 1)}:${lineNumber}:${columnNumber}:${label}`;
    const breakpoint = { ...wanted, id };
    this.#all.set(id, breakpoint);
    const scripts = [...this.#scripts.all()].filter((script) => breakpoint.matches(script));
    const found = await Promise.all(scripts.map((script) => this.#put(breakpoint, script)));
    return { breakpointId: id, locations: found.filter((location) => location !== undefined) };
  }

  /** For a script that is new. */
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
      this.#places.map(async (place) => {
        if (breakpoint && place.owners.delete(breakpoint)) await this.#apply(place);
      }),
    );
  }

  async removeAll(): Promise<void> {
    await Promise.allSettled([...this.#all.keys()].map((id) => this.remove(id)));
  }

  clear(): void {
    this.#places.length = 0;
  }

  /** Resolves when all that were asked for so far are where they belong. */
  async settle(): Promise<void> {
    await Promise.all(this.#underway);
  }

  /** Whose conditions hold at a place of the code where the program stands. */
  async hitAt(location: Location, callFrameId: string): Promise<string[]> {
    const hit: string[] = [];
    for (const { owners, state } of this.#places) {
      const placed = await state;
      if (!placed || !isSame(placed.location, location)) continue;
      for (const owner of owners) if (await this.#holds(owner, callFrameId)) hit.push(owner.id);
    }
    return hit;
  }

  /** The client's names for what the engine says was hit. */
  async hitBy(engineId: string, callFrameId: string): Promise<string[]> {
    for (const { owners, state } of this.#places) {
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
    const putting = this.#putNow(breakpoint, script);
    this.#underway.add(putting);
    try {
      return await putting;
    } finally {
      this.#underway.delete(putting);
    }
  }

  async #putNow(breakpoint: Breakpoint, { scriptId }: Script): Promise<Location | undefined> {
    const { lineNumber, columnNumber } = breakpoint;
    const isBeginning = lineNumber === 0 && columnNumber === 0;
    const requested =
      (isBeginning ? await this.#findBeginning(scriptId) : undefined) ??
      this.#scripts.toEngine({ scriptId, lineNumber, columnNumber });
    if (!requested) return undefined;
    let place = this.#places.find((each) => isSame(each.requested, requested));
    if (place) {
      place.owners.add(breakpoint);
      await this.#apply(place);
    } else {
      place = { requested, owners: new Set([breakpoint]), state: Promise.resolve(undefined) };
      this.#places.push(place);
      if (!(await this.#apply(place))) place = await this.#joinNearest(place, breakpoint);
    }
    const placed = await place?.state;
    return placed && this.#scripts.toClient(placed.location);
  }

  /**
   * Left to the engine, a breakpoint at the very beginning lies in the first function of the text. What runs first stands
   * outside of all, and so at the beginning of a line of the text that the engine made.
   */
  async #findBeginning(scriptId: string): Promise<Location | undefined> {
    const start = { scriptId, lineNumber: 0, columnNumber: 0 };
    const locations = await this.#locations(start, Number.MAX_SAFE_INTEGER);
    return locations.find(({ columnNumber }) => columnNumber === 0);
  }

  async #locations(start: Location, lines: number): Promise<Location[]> {
    const { scriptId } = start;
    const lineNumber = Math.min(start.lineNumber + lines, this.#scripts.endOf(scriptId));
    const end = { scriptId, lineNumber, columnNumber: 0 };
    const answer = await this.#backend
      .send("Debugger.getBreakpointLocations", { start, end })
      .catch(() => undefined);
    return (answer?.locations ?? []) as Location[];
  }

  /** The engine refuses what comes to lie where one lies already. */
  async #joinNearest(
    place: BreakpointLocation,
    breakpoint: Breakpoint,
  ): Promise<BreakpointLocation | undefined> {
    this.#places.splice(this.#places.indexOf(place), 1);
    const locations = await this.#locations(place.requested, 1000);
    for (const other of this.#places) {
      const placed = await other.state;
      if (!placed || !locations[0] || !isSame(placed.location, locations[0])) continue;
      other.owners.add(breakpoint);
      await this.#apply(other);
      return other;
    }
    return undefined;
  }

  /** Brings the engine's to what its owners are now. */
  #apply(place: BreakpointLocation): BreakpointLocation["state"] {
    place.state = place.state.then(async (before) => {
      if (before) await this.#backend.send("Debugger.removeBreakpoint", { breakpointId: before.engineId });
      if (place.owners.size === 0) return undefined;
      const conditions = [...place.owners].map(({ condition }) => condition);
      const condition = conditions.includes("")
        ? undefined
        : conditions.length === 1
          ? conditions[0]
          : conditions.map((each) => `(${each}\n)`).join("||");
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
