// Manages one artifact store for the main scope, and one for the scope of each `write-own` token.
//
//   <directory>/{blobs,names,drafts}                     main scope
//               own/<SHA-256 of the scope's name>/...    scope of a `write-own` token
//
// Invariants:
// - An upload evicts only artifacts of its scope. The main scope has three quarters of the limit, and `write-own`
//   tokens share the rest equally. Without such tokens the main scope has all.
// - A scope is removed with its token, so that no other token uses its space.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { hashBytes } from "../store/file-hash-cache.ts";
import { ArtifactStore } from "./artifact-store.ts";

export const MAIN = "";
/** Share of the limit for all `write-own` tokens. */
const OWN_SHARE = 0.25;

export class ArtifactStores {
  readonly #directory: string;
  readonly #limit: number;
  readonly #main: ArtifactStore;
  #own = new Map<string, ArtifactStore>();
  #scopes: string | undefined;

  /**
   * @param limit bytes @param scopes of `write-own` tokens
   * @throws an Error with a complete sentence, or the system's error
   */
  constructor(directory: string, limit: number, scopes: readonly string[]) {
    this.#directory = directory;
    this.#limit = limit;
    this.#main = new ArtifactStore(directory, limit);
    this.setScopes(scopes);
  }

  /** Bytes. */
  get size(): number {
    return this.#own.values().reduce((sum, { size }) => sum + size, this.#main.size);
  }

  /** Adds and removes stores so that they match the present tokens. */
  setScopes(scopes: readonly string[]): void {
    const text = scopes.join("\n");
    if (text === this.#scopes) return;
    const places = new Map(scopes.map((scope) => [scope, hashBytes(scope)]));
    const known = new Set(places.values());
    const own = join(this.#directory, "own");
    for (const name of existsSync(own) ? readdirSync(own) : [])
      if (!known.has(name)) rmSync(join(own, name), { recursive: true, force: true });
    const part = (this.#limit * OWN_SHARE) / scopes.length;
    const before = this.#own;
    this.#own = new Map();
    this.#main.limit = scopes.length === 0 ? this.#limit : this.#limit * (1 - OWN_SHARE);
    for (const [scope, place] of places) {
      const store = before.get(scope) ?? new ArtifactStore(join(own, place), part);
      store.limit = part;
      this.#own.set(scope, store);
    }
    this.#scopes = text;
  }

  /** @param scope the main one, or one of `setScopes` */
  of(scope: string): ArtifactStore {
    return scope === MAIN ? this.#main : this.#own.get(scope)!;
  }

  /**
   * Evicts artifacts when the disk is full. Returns false if nothing was evicted. Artifacts of `write-own` tokens are
   * evicted first, so that these tokens cannot evict the main scope's by filling the disk.
   */
  makeRoom(scope: string): boolean {
    if (scope === MAIN && this.#own.values().reduce((isMade, store) => store.clear() || isMade, false))
      return true;
    return this.of(scope).makeRoom();
  }
}
