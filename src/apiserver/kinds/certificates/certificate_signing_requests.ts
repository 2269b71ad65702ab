/**
 * CertificateSigningRequests: rules and table row. The server writes the user of the request; an update of `approval` writes
 * conditions only, and an update of `status` writes the certificate.
 *
 * Caveats: the PEM and the outline of the DER of a request are checked, its signature is not.
 */
import {
  type Draft,
  draftOf,
  type DraftValue,
  humanDuration,
  isSameJson,
  type Json,
  type JsonObject,
  put,
  read,
  type User,
  utf8Length,
  type WriteContext,
} from "../../model/mod.ts";
import {
  ageCell,
  changedFields,
  FieldPath,
  type KindRules,
  labelErrors,
  nameCell,
  type Problems,
  type Row,
  rowOf,
  subdomainErrors,
  textCell,
} from "../rules/mod.ts";
import {
  draftAt,
  draftsAt,
  findNumber,
  formatTime,
  fromBase64,
  has,
  objectAt,
  objectsAt,
  restoreField,
  setIfAbsent,
  textAt,
  textsAt,
} from "../types/mod.ts";
import { certificateOutlineError, derOutlineError, pemBlocks } from "./pem.ts";

const specPath = FieldPath.of("spec");
const conditionsPath = FieldPath.of("status", "conditions");
const certificatePath = FieldPath.of("status", "certificate");
const decisions = ["Approved", "Denied"];
const onlyTrueConditions = [...decisions, "Failed"];
const minSeconds = 600;
const legacySigner = "kubernetes.io/legacy-unknown";

const usages = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];

/** CertificateSigningRequest. */
export const signingRequestRules: KindRules = {
  depth: "full",
  validateName: () => [],
  resetFields: new Map([
    ["", [["spec"], ["status"]]],
    ["status", [["spec"], ["status", "conditions"]]],
    ["approval", [["spec"], ["status", "certificate"]]],
  ]),
  fieldSelectors: new Map([["spec.signerName", (request) => textAt(objectAt(request, "spec"), "signerName")]]),
  prepareForCreate(draft, { user }) {
    setUser(draftAt(draft, "spec"), user);
    draft["status"] = {};
  },
  prepareForUpdate: (draft, old) => restoreField(draft, old, "spec"),
  prepareForStatus(draft, old, context) {
    restoreDecisions(draftAt(draft, "status"), objectAt(old, "status"));
    setConditionTimes(draft, old, context);
  },
  prepareForSubresource(draft, old, context) {
    setConditionTimes(draft, old, context);
    const conditions = read(draftAt(draft, "status"), "conditions");
    restoreField(draft, old, "spec");
    restoreField(draft, old, "status");
    const status = draftAt(draft, "status");
    if (conditions === undefined) delete status["conditions"];
    else status["conditions"] = conditions;
  },
  validate: (request, problems) => checkRequest(request, undefined, problems),
  validateUpdate: (request, old, problems) => checkChange(request, old, "", problems),
  validateStatus: (request, old, problems) => checkChange(request, old, "status", problems),
  validateSubresource: (request, old, problems, { subresource }) => checkChange(request, old, subresource, problems),
};

function setUser(spec: Draft, user: User | undefined): void {
  for (const key of ["username", "uid", "groups", "extra"]) delete spec[key];
  if (user === undefined) return;
  spec["username"] = user.name;
  if (user.uid !== "") spec["uid"] = user.uid;
  if (user.groups.length > 0) spec["groups"] = [...user.groups];
  if (user.extra.size === 0) return;
  const extra: Draft = {};
  for (const [key, values] of user.extra) put<DraftValue>(extra, key, [...values]);
  spec["extra"] = extra;
}

/** An update of the status keeps the approval conditions, when their number has not changed. */
function restoreDecisions(status: Draft, before: JsonObject): void {
  for (const decision of decisions) {
    const old = conditionsOf(before, decision);
    const now = draftsAt(status, "conditions").filter((condition) => textAt(condition, "type") === decision);
    if (old.length !== now.length) continue;
    now.forEach((condition, index) => {
      for (const key of Object.keys(condition)) delete condition[key];
      Object.assign(condition, draftOf(old[index] ?? {}));
    });
  }
}

function setConditionTimes(draft: Draft, old: JsonObject, { now }: WriteContext): void {
  for (const condition of draftsAt(draftAt(draft, "status"), "conditions")) {
    setIfAbsent(condition, "lastUpdateTime", formatTime(now));
    if (has(condition, "lastTransitionTime")) continue;
    const same = conditionsOf(objectAt(old, "status"), textAt(condition, "type")).find((before) =>
      textAt(before, "status") === textAt(condition, "status") && has(before, "lastTransitionTime")
    );
    condition["lastTransitionTime"] = same === undefined ? formatTime(now) : textAt(same, "lastTransitionTime");
  }
}

function conditionsOf(status: JsonObject, type: string): readonly JsonObject[] {
  return objectsAt(status, "conditions").filter((condition) => textAt(condition, "type") === type);
}

/** Checks the whole request. An update may keep errors that the old object has. */
function checkRequest(request: JsonObject, old: JsonObject | undefined, problems: Problems): void {
  const [spec, before] = [objectAt(request, "spec"), objectAt(old ?? {}, "spec")];
  const why = requestError(textAt(spec, "request"));
  if (why !== undefined) problems.invalid(specPath.child("request"), read(spec, "request") ?? null, why);
  checkUsages(textsAt(spec, "usages"), textsAt(before, "usages"), specPath.child("usages"), problems);
  const signer = textAt(spec, "signerName");
  const signerPath = specPath.child("signerName");
  if (signer === legacySigner && textAt(before, "signerName") !== legacySigner) {
    problems.invalid(signerPath, signer, "the legacy signerName is not allowed via this API version");
  } else checkSignerName(signer, signerPath, problems);
  const seconds = findNumber(spec, "expirationSeconds");
  if (seconds !== undefined && seconds < minSeconds) {
    const least = "may not specify a duration less than 600 seconds (10 minutes)";
    problems.invalid(specPath.child("expirationSeconds"), seconds, least);
  }
  checkConditions(objectAt(request, "status"), objectAt(old ?? {}, "status"), problems);
  const certificate = textAt(objectAt(request, "status"), "certificate");
  if (certificate === textAt(objectAt(old ?? {}, "status"), "certificate")) return;
  const reason = certificateError(certificate);
  if (reason !== undefined) problems.invalid(certificatePath, "<certificate data>", reason);
}

function requestError(base64: string): string | undefined {
  const [block] = pemBlocks(fromBase64(base64));
  if (block?.type !== "CERTIFICATE REQUEST") return "PEM block type must be CERTIFICATE REQUEST";
  return derOutlineError(block.bytes);
}

function certificateError(base64: string): string | undefined {
  if (base64 === "") return undefined;
  const blocks = pemBlocks(fromBase64(base64));
  for (const { type, bytes, hasHeaders } of blocks) {
    if (type !== "CERTIFICATE") return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (hasHeaders) return "no PEM block headers are permitted";
    if (bytes.length === 0) return "found CERTIFICATE PEM block containing 0 certificates";
    const why = certificateOutlineError(bytes);
    if (why !== undefined) return why;
  }
  return blocks.length === 0 ? "must contain at least one CERTIFICATE PEM block" : undefined;
}

function checkUsages(now: readonly string[], before: readonly string[], place: FieldPath, problems: Problems): void {
  if (now.length === 0) problems.required(place);
  const isKnown = (usage: string) => usages.includes(usage);
  if (before.every(isKnown)) {
    now.forEach((usage, index) => {
      if (!isKnown(usage)) problems.notSupported(place.index(index), usage, usages);
    });
  }
  if (new Set(before).size < before.length) return;
  now.forEach((usage, index) => {
    if (now.indexOf(usage) < index) problems.duplicate(place.index(index), usage);
  });
}

function checkConditions(status: JsonObject, before: JsonObject, problems: Problems): void {
  const [now, then] = [objectsAt(status, "conditions"), objectsAt(before, "conditions")];
  const typesOf = (conditions: readonly JsonObject[]) => conditions.map((condition) => textAt(condition, "type"));
  const [types, old] = [typesOf(now), typesOf(then)];
  const hadBoth = decisions.every((decision) => old.includes(decision));
  now.forEach((condition, index) => {
    const [type, value] = [textAt(condition, "type"), textAt(condition, "status")];
    const place = conditionsPath.index(index);
    if (type === "" && !old.includes("")) problems.required(place.child("type"));
    const allowed = onlyTrueConditions.includes(type) ? ["True"] : ["False", "True", "Unknown"];
    if (value === "") problems.required(place.child("status"));
    else if (!allowed.includes(value)) problems.notSupported(place.child("status"), value, allowed);
    const other = decisions.find((decision) => decisions.includes(type) && decision !== type) ?? type;
    if (!hadBoth && other !== type && types.slice(0, index).includes(other)) {
      problems.invalid(conditionsPath, type, "Approved and Denied conditions are mutually exclusive");
    }
    if (new Set(old).size === old.length && types.indexOf(type) < index) problems.duplicate(place.child("type"), type);
  });
}

function checkChange(request: JsonObject, old: JsonObject, subresource: string, problems: Problems): void {
  checkRequest(request, old, problems);
  const [status, before] = [objectAt(request, "status"), objectAt(old, "status")];
  for (const type of onlyTrueConditions) {
    if (conditionsOf(status, type).length >= conditionsOf(before, type).length) continue;
    problems.forbidden(conditionsPath, `updates may not remove a condition of type "${type}"`);
  }
  for (const type of subresource === "approval" ? [] : decisions) {
    const [now, then] = [conditionsOf(status, type), conditionsOf(before, type)];
    if (now.length > then.length) {
      problems.forbidden(conditionsPath, `updates may not add a condition of type "${type}"`);
    } else if (now.length === then.length && !isSameJson(now, then)) {
      const at = now.findIndex((condition, index) => !isSameJson(condition, then[index] ?? null));
      const changed = changedFields(then[at] ?? null, now[at] ?? null, conditionsPath.key(type));
      problems.forbidden(conditionsPath, `updates may not modify a condition of type "${type}"; ${changed}`);
    }
  }
  const [certificate, held] = [textAt(status, "certificate"), textAt(before, "certificate")];
  if (certificate === held) return;
  if (subresource !== "status") problems.forbidden(certificatePath, "updates may not set certificate content");
  else if (held !== "") problems.forbidden(certificatePath, "updates may not modify existing certificate content");
}

const maxDomainLength = 253;

/** A domain, a slash, and a path with room for a label, a dot and a subdomain. */
const maxSignerLength = maxDomainLength + 1 + 253 + 63 + 1;
const badSignerForm = "must be a fully qualified domain and path of the form 'example.com/signer-name'";

/** Checks the name of a signer: `example.com/signer`. */
function checkSignerName(name: string, path: FieldPath, problems: Problems): void {
  if (name === "") return problems.required(path);
  const [domain = "", place = "", ...more] = name.split("/");
  if (!name.includes("/") || more.length > 0) return problems.invalid(path, name, badSignerForm);
  if (utf8Length(domain) > maxDomainLength) problems.tooLong(path, maxDomainLength);
  checkParts(domain, labelErrors, path, problems);
  if (!domain.includes(".")) {
    problems.invalid(path, domain, "should be a domain with at least two segments separated by dots");
  }
  checkParts(place, subdomainErrors, path, problems);
  if (utf8Length(name) > maxSignerLength) problems.tooLong(path, maxSignerLength);
}

/** Reports only the first invalid part. */
function checkParts(
  text: string,
  errorsOf: (part: string) => readonly string[],
  path: FieldPath,
  problems: Problems,
): void {
  for (const part of text.split(".")) {
    const errors = errorsOf(part);
    if (errors.length === 0) continue;
    for (const error of errors) problems.invalid(path, text, `validating label ${JSON.stringify(part)}: ${error}`);
    return;
  }
}

/** The cells of a CertificateSigningRequest. */
export const signingRequestRow: Row = rowOf(
  nameCell,
  ageCell,
  textCell("spec.signerName", "<none>"),
  textCell("spec.username"),
  requestedDuration,
  requestStatus,
);

function requestedDuration(object: JsonObject): Json {
  const seconds = read(objectAt(object, "spec"), "expirationSeconds");
  return typeof seconds === "number" ? humanDuration(seconds * 1000) : "<none>";
}

function requestStatus(object: JsonObject): Json {
  const status = objectAt(object, "status");
  const types = new Set(objectsAt(status, "conditions").map((condition) => textAt(condition, "type")));
  const decision = types.has("Denied") ? "Denied" : types.has("Approved") ? "Approved" : "Pending";
  const failed = types.has("Failed") ? ",Failed" : "";
  return `${decision}${failed}${textAt(status, "certificate") === "" ? "" : ",Issued"}`;
}
