/**
 * The admission of one write: first the plugins that may change the object, in order, and later those that may only reject
 * it. A write is synchronous as long as no plugin returns a promise.
 */
import {
  type AdmissionPlugin,
  type AdmissionRequest,
  type Draft,
  type DraftValue,
  type JsonObject,
  type Operation,
  read,
} from "../model/mod.ts";
import { managedFieldsProblem } from "../patch/mod.ts";
import { type Call, type RegistryParts, storageNamespace } from "./call.ts";
import { metadataOf } from "./metadata.ts";

/** A write, as admission sees it. */
export interface Admission {
  readonly operation: Operation;
  /** "" while the name is not generated yet. */
  readonly name: string;
  /** Absent for a deletion. */
  readonly object: Draft | undefined;
  readonly oldObject: JsonObject | undefined;
}

type PluginCall = (plugin: AdmissionPlugin, request: AdmissionRequest) => void | Promise<void>;

const callAdmit: PluginCall = (plugin, request) => plugin.admit?.(request);
const callValidate: PluginCall = (plugin, request) => plugin.validate?.(request);

/**
 * Calls the plugins that may change the object.
 *
 * @returns the changed object
 * @throws StatusError when a plugin rejects the write
 */
export function admit(
  parts: RegistryParts,
  call: Call,
  admission: Admission,
): Draft | undefined | Promise<Draft | undefined> {
  const request = requestOf(call, admission);
  const before = managedFieldsIn(admission.object);
  const pending = admitInRounds(parts.admission, request);
  if (pending === undefined) return withValidManagedFields(request, before);
  return pending.then(() => withValidManagedFields(request, before));
}

/** Runs all plugins, and once more when a webhook or policy has changed the object. As apiserver `admission/reinvocation.go`. */
function admitInRounds(plugins: readonly AdmissionPlugin[], request: AdmissionRequest): undefined | Promise<void> {
  const first = runPlugins(plugins, 0, request, callAdmit);
  const second = (): undefined | Promise<void> => {
    if (request.needsSecondRound !== true) return undefined;
    request.isSecondRound = true;
    return runPlugins(plugins, 0, request, callAdmit);
  };
  return first === undefined ? second() : first.then(second);
}

function managedFieldsIn(object: Draft | undefined): DraftValue | undefined {
  return object === undefined ? undefined : read(metadataOf(object), "managedFields");
}

/** Restores the managedFields, with a warning, when a plugin has made them invalid. */
function withValidManagedFields(request: AdmissionRequest, before: DraftValue | undefined): Draft | undefined {
  const { object } = request;
  const after = managedFieldsIn(object);
  if (object === undefined || after === before) return object;
  const problem = managedFieldsProblem(after);
  if (problem === undefined) return object;
  const metadata = metadataOf(object);
  if (before === undefined) delete metadata["managedFields"];
  else metadata["managedFields"] = before;
  request.warn(
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating " +
      `admission controller; please fix your requests: ${problem}`,
  );
  return object;
}

/** Calls the plugins that may only reject. @throws StatusError */
export function validateAdmission(parts: RegistryParts, call: Call, admission: Admission): void | Promise<void> {
  return runPlugins(parts.admission, 0, requestOf(call, admission), callValidate);
}

/** Calls the plugins that check the bodies of actions. @throws StatusError */
export function admitAction(parts: RegistryParts, call: Call, name: string, object: Draft): void {
  const request = requestOf(call, { operation: "CREATE", name, object, oldObject: undefined });
  for (const plugin of parts.admission) plugin.admitAction?.(request);
}

/** Calls the plugins from an index on. Returns a promise only when a plugin returns one. */
function runPlugins(
  plugins: readonly AdmissionPlugin[],
  first: number,
  request: AdmissionRequest,
  run: PluginCall,
): undefined | Promise<void> {
  for (let index = first; index < plugins.length; index++) {
    const plugin = plugins[index];
    const pending = plugin === undefined ? undefined : run(plugin, request);
    if (pending !== undefined) return pending.then(() => runPlugins(plugins, index + 1, request, run));
  }
  return undefined;
}

/** Admission sees a patch as an update, and a patch or an update that creates as a create. */
function optionsOf(options: JsonObject, operation: Operation): JsonObject {
  const kind = operation === "CREATE" ? "CreateOptions" : operation === "UPDATE" ? "UpdateOptions" : options["kind"];
  if (kind === undefined || options["kind"] === kind) return options;
  const { force: _, ...rest } = options;
  return { ...rest, kind };
}

function requestOf(call: Call, admission: Admission): AdmissionRequest {
  const { kind, subresource, options, user, isDryRun } = call;
  return {
    operation: admission.operation,
    kind,
    subresource,
    // For admission, a Namespace is in the namespace of its own name.
    namespace: kind.collection === "namespaces" ? admission.name : storageNamespace(call),
    name: admission.name,
    object: admission.object,
    oldObject: admission.oldObject,
    options: optionsOf(options, admission.operation),
    user,
    isDryRun,
    isPatch: options["kind"] === "PatchOptions",
    warn: (text) => call.warn(text),
  };
}
