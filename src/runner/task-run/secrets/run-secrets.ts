// Fetches the secrets of a run's tasks, and redacts them.
import type { SecretValue } from "../../../redaction/secret-value.ts";
import type { Receiver, SecretProvision } from "../../../secrets/grants/secret-provisioning.ts";
import type { ScriptTask, TaskSecrets } from "../../../tasks/task.ts";
import { createRunRedaction, isSameValue, type RunRedaction } from "./run-redaction.ts";
import { receiverOf } from "./target-secrets.ts";

export class RunSecrets implements TaskSecrets {
  readonly provision: SecretProvision;
  /** Undefined until a value has to be redacted. */
  redaction: RunRedaction | undefined;
  /**
   * All values to redact: inherited and fetched ones. A watched run keeps replaced values, because scripts may
   * still run with them.
   */
  readonly #known: SecretValue[];

  constructor(provision: SecretProvision) {
    this.provision = provision;
    this.#known = [...provision.inherited];
  }

  readonly of: TaskSecrets["of"] = (manifest, scriptName, isMain, isDependency) =>
    this.provision.shown(receiverOf({ manifest }, scriptName, !isMain, isDependency));

  async fetch(tasks: readonly ScriptTask[]): Promise<void> {
    const receivers = tasks.flatMap(receiversIn);
    await this.provision.fetch(receivers);
    const known = this.#known;
    for (const value of receivers.flatMap((receiver) => this.provision.valuesFor(receiver)))
      if (!known.some((other) => isSameValue(other, value))) known.push(value);
    if (this.redaction) this.redaction.setSecrets(known);
    else if (known.some(({ isRedacted }) => isRedacted)) this.redaction = await createRunRedaction(known);
  }

  get redact(): RunRedaction["redact"] | undefined {
    return this.redaction?.redact;
  }
}

function receiversIn({ manifest, steps, isDependency }: ScriptTask): Receiver[] {
  return steps.map(({ scriptName, isMain }) => receiverOf({ manifest }, scriptName, !isMain, isDependency));
}
