/**
 * ResourceQuota: rejects writes that exceed the quotas of a namespace. The used amounts are read from the status of the quota,
 * which the quota controller counts; the plugin adds what it admits. Source: apiserver `pkg/admission/plugin/resourcequota` of
 * 1.36.
 *
 * Guarantees: two requests never both get the last free amount; a dry run uses nothing.
 */
import {
  addAmounts,
  type Amounts,
  compareQuantities,
  coversScopes,
  formatAmounts,
  meterOf,
  nameOf,
  objectAt,
  onlyAmounts,
  type QuotaMeter,
  subtractAmounts,
  textMapAt,
  withoutZeros,
} from "../kinds/mod.ts";
import {
  type AdmissionPlugin,
  type AdmissionRequest,
  type JsonObject,
  type ObjectReader,
  StatusError,
} from "../model/mod.ts";
import { readMetadata } from "../registry/mod.ts";
import { forbiddenError } from "./_request.ts";

/** Writes the used amounts of a quota. @returns false on a conflict */
export type SetUsed = (quota: JsonObject, used: Amounts) => Promise<boolean>;

/** Options of {@link resourceQuotas}. */
interface ResourceQuotasOptions {
  readonly objects: ObjectReader;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly setUsed: SetUsed;
}

/** A quota that the request uses, and its used amounts afterwards. */
interface Charge {
  readonly quota: JsonObject;
  readonly used: Amounts;
}

/** Conflicts with other requests until the request fails. */
const maxAttempts = 100;

/** The plugin for all kinds. */
export function resourceQuotas(options: ResourceQuotasOptions): AdmissionPlugin {
  return {
    name: "ResourceQuota",
    validate(request) {
      const { namespace, kind, object } = request;
      if (object === undefined || namespace === "" || kind.collection === "events") return;
      const charges = chargesOf(options, request);
      if (charges.length === 0 || request.isDryRun) return;
      return charge(options, request, charges);
    },
  };
}

async function charge(
  options: ResourceQuotasOptions,
  request: AdmissionRequest,
  first: readonly Charge[],
): Promise<void> {
  let charges = first;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const conflicts: Charge[] = [];
    for (const each of charges) if (!await options.setUsed(each.quota, each.used)) conflicts.push(each);
    if (conflicts.length === 0) return;
    // Only quotas with a conflict are calculated again: the others have been charged.
    const names = new Set(conflicts.map(({ quota }) => nameOf(quota)));
    charges = chargesOf(options, request).filter(({ quota }) => names.has(nameOf(quota)));
  }
  throw new StatusError(
    409,
    "Conflict",
    "Operation cannot be fulfilled on resource quotas: they are changed all the time",
  );
}

function chargesOf({ objects, now }: ResourceQuotasOptions, request: AdmissionRequest): readonly Charge[] {
  const { object = {}, kind } = request;
  let meter: QuotaMeter | undefined;
  const charges: Charge[] = [];
  for (const quota of objects.list("resourcequotas", request.namespace)) {
    meter ??= meterOf(kind);
    if (!isCharged(request, meter)) return [];
    const resources = resourcesOf(quota, meter);
    if (resources.length === 0 || !coversScopes(quota, kind.collection, object)) continue;
    checkKnown(request, quota, { meter, resources });
    const usage = onlyAmounts(
      usageOf(request, quota, meter, now()),
      textMapAt(objectAt(quota, "status"), "hard").keys(),
    );
    const isChange = withoutZeros(usage).size > 0;
    if (isChange) charges.push({ quota, used: usedAfter(request, quota, withoutZeros(usage)) });
  }
  return charges;
}

/** True for writes that can change the used amounts. */
function isCharged(
  { operation, subresource, kind, object = {}, oldObject }: AdmissionRequest,
  meter: QuotaMeter,
): boolean {
  if (kind.collection === "pods") {
    if (subresource === "resize") return operation === "UPDATE";
    if (operation !== "UPDATE" || subresource !== "") return operation === "CREATE" && subresource === "";
    const deadline = (pod: JsonObject) => typeof objectAt(pod, "spec")["activeDeadlineSeconds"] === "number";
    return deadline(object) !== deadline(oldObject ?? {});
  }
  if (subresource !== "") return false;
  return operation === "CREATE" || (operation === "UPDATE" && (meter.measures("services") || isOfClaims(meter)));
}

function isOfClaims(meter: QuotaMeter): boolean {
  return meter.measures("persistentvolumeclaims");
}

function resourcesOf(quota: JsonObject, meter: QuotaMeter): readonly string[] {
  return [...textMapAt(objectAt(quota, "status"), "hard").keys()].filter((name) => meter.measures(name));
}

/** Rejects an object that cannot be measured, and any object while a quota has no used amounts yet. */
function checkKnown(
  request: AdmissionRequest,
  quota: JsonObject,
  { meter, resources }: { readonly meter: QuotaMeter; readonly resources: readonly string[] },
): void {
  const missing = meter.missingFieldsError(resources, request.object ?? {});
  if (missing !== undefined) throw forbiddenError(request, `failed quota: ${nameOf(quota)}: ${missing}`);
  const used = textMapAt(objectAt(quota, "status"), "used");
  if (resources.every((name) => used.has(name))) return;
  const names = resources.toSorted().join(",");
  throw forbiddenError(request, `status unknown for quota: ${nameOf(quota)}, resources: ${names}`);
}

/** The amounts that the request uses: all of a new object, the difference for an updated one. */
function usageOf(request: AdmissionRequest, quota: JsonObject, meter: QuotaMeter, now: number): Amounts {
  const { object = {}, oldObject, kind, operation } = request;
  const usage = meter.usage(object, now);
  if (operation !== "UPDATE" || oldObject === undefined) return usage;
  const isCovered = "resourceVersion" in readMetadata(oldObject) && coversScopes(quota, kind.collection, oldObject);
  return isCovered ? subtractAmounts(usage, meter.usage(oldObject, now)) : usage;
}

function usedAfter(request: AdmissionRequest, quota: JsonObject, usage: Amounts): Amounts {
  const status = objectAt(quota, "status");
  const [hard, used] = [textMapAt(status, "hard"), textMapAt(status, "used")];
  const sum = addAmounts(used, usage);
  const exceeded = [...usage.keys()].filter((name) =>
    compareQuantities(sum.get(name) ?? "0", hard.get(name) ?? "0") > 0
  );
  if (exceeded.length === 0) return sum;
  const shown = (amounts: Amounts) => formatAmounts(onlyAmounts(amounts, exceeded));
  throw forbiddenError(
    request,
    `exceeded quota: ${nameOf(quota)}, requested: ${shown(usage)}, used: ${shown(used)}, limited: ${shown(hard)}`,
  );
}
