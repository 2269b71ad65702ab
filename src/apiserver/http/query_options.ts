/**
 * Query options: reads ListOptions, CreateOptions and similar options from query parameters, and validates them like
 * apimachinery (`meta/v1/validation`, `internalversion/validation`). Unknown parameters are ignored.
 */
import {
  badRequest,
  type FieldError,
  invalid,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  read,
  utf8Length,
} from "../model/mod.ts";
import type { DeleteOptions, FieldValidation, ListOptions } from "../registry/mod.ts";

/** The parameters of list and watch. */
export interface ListParameters extends ListOptions {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly shardSelector: string;
  readonly isWatch: boolean;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean;
  /** 0: the server decides. */
  readonly timeoutSeconds: number;
}

/** The parameters of a write. */
export interface WriteParameters {
  readonly isDryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  readonly isForced: boolean;
  /** As admission sees them. */
  readonly options: JsonObject;
}

/** The kind of the options of a write. */
export type WriteOptionsKind = "CreateOptions" | "UpdateOptions" | "PatchOptions";

const maxManagerBytes = 128;

/** Reads ListOptions. @throws StatusError 400 or 422 */
export function listParameters(query: URLSearchParams, isWatchPath = false): ListParameters {
  const isWatch = isWatchPath || boolean(query, "watch") === true;
  const resourceVersion = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  const requested = boolean(query, "sendInitialEvents");
  // A watch without a version has always sent the existing objects first; sendInitialEvents is the newer name for that.
  const isLegacy = isWatch && requested === undefined && match === "" &&
    (resourceVersion === "" || resourceVersion === "0");
  const limit = Math.max(0, integer(query, "limit"));
  const isOfAnyVersion = resourceVersion === "0" && match !== "Exact";
  const parameters = {
    labelSelector: query.get("labelSelector") ?? "",
    fieldSelector: query.get("fieldSelector") ?? "",
    shardSelector: query.get("shardSelector") ?? "",
    isWatch,
    allowWatchBookmarks: boolean(query, "allowWatchBookmarks") === true,
    sendInitialEvents: requested ?? isLegacy,
    timeoutSeconds: integer(query, "timeoutSeconds"),
    // A list of any version comes from the cache of kube-apiserver, whole.
    limit: isOfAnyVersion ? 0 : limit,
    continue: query.get("continue") ?? "",
    resourceVersion,
  };
  const errors = isWatch
    ? watchErrors(isLegacy ? true : requested, isLegacy ? "NotOlderThan" : match, parameters.continue)
    : listErrors(requested, match, resourceVersion, parameters.continue);
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", resource: "ListOptions", name: "" }, errors);
  return { ...parameters, resourceVersionMatch: match === "Exact" || match === "NotOlderThan" ? match : "" };
}

function listErrors(requested: boolean | undefined, match: string, version: string, token: string): FieldError[] {
  const errors: FieldError[] = [];
  const field = "resourceVersionMatch";
  const forbid = (detail: string) => errors.push({ type: "Forbidden", field, detail });
  if (match !== "") {
    if (version === "") forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (token !== "") forbid("resourceVersionMatch is forbidden when continue is provided");
    if (match !== "Exact" && match !== "NotOlderThan") {
      errors.push({
        type: "NotSupported",
        field,
        value: match,
        detail: `supported values: "Exact", "NotOlderThan", ""`,
      });
    }
    if (match === "Exact" && version === "0") {
      forbid(`resourceVersionMatch "exact" is forbidden for resourceVersion "0"`);
    }
  }
  if (requested !== undefined) {
    const detail = "sendInitialEvents is forbidden for list";
    errors.push({ type: "Forbidden", field: "sendInitialEvents", detail });
  }
  return errors;
}

function watchErrors(requested: boolean | undefined, match: string, token: string): FieldError[] {
  const errors: FieldError[] = [];
  const field = "resourceVersionMatch";
  const forbid = (detail: string) => errors.push({ type: "Forbidden", field, detail });
  if (requested !== undefined && match !== "NotOlderThan") {
    forbid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (match === "") return errors;
  if (requested === undefined) {
    forbid("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  if (match !== "NotOlderThan") {
    errors.push({ type: "NotSupported", field, value: match, detail: `supported values: "NotOlderThan"` });
  }
  if (token !== "") forbid("resourceVersionMatch is forbidden when continue is provided");
  return errors;
}

/** Reads CreateOptions, UpdateOptions or PatchOptions. @throws StatusError 400 or 422 */
export function writeParameters(
  query: URLSearchParams,
  kind: WriteOptionsKind,
  userAgent: string,
  isApply = false,
): WriteParameters {
  if (query.size === 0 && !isApply) return defaultsFor(kind, userAgent);
  const dryRun = query.getAll("dryRun");
  const manager = query.get("fieldManager") ?? "";
  const validation = query.get("fieldValidation") ?? "";
  const force = boolean(query, "force");
  const errors: FieldError[] = [];
  if (isApply && manager === "") {
    errors.push({ type: "Required", field: "fieldManager", detail: "is required for apply patch" });
  }
  if (kind === "PatchOptions" && !isApply && force !== undefined) {
    errors.push({ type: "Forbidden", field: "force", detail: "may not be specified for non-apply patch" });
  }
  errors.push(...managerErrors(manager), ...dryRunErrors(dryRun), ...validationErrors(validation));
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", resource: kind, name: "" }, errors);
  return {
    isDryRun: dryRun.length > 0,
    fieldManager: manager === "" ? managerOf(userAgent) : manager,
    fieldValidation: validation === "Ignore" || validation === "Strict" ? validation : "Warn",
    isForced: force === true,
    options: {
      kind,
      apiVersion: "meta.k8s.io/v1",
      ...(dryRun.length === 0 ? {} : { dryRun }),
      ...(force === undefined ? {} : { force }),
      ...(manager === "" ? {} : { fieldManager: manager }),
      ...(validation === "" ? {} : { fieldValidation: validation }),
    },
  };
}

function defaultsFor(kind: WriteOptionsKind, userAgent: string): WriteParameters {
  return {
    isDryRun: false,
    fieldManager: managerOf(userAgent),
    fieldValidation: "Warn",
    isForced: false,
    options: { kind, apiVersion: "meta.k8s.io/v1" },
  };
}

/** The default field manager: the user agent up to the first slash. */
export function managerOf(userAgent: string): string {
  const name = userAgent.split("/")[0] ?? "";
  let manager = "";
  for (const character of name) {
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character)) continue;
    if (utf8Length(manager) + utf8Length(character) > maxManagerBytes) break;
    manager += character;
  }
  return manager;
}

function managerErrors(manager: string): FieldError[] {
  const errors: FieldError[] = [];
  const field = "fieldManager";
  if (utf8Length(manager) > maxManagerBytes) {
    errors.push({ type: "TooLong", field, detail: `may not be more than ${maxManagerBytes} bytes` });
  }
  let position = 0;
  for (const character of manager) {
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      errors.push({
        type: "Invalid",
        field,
        value: manager,
        detail: `invalid character U+${code} (at position ${position})`,
      });
    }
    position += utf8Length(character);
  }
  return errors;
}

function dryRunErrors(dryRun: readonly string[]): FieldError[] {
  if (dryRun.every((value) => value === "All")) return [];
  return [{ type: "NotSupported", field: "dryRun", value: dryRun, detail: `supported values: "All"` }];
}

function validationErrors(validation: string): FieldError[] {
  if (["", "Ignore", "Warn", "Strict"].includes(validation)) return [];
  const detail = `supported values: "", "Ignore", "Strict", "Warn"`;
  return [{ type: "NotSupported", field: "fieldValidation", value: validation, detail }];
}

/** The parameters of a deletion. */
export interface DeleteParameters {
  readonly delete: DeleteOptions;
  readonly isDryRun: boolean;
  readonly options: JsonObject;
}

/** Reads DeleteOptions from the body, or from the query if there is no body. @throws StatusError 400 or 422 */
export function deleteParameters(query: URLSearchParams, body: JsonObject | undefined): DeleteParameters {
  const options = body ?? optionsFromQuery(query);
  const policy = read(options, "propagationPolicy") ?? undefined;
  const orphan = read(options, "orphanDependents") ?? undefined;
  const dryRun = read(options, "dryRun") ?? [];
  const errors: FieldError[] = [];
  if (orphan !== undefined && policy !== undefined) {
    const detail = "orphanDependents and deletionPropagation cannot be both set";
    errors.push({ type: "Invalid", field: "propagationPolicy", value: policy, detail });
  }
  if (policy !== undefined && policy !== "Foreground" && policy !== "Background" && policy !== "Orphan") {
    const detail = `supported values: "Foreground", "Background", "Orphan", "nil"`;
    errors.push({ type: "NotSupported", field: "propagationPolicy", value: policy, detail });
  }
  errors.push(...dryRunErrors(isJsonArray(dryRun) ? dryRun.map(String) : []));
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", resource: "DeleteOptions", name: "" }, errors);
  const grace = read(options, "gracePeriodSeconds");
  return {
    delete: {
      ...(typeof grace === "number" ? { gracePeriodSeconds: grace } : {}),
      ...(policy === "Foreground" || policy === "Background" || policy === "Orphan"
        ? { propagationPolicy: policy }
        : {}),
      ...(typeof orphan === "boolean" ? { orphanDependents: orphan } : {}),
      ...preconditionsOf(options),
    },
    isDryRun: isJsonArray(dryRun) && dryRun.length > 0,
    options: { ...options, kind: "DeleteOptions", apiVersion: "meta.k8s.io/v1" },
  };
}

function preconditionsOf(options: JsonObject): { readonly uid?: string; readonly resourceVersion?: string } {
  const preconditions = read(options, "preconditions");
  if (!isJsonObject(preconditions)) return {};
  const [uid, version] = [read(preconditions, "uid"), read(preconditions, "resourceVersion")];
  return {
    ...(typeof uid === "string" ? { uid } : {}),
    ...(typeof version === "string" ? { resourceVersion: version } : {}),
  };
}

function preconditionsFrom(query: URLSearchParams): JsonObject {
  const [uid, resourceVersion] = [query.get("uid"), query.get("resourceVersion")];
  return { ...(uid === null ? {} : { uid }), ...(resourceVersion === null ? {} : { resourceVersion }) };
}

function optionsFromQuery(query: URLSearchParams): JsonObject {
  const policy = query.get("propagationPolicy");
  const orphan = boolean(query, "orphanDependents");
  const dryRun = query.getAll("dryRun");
  return {
    ...(query.has("gracePeriodSeconds") ? { gracePeriodSeconds: integer(query, "gracePeriodSeconds") } : {}),
    ...(orphan === undefined ? {} : { orphanDependents: orphan }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(query.has("uid") || query.has("resourceVersion") ? { preconditions: preconditionsFrom(query) } : {}),
    ...(dryRun.length === 0 ? {} : { dryRun }),
  };
}

/** A boolean parameter as Go converts it: every value except "false" and "0" is true. */
function boolean(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  return value === null ? undefined : value.toLowerCase() !== "false" && value !== "0";
}

function integer(query: URLSearchParams, name: string): number {
  const value = query.get(name);
  if (value === null) return 0;
  if (!/^[+-]?[0-9]+$/.test(value)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  }
  const number = Number(value);
  if (Math.abs(number) >= 2 ** 63) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: value out of range`);
  }
  return number;
}

const durationPart = /^(\d+\.?\d*|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/;

/** @throws StatusError 400 when the parameter `timeout` is no duration of Go */
export function checkTimeout(query: URLSearchParams): void {
  const text = query.get("timeout") ?? "";
  const why = text === "" ? undefined : durationError(text);
  if (why !== undefined) throw badRequest(`invalid timeout specified in the request URL - time: ${why}`);
}

function durationError(text: string): string | undefined {
  const quoted = JSON.stringify(text);
  let rest = text.replace(/^[-+]/, "");
  if (rest === "0") return undefined;
  if (rest === "") return `invalid duration ${quoted}`;
  while (rest !== "") {
    const part = durationPart.exec(rest)?.[0];
    if (part !== undefined) {
      rest = rest.slice(part.length);
      continue;
    }
    const number = /^(\d+\.?\d*|\.\d+)/.exec(rest)?.[0];
    if (number === undefined) return `invalid duration ${quoted}`;
    const unit = /^[^\d.]*/.exec(rest.slice(number.length))?.[0] ?? "";
    return unit === ""
      ? `missing unit in duration ${quoted}`
      : `unknown unit ${JSON.stringify(unit)} in duration ${quoted}`;
  }
  return undefined;
}
