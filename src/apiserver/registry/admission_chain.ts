/**
 * The admission of one write: plugins that change it, in order, and later those that may only refuse. As long as no plugin
 * has to wait for anything, neither has the write.
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
import type { Call } from "./call.ts";
import { type Engine, storageNamespace } from "./engine.ts";
import { metadataOf } from "./metadata.ts";

/** What is asked of admission. */
export interface Admission {
  readonly operation: Operation;
  /** "" while it is not made yet. */
  readonly name: string;
  /** Absent for a deletion. */
  readonly object: Draft | undefined;
  readonly oldObject: JsonObject | undefined;
}

type Ask = (plugin: AdmissionPlugin, request: AdmissionRequest) => void | Promise<void>;

const asked: Ask = (plugin, request) => plugin.admit?.(request);
const validated: Ask = (plugin, request) => plugin.validate?.(request);

/**
 * Lets the plugins change the object.
 *
 * @returns the object as they left it
 * @throws Refusal when one of them refuses
 */
export function admit(
  engine: Engine,
  call: Call,
  admission: Admission,
): Draft | undefined | Promise<Draft | undefined> {
  const request = requestOf(call, admission);
  const books = booksOf(admission.object);
  const pending = askFrom(engine.admission, 0, request, asked);
  if (pending === undefined) return withSoundBooks(request, books);
  return pending.then(() => withSoundBooks(request, books));
}

function booksOf(object: Draft | undefined): DraftValue | undefined {
  return object === undefined ? undefined : read(metadataOf(object), "managedFields");
}

/** A plugin that garbles the managedFields is overruled, with a warning. */
function withSoundBooks(request: AdmissionRequest, before: DraftValue | undefined): Draft | undefined {
  const { object } = request;
  const after = booksOf(object);
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

/** Lets the plugins refuse. @throws Refusal */
export function validateAdmission(engine: Engine, call: Call, admission: Admission): void | Promise<void> {
  return askFrom(engine.admission, 0, requestOf(call, admission), validated);
}

/** Asks the plugins from an index on; a promise only where one of them gives one. */
function askFrom(
  plugins: readonly AdmissionPlugin[],
  first: number,
  request: AdmissionRequest,
  ask: Ask,
): undefined | Promise<void> {
  for (let index = first; index < plugins.length; index++) {
    const plugin = plugins[index];
    const pending = plugin === undefined ? undefined : ask(plugin, request);
    if (pending !== undefined) return pending.then(() => askFrom(plugins, index + 1, request, ask));
  }
  return undefined;
}

/** A patch is an update to admission, or a creation where there was nothing to patch; so is an update. */
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
    // A Namespace is in itself, as far as admission is concerned.
    namespace: kind.collection === "namespaces" ? admission.name : storageNamespace(call),
    name: admission.name,
    object: admission.object,
    oldObject: admission.oldObject,
    options: optionsOf(options, admission.operation),
    user,
    isDryRun,
    warn: (text) => call.warn(text),
  };
}
