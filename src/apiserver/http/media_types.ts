/**
 * Media types: what a client can read and writes, negotiated as apiserver `handlers/negotiation` does. JSON and YAML are
 * spoken; protobuf is not, so a client that offers it gets JSON where it takes that too, and 406 otherwise.
 */
import { Refusal } from "../model/mod.ts";
import type { BodyDecoder } from "./body_decoder.ts";

/** How an answer is written. */
export type Format = "json" | "yaml";

/** What an object or a list is turned into before it is written. */
export interface Transform {
  readonly kind: "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
  /** `v1` or `v1beta1` of meta.k8s.io. */
  readonly version: string;
}

/** What was agreed on. */
export interface Negotiated {
  readonly format: Format;
  readonly isPretty: boolean;
  readonly transform: Transform | undefined;
}

interface Clause {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

interface MediaType {
  readonly subtype: string;
  readonly format: Format;
}

const served: readonly MediaType[] = [{ subtype: "json", format: "json" }, { subtype: "yaml", format: "yaml" }];

/** The Content-Type of each format. */
export const contentTypes: Readonly<Record<Format, string>> = { json: "application/json", yaml: "application/yaml" };

const plainJson: Negotiated = { format: "json", isPretty: false, transform: undefined };

/** Agrees on the form of an answer. @throws Refusal 406 */
export function negotiate(accept: string | null, canTransform = true): Negotiated {
  if (accept === null || accept === "" || accept === "application/json" || accept === "*/*") return plainJson;
  for (const clause of clausesOf(accept)) {
    for (const type of served) {
      if (!isMatch(clause, type)) continue;
      const negotiated = accepted(clause, type, canTransform);
      if (negotiated !== undefined) return negotiated;
    }
  }
  throw notAccepted(accept);
}

/** What kube-apiserver writes. It is what its refusals list, so ours do too. */
const listed = [contentTypes.json, contentTypes.yaml, "application/vnd.kubernetes.protobuf"];

/** Whoever has just been refused protobuf must not be told to speak it. */
function listedFor(asked: string): readonly string[] {
  return asked.includes("protobuf") ? listed.slice(0, 2) : listed;
}

function notAccepted(accept: string): Refusal {
  const message = `only the following media types are accepted: ${listedFor(accept).join(", ")}`;
  return new Refusal(406, "NotAcceptable", message);
}

/**
 * 406 where the routes of built-in kinds know none of the types: these are looked at before anything is negotiated, without
 * their parameters, and no pattern but that for all matches.
 *
 * @param isStream true where the same route answers watches
 */
export function notProduced(accept: string, isStream: boolean): Refusal | undefined {
  if (accept === contentTypes.json) return undefined;
  const types = accept.split(",").map((clause) => (clause.split(";")[0] ?? "").trim());
  if (types.some((type) => type === "*/*" || listed.includes(type))) return undefined;
  const streams = isStream ? [listed[0], listed[2]].map((type) => `${type};stream=watch`) : [];
  const message = `406: Not Acceptable\n\nAvailable representations: ${[...listed, ...streams].join(", ")}`;
  return new Refusal(406, "NotAcceptable", message, {});
}

function isMatch(clause: Clause, type: MediaType): boolean {
  if (clause.type === "*" && clause.subtype === "*") return true;
  return clause.type === "application" && (clause.subtype === type.subtype || clause.subtype === "*");
}

function accepted(clause: Clause, type: MediaType, canTransform: boolean): Negotiated | undefined {
  const { parameters } = clause;
  const stream = parameters.get("stream") ?? "";
  if (stream !== "" && stream !== "watch") return undefined;
  const [as, group, version] = [parameters.get("as"), parameters.get("g"), parameters.get("v")];
  const isPretty = parameters.get("pretty") === "1";
  if (as === undefined && group === undefined && version === undefined) {
    return { format: type.format, isPretty, transform: undefined };
  }
  if (!canTransform || group !== "meta.k8s.io" || (version !== "v1" && version !== "v1beta1")) return undefined;
  if (as !== "Table" && as !== "PartialObjectMetadata" && as !== "PartialObjectMetadataList") return undefined;
  return { format: type.format, isPretty, transform: { kind: as, version } };
}

/** The clauses of an Accept header, the most wanted first. */
function clausesOf(header: string): readonly Clause[] {
  const clauses = header.split(",").map(clauseOf).filter((clause) => clause.type !== "");
  return clauses.sort((left, right) => right.quality - left.quality || specificity(right) - specificity(left));
}

function specificity(clause: Clause): number {
  return (clause.type === "*" ? 0 : 2) + (clause.subtype === "*" ? 0 : 1);
}

function clauseOf(text: string): Clause {
  const [range = "", ...rest] = text.split(";");
  const [type = "", subtype = ""] = range.trim().split("/");
  const parameters = new Map<string, string>();
  for (const parameter of rest) {
    const equals = parameter.indexOf("=");
    if (equals > 0) parameters.set(parameter.slice(0, equals).trim(), parameter.slice(equals + 1).trim());
  }
  const quality = Number(parameters.get("q") ?? "1");
  parameters.delete("q");
  const isBare = type === "*" && subtype === "";
  return { type, subtype: isBare ? "*" : subtype, quality: Number.isNaN(quality) ? 1 : quality, parameters };
}

/** How a body is read: as one of ours, or by a decoder. @throws Refusal 415 */
export function bodyFormat(contentType: string | null, decoders: readonly BodyDecoder[] = []): Format | BodyDecoder {
  if (contentType === null || contentType === "" || contentType === "application/json") return "json";
  const type = (contentType.split(";")[0] ?? "").trim().toLowerCase();
  if (type === "application/json") return "json";
  if (type === "application/yaml") return "yaml";
  const decoder = decoders.find((known) => known.contentType === type);
  if (decoder !== undefined) return decoder;
  throw unsupported([...new Set([...listedFor(type), ...decoders.map((known) => known.contentType)])]);
}

/** 415: a body nobody here can read. */
export function unsupported(accepted: readonly string[]): Refusal {
  const message = "the body of the request was in an unknown format - accepted media types include: " +
    accepted.join(", ");
  return new Refusal(415, "UnsupportedMediaType", message);
}
