// Registers the scripts of a program as clients see them: source files under their URL, with their original text.
import type { Json } from "../engine-connection.ts";
import { type Position, readSourceMap, type SourceMap } from "./source-map.ts";

export interface Script {
  readonly scriptId: string;
  /** URL for clients. */
  readonly url: string;
  readonly engineUrl: string;
  readonly map?: SourceMap;
  readonly endLine: number;
  /** Parameters of Debugger.scriptParsed. */
  readonly description: Json;
}

export interface Location extends Position {
  readonly scriptId: string;
}

/** URLs of internal scripts, which are hidden from clients. */
const OWN = /^(?:bun|rt|internal):|[\\/]rt-files-\d+[\\/]\w+-\w+\.js$/;

/** Makes the engine never pause in internal scripts. */
export const BLACKBOX_OWN = { url: OWN.source, isRegex: true, caseSensitive: true, shouldBlackbox: true };

export class ScriptRegistry {
  readonly #byId = new Map<string, Script>();

  /** Registers a script from the engine's event. Returns undefined for an internal script. */
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
      // If the source file is itself generated, the client gets that file's own source map.
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
    this.#byId.set(script.scriptId, script);
    return script;
  }

  get(scriptId: string): Script | undefined {
    return this.#byId.get(scriptId);
  }

  /** Finds a script by URL or path. Of several versions the last one is returned. */
  find(name: string): Script | undefined {
    return [...this.#byId.values()].findLast(({ url, engineUrl }) => engineUrl === name || url === name);
  }

  endOf(scriptId: string): number {
    return this.#byId.get(scriptId)?.endLine ?? 0;
  }

  all(): Iterable<Script> {
    return this.#byId.values();
  }

  clear(): void {
    this.#byId.clear();
  }

  /** Converts the engine's location to one in the source file. */
  toClient(location: Json): Location {
    const { scriptId, lineNumber = 0, columnNumber = 0 } = location;
    const position = { lineNumber, columnNumber };
    return { scriptId, ...(this.#byId.get(scriptId)?.map?.toOriginal(position) ?? position) };
  }

  /** Converts a location in the source file to the engine's. Returns undefined if no code follows. */
  toEngine({ scriptId, lineNumber, columnNumber = 0 }: Json): Location | undefined {
    const position = { lineNumber, columnNumber };
    const map = this.#byId.get(scriptId)?.map;
    const generated = map ? map.toGenerated(position) : position;
    return generated && { scriptId, ...generated };
  }
}

function toClientUrl(url: string): string {
  return /^(?:\/|[a-z]:[\\/])/i.test(url) ? Bun.pathToFileURL(url).href : url;
}

/** Reads the `sourceMappingURL` comment at the end. Other comments may follow it, such as a licence or a `debugId`. */
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
