// The scripts of a program, as a client sees them: files under their URL, with the text that was written.
import type { Json } from "../engine-connection.ts";
import { type Position, readSourceMap, type SourceMap } from "./source-map.ts";

export interface Script {
  readonly scriptId: string;
  /** For clients. */
  readonly url: string;
  readonly engineUrl: string;
  readonly map?: SourceMap;
  /** The line behind the last that the engine has. */
  readonly endLine: number;
  /** What the client is told. */
  readonly description: Json;
}

export interface Location extends Position {
  readonly scriptId: string;
}

/** What is rt's or the engine's, which no client is shown. */
const OWN = /^(?:bun|rt|internal):|[\\/]rt-files-\d+[\\/]\w+-\w+\.js$/;

/** For the engine: that nobody is to stop there. */
export const PASS_OWN = { url: OWN.source, isRegex: true, caseSensitive: true, shouldBlackbox: true };

export class ScriptRegistry {
  readonly #known = new Map<string, Script>();

  /** From the engine's message; undefined for what is not the user's. */
  add(parsed: Json): Script | undefined {
    const { scriptId, scriptType, sourceMapURL, startLine, startColumn, endLine, endColumn } = parsed;
    const engineUrl = String(parsed.sourceURL || parsed.url || "");
    if (OWN.test(engineUrl)) return undefined;
    const url = toClientUrl(engineUrl);
    const map = readSourceMap(sourceMapURL);
    const lines = map?.source?.split("\n");
    const end = lines
      ? { endLine: lines.length - 1, endColumn: lines.at(-1)!.length }
      : { endLine, endColumn };
    const description = {
      scriptId,
      url,
      startLine: startLine ?? 0,
      startColumn: startColumn ?? 0,
      ...end,
      executionContextId: 1,
      executionContextAuxData: { isDefault: true },
      hash: "",
      isModule: scriptType === "module",
      // Of a file that was itself translated before.
      sourceMapURL: map ? ownMapOf(map.source) : (sourceMapURL ?? ""),
      hasSourceURL: false,
      length: map?.source?.length ?? 0,
      scriptLanguage: "JavaScript",
      embedderName: url,
    };
    return this.keep({
      scriptId,
      url,
      engineUrl,
      endLine: (endLine ?? 0) + 1,
      ...(map ? { map } : {}),
      description,
    });
  }

  keep(script: Script): Script {
    this.#known.set(script.scriptId, script);
    return script;
  }

  get(scriptId: string): Script | undefined {
    return this.#known.get(scriptId);
  }

  /** By its URL or path; the last of those of that name. */
  find(name: string): Script | undefined {
    return [...this.#known.values()].findLast(({ url, engineUrl }) => engineUrl === name || url === name);
  }

  endOf(scriptId: string): number {
    return this.#known.get(scriptId)?.endLine ?? 0;
  }

  all(): Iterable<Script> {
    return this.#known.values();
  }

  clear(): void {
    this.#known.clear();
  }

  /** From the engine's location to the client's. */
  toClient(location: Json): Location {
    const { scriptId, lineNumber = 0, columnNumber = 0 } = location;
    const place = { lineNumber, columnNumber };
    return { scriptId, ...(this.#known.get(scriptId)?.map?.toOriginal(place) ?? place) };
  }

  /** From the client's to the engine's; undefined where no code follows. */
  toEngine({ scriptId, lineNumber, columnNumber = 0 }: Json): Location | undefined {
    const place = { lineNumber, columnNumber };
    const map = this.#known.get(scriptId)?.map;
    const generated = map ? map.toGenerated(place) : place;
    return generated && { scriptId, ...generated };
  }
}

function toClientUrl(url: string): string {
  return /^(?:\/|[a-z]:[\\/])/i.test(url) ? Bun.pathToFileURL(url).href : url;
}

/** By a line at the end; other remarks may stand behind it, a licence or a `debugId`. */
function ownMapOf(source = ""): string {
  for (let end = source.length, start; end >= 0; end = start) {
    start = source.lastIndexOf("\n", end - 1);
    const line = source.slice(start + 1, end).trim();
    const [, url] = /^\/\/[#@] sourceMappingURL=(\S+)$/.exec(line) ?? [];
    if (url !== undefined) return url;
    if (start < 0 || !/^(?:\/\/.*|\/\*.*\*\/)?$/.test(line)) break;
  }
  return "";
}
