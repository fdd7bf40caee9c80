// Opens the secrets of a run; returns undefined and loads nothing without secrets.
import { forbidReplay } from "../../../../platform/files/lookup-recorder.ts";
import { host } from "../../../../platform/processes/process.ts";
import { FILE_NAME, mentionsInConfig } from "../../../config/config-file-name.ts";
import type { Config } from "../../../config/rtfig.ts";
import { splitTaskName } from "../../../config/tasks/task-name.ts";
import { grantRowsIn, isFor, type ScriptName } from "../../../secrets/grants/grants.ts";
import type { SecretProvision, Receiver, ShownSecret } from "../../../secrets/grants/secret-provisioning.ts";
import type { RunSettings } from "../../../config/settings/settings.ts";
import { type LocatedPackage, parentDirectory, stepsOf, textField } from "../../../workspace/package-json.ts";
import type { ExecutionPlan } from "../../plan.ts";
import type { Supply } from "../../script/launch.ts";
import { RESTARTED } from "../../engine/internal-variables.ts";

export interface SecretsRequest {
  readonly settings: Pick<RunSettings, "secrets" | "script">;
  readonly config: Config | undefined;
  /** The package whose script runs, or its workspace; without it rtfig.toml grants nothing. */
  readonly directory?: string | undefined;
  /** The scripts that run, if known. */
  readonly scripts?: readonly ScriptName[];
}

/** @throws UserError @throws PackageJsonError */
export async function openSecrets(request: SecretsRequest): Promise<SecretProvision | undefined> {
  const { settings, config, directory } = request;
  const isForScripts = directory !== undefined && isRelevant(request, directory);
  if (settings.secrets.length === 0 && !isForScripts) return undefined;
  forbidReplay(); // trust is not recorded
  const { openProvision } = await import("../../../secrets/grants/secret-provisioning.ts");
  const { secrets: asked, script } = settings;
  const from = directory ?? process.cwd();
  const isRestart = host.originalVariable(RESTARTED) === `${process.ppid}`;
  return openProvision({ asked, from, config, isForScripts, showsSecrets: script.showsSecrets, isRestart });
}

/** Whether the applicable rtfig.toml may grant a secret to one of these scripts, or withhold one. */
function isRelevant(request: SecretsRequest, directory: string): boolean {
  const { config } = request;
  if (config && config.file !== FILE_NAME) return grantsOrWithholds(config, request);
  if (!config || directory !== process.cwd()) return mentionsInConfig(directory, "secrets");
  const above = parentDirectory(directory);
  return grantsOrWithholds(config, request) || (above !== null && mentionsInConfig(above, "secrets"));
}

function grantsOrWithholds({ content }: Config, { scripts, settings }: SecretsRequest): boolean {
  const rows = grantRowsIn(content).map(({ pattern }) => splitTaskName(pattern));
  return (
    rows.some((row) => !scripts || scripts.some((script) => isFor(row, script))) ||
    hasVariable(Object.keys(content.secrets ?? {}), settings)
  );
}

/** Whether a script would inherit one of these variables without a grant. */
function hasVariable(names: readonly string[], { script }: SecretsRequest["settings"]): boolean {
  return (
    names.length > 0 &&
    (script.envFiles.length > 0 || names.some((name) => host.originalVariable(name) !== undefined))
  );
}

/** The identity of a script or hook for grants. */
export function receiverOf(
  { manifest }: Pick<LocatedPackage, "manifest">,
  event: string,
  isHook: boolean,
  isDependency = false,
): ScriptName {
  return {
    package: textField(manifest, "name"),
    script: event,
    isHook,
    ...(isDependency && { isDependency }),
  };
}

export interface TargetSecrets {
  readonly provision: SecretProvision;
  readonly receivers: readonly Receiver[];
  /** False if secrets are only withheld or redacted. */
  readonly isGiven: boolean;
  /** The secrets' names and sources, known before the values are fetched. */
  readonly shown: readonly ShownSecret[];
  /** Inherited descriptors beyond the standard three, without the connection to the credential store. */
  readonly descriptors: readonly number[];
}

/** Undefined if the target gets no secrets. @throws UserError @throws PackageJsonError */
export async function openTargetSecrets(
  plan: ExecutionPlan,
  settings: RunSettings,
  config: Config | undefined,
): Promise<TargetSecrets | undefined> {
  if (plan.mode === "nothing" || plan.mode === "refuse") return undefined;
  if (plan.mode !== "script") {
    const provision = await openSecrets({ settings, config });
    return provision && targetSecrets(provision, ["target"]);
  }
  const { package: located, name } = plan.target;
  const receivers = receiversOf(located, name);
  const { directory } = located;
  const provision = await openSecrets({ settings, config, directory, scripts: receivers });
  const secrets = provision && targetSecrets(provision, receivers);
  const isConcerned =
    secrets &&
    (secrets.isGiven ||
      provision.inherited.length > 0 ||
      hasVariable(
        receivers.flatMap((receiver) => provision.withheldFrom(receiver)),
        settings,
      ));
  return isConcerned ? secrets : undefined;
}

function targetSecrets(provision: SecretProvision, receivers: readonly Receiver[]): TargetSecrets {
  const shown = receivers.flatMap((receiver) => provision.shown(receiver));
  return { provision, receivers, shown, isGiven: shown.length > 0, descriptors: host.inheritedDescriptors() };
}

/** The script and its hooks. */
function receiversOf(located: LocatedPackage, name: string): ScriptName[] {
  return stepsOf(located.manifest, name).map(({ scriptName, isMain }) =>
    receiverOf(located, scriptName, !isMain),
  );
}

export async function fetchFor(secrets: TargetSecrets | undefined): Promise<Supply | undefined> {
  if (!secrets) return undefined;
  const { provision, receivers, descriptors } = secrets;
  await provision.fetch(receivers);
  const receiverFor = (event?: string) =>
    receivers.find((each) => each === "target" || each.script === event);
  return { ...supplyOf(provision, receiverFor), descriptors };
}

/** Returns accessors for the granted and withheld secrets of a provision. */
export function supplyOf(
  provision: SecretProvision,
  receiverFor: (event?: string) => Receiver | undefined,
): Supply {
  return {
    inherited: provision.inherited,
    secretsFor(event) {
      const receiver = receiverFor(event);
      return receiver ? provision.valuesFor(receiver) : [];
    },
    withheldFrom(event) {
      const receiver = receiverFor(event);
      return receiver ? provision.withheldFrom(receiver) : [];
    },
  };
}
