// Checks the installation for `rt doctor`: version, PATH, shell, debugger, and the limits for open files and file watching.
//
// Invariants:
// - It is read-only.
// - Findings contain unescaped text from outside rt; the caller escapes it before printing.
import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, dirname } from "node:path";
import { errorReason } from "../../../platform/caught-error.ts";
import type { DiagnosisCheck } from "../../../platform/secrets/contract/secret-provider.ts";
import { host } from "../../../platform/processes/process.ts";
import { temporaryDirectory } from "../../../platform/files/temporary-directory.ts";
import { type WatchLimits, watchLimits } from "../../../platform/files/watch-limits.ts";
import { VERSION } from "../../version.ts";

/** Sufficient for projects with thousands of folders. */
const MIN_WATCH_LIMITS: WatchLimits = { watches: 16_384, instances: 128 };
const MIN_OPEN_FILES = 256;

export function checkInstallation(): DiagnosisCheck[] {
  const limits = watchLimits();
  return [
    {
      name: "version",
      status: "ok",
      found: `rt ${VERSION}, with Bun ${Bun.version} (${Bun.revision.slice(0, 9)}), ${host.system}`,
    },
    { name: "program", status: "ok", found: process.execPath },
    checkPath(process.execPath, host.originalVariable("PATH") ?? ""),
    checkShell(),
    checkDebugger(),
    checkOpenFiles(host.descriptorLimit()),
    ...(limits ? [checkWatching(limits)] : []),
  ];
}

/** Checks that `rt` in PATH resolves to this executable. */
function checkPath(program: string, path: string): DiagnosisCheck {
  const name = "PATH";
  const found = Bun.which("rt", { PATH: path });
  const folder = dirname(program);
  if (found === null)
    return { name, status: "warning", found: "rt is not in PATH", remedy: `add ${folder} to PATH` };
  if (isSame(found, program)) {
    const others = new Set(path.split(delimiter).flatMap((entry) => findIn(entry)));
    others.delete(found);
    const different = [...others].filter((other) => !isSame(other, program));
    const rest = different.length > 0 ? `; it shadows ${different.join(", ")}` : "";
    return { name, status: "ok", found: `rt is ${found}${rest}` };
  }
  return {
    name,
    status: "warning",
    found: `rt in PATH is another executable: ${found}`,
    remedy: `remove it, or put ${folder} before ${dirname(found)} in PATH`,
  };
}

function findIn(folder: string): string[] {
  const found = folder === "" ? null : Bun.which("rt", { PATH: folder });
  return found === null ? [] : [found];
}

function isSame(a: string, b: string): boolean {
  try {
    return realpathSync(a) === realpathSync(b);
  } catch {
    return false;
  }
}

function checkShell(): DiagnosisCheck {
  const name = "shell";
  if (host.defaultShell === "rt") return { name, status: "ok", found: "The built-in shell" };
  const found = host.findShell(host.originalVariable("PATH") ?? "");
  if (found !== undefined) return { name, status: "ok", found };
  return { name, status: "problem", found: "No shell found for scripts", remedy: host.shellHint };
}

/** Checks what the debugger needs: a loopback port, and a writable temporary directory for its preload module. */
function checkDebugger(): DiagnosisCheck {
  const name = "debugger";
  const folder = temporaryDirectory();
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    const found = `Cannot write to ${folder} (${errorReason(error)})`;
    return { name, status: "warning", found, remedy: "set TMPDIR to a writable folder" };
  }
  try {
    Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } }).stop(true);
  } catch (error) {
    const found = `Cannot listen on 127.0.0.1 (${errorReason(error)})`;
    return {
      name,
      status: "warning",
      found,
      remedy: "allow listening on loopback ports, or do not use --inspect",
    };
  }
  return { name, status: "ok", found: "VS Code and others can connect: rt --inspect-brk <file>" };
}

function checkOpenFiles(limit: number): DiagnosisCheck {
  const name = "open files";
  const found = Number.isFinite(limit) ? `limit ${limit}` : "unlimited";
  if (limit >= MIN_OPEN_FILES) return { name, status: "ok", found };
  return { name, status: "warning", found, remedy: "raise the limit: ulimit -n 4096" };
}

function checkWatching({ watches, instances }: WatchLimits): DiagnosisCheck {
  const name = "file watching";
  const found = `${watches} watches, ${instances} inotify instances available`;
  const short = [
    ...(watches < MIN_WATCH_LIMITS.watches ? ["fs.inotify.max_user_watches=524288"] : []),
    ...(instances < MIN_WATCH_LIMITS.instances ? ["fs.inotify.max_user_instances=1024"] : []),
  ];
  if (short.length === 0) return { name, status: "ok", found };
  return { name, status: "warning", found, remedy: `sudo sysctl ${short.join(" ")}` };
}
