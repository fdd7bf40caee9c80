// Gives a lifecycle script of a dependency its permissions: rules, variables and explanations.
import { dirname, join } from "node:path";
import type { PermissionRules, RefusedCall } from "../../platform/permissions/contract/permissions.ts";
import type { Child, ChildRequest } from "../../platform/processes/contract/process-tree.ts";
import type { InstallTable } from "../config/settings/install-scripts.ts";
import { oneLine } from "../printable.ts";
import { listOwnFolders, makeWritableFolders, resolveRules } from "./child-rules.ts";
import { openTracing, startObserved } from "./observed-start.ts";
import { computeProfile } from "./profile.ts";
import { explainRefusal } from "./refusal-text.ts";
import { findFileNeeds } from "./trace-needs.ts";
import { resolverVariables, selectVariables } from "./variables.ts";

export interface InstalledPackage {
  readonly name: string;
  /** Absolute, without symlinks. */
  readonly folder: string;
  readonly table: InstallTable;
  /** The script, such as "postinstall". */
  readonly event: string;
}

interface InstallSurroundings {
  /** Folder of the root project, which the entries of the table are relative to. */
  readonly root: string;
  readonly home: string;
  /** Private folder of the script, with `home` and `config`. */
  readonly temporary: string;
  readonly path: string;
}

/** Caches of compilers, below HOME. */
const COMPILER_CACHES = [".cache/ccache", ".ccache", ".cache/sccache", ".cache/Mozilla.sccache"];

/** Variables of compilers and of builds, besides those of tasks. docs/guides/permissions.md has this list. */
const BUILD_VARIABLES = [
  ...["CC", "CXX", "AR", "LD", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS", "JOBS", "PYTHON"],
  ...["PKG_CONFIG_PATH", "CMAKE_BUILD_PARALLEL_LEVEL", "npm_config_arch", "npm_config_platform"],
  ...["npm_config_libc", "npm_config_target", "npm_config_runtime", "npm_config_build_from_source"],
  ...["npm_config_python", "npm_config_jobs", "npm_config_nodedir", "npm_config_loglevel"],
];

export class InstallPermissions {
  readonly rules: PermissionRules;
  readonly #package: InstalledPackage;
  readonly #surroundings: InstallSurroundings;

  /** @throws UserError */
  constructor(installed: InstalledPackage, surroundings: InstallSurroundings) {
    this.#package = installed;
    this.#surroundings = surroundings;
    const { folder, table } = installed;
    const { root, home, temporary, path } = surroundings;
    const absolute = (entries: readonly string[] = []) =>
      entries.map((entry) => (/^(?:\/|~)/.test(entry) ? entry : join(root, entry)));
    const caches = COMPILER_CACHES.map((each) => join(home, each));
    const profile = computeProfile(
      {
        read: absolute(table.read),
        write: [folder, ...caches, ...absolute(table.write)],
        hosts: table.hosts ?? [],
        sockets: absolute(table.sockets),
      },
      {
        root: folder,
        packageDirectory: folder,
        home,
        path: path.split(":"),
        otherPackages: [],
        ownFolders: listOwnFolders(),
        named: [...foldersOfModules(folder), join(root, "package.json")],
        isRoot: process.getuid?.() === 0,
      },
    );
    makeWritableFolders(profile, this.#label, root);
    this.rules = resolveRules(profile, home, temporary);
  }

  get #label(): string {
    return `${oneLine(this.#package.name)} (${oneLine(this.#package.event)})`;
  }

  selectEnvironment(
    original: Readonly<Record<string, string>>,
    native: Readonly<Record<string, string>>,
  ): Record<string, string> {
    const { temporary, path } = this.#surroundings;
    const {
      XDG_CACHE_HOME: _cache,
      XDG_DATA_HOME: _data,
      ...selected
    } = selectVariables(original, original, [...BUILD_VARIABLES, ...(this.#package.table.env ?? [])]);
    return {
      ...native,
      ...selected,
      ...resolverVariables(this.#package.table.hosts, selected),
      PATH: path,
      HOME: join(temporary, "home"),
      XDG_CONFIG_HOME: join(temporary, "config"),
      TMPDIR: temporary,
      TMP: temporary,
      TEMP: temporary,
      GIT_CONFIG_GLOBAL: "/dev/null",
      RT_PERMISSIONS: "1",
    };
  }

  /** Returns undefined for a refusal without an effect. */
  explain(refusal: RefusedCall): string | undefined {
    const { name, table } = this.#package;
    const { root, home } = this.#surroundings;
    const section = ["install", "permissions", name];
    const base = { root, packageDirectory: root, home };
    return explainRefusal({ label: this.#label, section, table, base, otherPackages: [] }, refusal)?.message;
  }

  describeFailure(isTraced: boolean): string {
    const next = isTraced ? "see rt help permissions" : "use --explain, which names the file";
    return `${this.#label} ran with permissions; if a file was closed to it ("Permission denied"), ${next}`;
  }

  /** Starts the script under the tracer, which names refused files. @throws UserError */
  async startTraced(request: ChildRequest): Promise<Child> {
    const tracing = openTracing("--explain");
    const { folder } = this.#package;
    return startObserved(request, {
      tracing,
      isEnforced: true,
      findNeeds: (trace) => findFileNeeds(trace, this.rules, folder),
    });
  }
}

/** The folders in which Node.js looks up dependencies of a package. */
function foldersOfModules(folder: string): string[] {
  const folders: string[] = [];
  for (let place = folder; place !== "/"; place = dirname(place))
    folders.push(place.endsWith("/node_modules") ? place : join(place, "node_modules"));
  return folders;
}
