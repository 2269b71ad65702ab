/**
 * Media types: negotiates the format of the response and chooses the decoder of the body, like apiserver
 * `handlers/negotiation`. Responses are JSON, YAML or protobuf. Custom resources are not served in protobuf, their metadata is.
 */
import { type Draft, StatusError } from "../model/mod.ts";
import { protobufType } from "../protobuf/mod.ts";
/** The format of a response. */
export type Format = "json" | "yaml" | "protobuf";

/**
 * What a path serves: objects of built-in kinds or custom resources, in any form; the aggregated document of discovery; or
 * `plain`, what has no other form, such as an error.
 */
export type Endpoint = "builtin" | "custom" | "discovery" | "plain";

/** The form that a client requests instead of the object or the list. */
export interface Transform {
  readonly kind: "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
  /** `v1` or `v1beta1` of meta.k8s.io. */
  readonly version: string;
}

/** The result of the negotiation. */
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

/** In the order in which a pattern matches them. */
const served: readonly MediaType[] = [
  { subtype: "json", format: "json" },
  { subtype: "yaml", format: "yaml" },
  { subtype: "vnd.kubernetes.protobuf", format: "protobuf" },
];

/** The Content-Type of each format. */
export const contentTypes: Readonly<Record<Format, string>> = {
  json: "application/json",
  yaml: "application/yaml",
  protobuf: protobufType,
};

const plainJson: Negotiated = { format: "json", isPretty: false, transform: undefined };

/** Negotiates the format of a response. @throws StatusError 406 */
export function negotiate(accept: string | null, endpoint: Endpoint = "builtin"): Negotiated {
  const found = findNegotiated(accept, endpoint);
  if (found !== undefined) return found;
  throw new StatusError(406, "NotAcceptable", `only the following media types are accepted: ${listed.join(", ")}`);
}

/** Negotiates the format of a response; undefined when the client accepts none. */
export function findNegotiated(accept: string | null, endpoint: Endpoint): Negotiated | undefined {
  const isAny = accept === null || accept === "" || accept === "application/json" || accept === "*/*";
  if (isAny && endpoint !== "discovery") return plainJson;
  for (const clause of clausesOf(accept ?? "")) {
    for (const type of served) {
      if (!isMatch(clause, type)) continue;
      const negotiated = accepted(clause, type, endpoint);
      if (negotiated !== undefined) return negotiated;
    }
  }
  return undefined;
}

/** The media types that error messages list. */
const listed = served.map(({ format }) => contentTypes[format]);

/** The media types of watches, which are not served in YAML. */
export const streamTypes = [contentTypes.json, contentTypes.protobuf].map((type) => `${type};stream=watch`);

/**
 * 406 when a route of a built-in kind produces none of the accepted types. kube-apiserver checks this before the negotiation,
 * without the parameters of the types, and with no other pattern than "*\/*".
 *
 * @param isStream true when the route also serves watches @param produced the types of the route
 */
export function notProduced(
  accept: string,
  isStream: boolean,
  produced: readonly string[] = listed,
): StatusError | undefined {
  if (accept === contentTypes.json) return undefined;
  const types = accept.split(",").map((clause) => (clause.split(";")[0] ?? "").trim());
  if (types.some((type) => type === "*/*" || produced.includes(type))) return undefined;
  const streams = isStream ? streamTypes : [];
  const message = `406: Not Acceptable\n\nAvailable representations: ${[...produced, ...streams].join(", ")}`;
  return new StatusError(406, "NotAcceptable", message, {});
}

function isMatch(clause: Clause, type: MediaType): boolean {
  if (clause.type === "*" && clause.subtype === "*") return true;
  return clause.type === "application" && (clause.subtype === type.subtype || clause.subtype === "*");
}

function accepted(clause: Clause, type: MediaType, endpoint: Endpoint): Negotiated | undefined {
  const { parameters } = clause;
  const stream = parameters.get("stream") ?? "";
  if (stream !== "" && (stream !== "watch" || type.format === "yaml")) return undefined;
  const [as, group, version] = [parameters.get("as"), parameters.get("g"), parameters.get("v")];
  const isPretty = parameters.get("pretty") === "1";
  const plain: Negotiated = { format: type.format, isPretty, transform: undefined };
  const isPlain = as === undefined && group === undefined && version === undefined;
  if (endpoint === "discovery") {
    const isAggregated = as === "APIGroupDiscoveryList" && group === "apidiscovery.k8s.io" && version === "v2";
    return isAggregated ? plain : undefined;
  }
  if (isPlain) return endpoint === "custom" && type.format === "protobuf" ? undefined : plain;
  if (endpoint === "plain" || group !== "meta.k8s.io" || (version !== "v1" && version !== "v1beta1")) return undefined;
  if (as === "Table" && type.format === "protobuf") return undefined;
  if (as !== "Table" && as !== "PartialObjectMetadata" && as !== "PartialObjectMetadataList") return undefined;
  return { format: type.format, isPretty, transform: { kind: as, version } };
}

/** The clauses of an Accept header, by descending preference. */
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

/** The format of a body, or its decoder. @throws StatusError 415 */
export function bodyFormat(
  contentType: string | null,
  decoders: readonly BodyDecoder[] = [],
): Exclude<Format, "protobuf"> | BodyDecoder {
  if (contentType === null || contentType === "" || contentType === "application/json") return "json";
  const type = mediaTypeOf(contentType);
  if (type === "application/json") return "json";
  if (type === "application/yaml") return "yaml";
  const decoder = decoders.find((known) => known.contentType === type);
  if (decoder !== undefined) return decoder;
  // A path without a decoder for protobuf does not list it.
  const types = type === protobufType ? listed.filter((known) => known !== protobufType) : listed;
  throw unsupported([...new Set([...types, ...decoders.map((known) => known.contentType)])]);
}

/** A page about the process: `/statusz` or `/flagz`. */
export interface PageMedia {
  readonly format: "json" | "yaml" | "text";
  readonly isPretty: boolean;
  /** The version of the object; `v1beta1` for text. */
  readonly version: string;
}

/** The media types of pages about the process. */
const pageTypes = [
  { type: "application", subtype: "json", format: "json" },
  { type: "application", subtype: "yaml", format: "yaml" },
  { type: "text", subtype: "plain", format: "text" },
] as const;

/**
 * Negotiates the form of a page about the process: plain text, or an object that the client names by kind and version.
 *
 * @param kind of the object: `Statusz`
 * @returns undefined when the client accepts none
 */
export function findPageMedia(accept: string, kind: string): PageMedia | undefined {
  if (accept.trim() === "") return { format: "text", isPretty: false, version: "v1beta1" };
  for (const clause of clausesOf(accept)) {
    for (const { type, subtype, format } of pageTypes) {
      if (clause.type !== "*" && clause.type !== type) continue;
      if (clause.subtype !== "*" && clause.subtype !== subtype) continue;
      const { parameters } = clause;
      if ((parameters.get("stream") ?? "") !== "" || (parameters.get("sv") ?? "") !== "") continue;
      const target = ["as", "g", "v"].map((name) => parameters.get(name));
      const isPretty = parameters.get("pretty") === "1";
      if (format === "text") {
        if (target.every((part) => part === undefined)) return { format, isPretty, version: "v1beta1" };
        continue;
      }
      const [as, group, version = ""] = target;
      const isKnown = as === kind && group === "config.k8s.io" && (version === "v1alpha1" || version === "v1beta1");
      if (isKnown) return { format, isPretty, version };
    }
  }
  return undefined;
}

/** The response to a client that accepts no form of a page: in its format if that is JSON or YAML, else as indented JSON. */
export function pageNotAcceptable(accept: string): {
  readonly error: StatusError;
  readonly format: Exclude<Format, "protobuf">;
  readonly isPretty: boolean;
} {
  const types = pageTypes.map(({ type, subtype }) => `${type}/${subtype}`).join(", ");
  const error = new StatusError(406, "NotAcceptable", `only the following media types are accepted: ${types}`);
  const found = findNegotiated(accept.replaceAll(protobufType, "application/x"), "plain");
  if (found === undefined || found.format === "protobuf") return { error, format: "json", isPretty: true };
  return { error, format: found.format, isPretty: found.isPretty };
}

const parameter = /^;\s*([!#$%&'*+.^`|~\w-]+)\s*=\s*(?:[!#$%&'*+.^`|~\w-]+|"(?:[^"\\]|\\.)*")\s*/;

/** The media type of a header in lower case; undefined if the header is malformed, as Go's mime.ParseMediaType reads it. */
function mediaTypeOf(header: string): string | undefined {
  const [base = ""] = header.split(";");
  const seen = new Set<string>();
  for (let rest = header.slice(base.length).trim(); rest !== "" && rest !== ";";) {
    const found = parameter.exec(rest);
    const name = found?.[1]?.toLowerCase();
    if (found === null || name === undefined || seen.has(name)) return undefined;
    seen.add(name);
    rest = rest.slice(found[0].length);
  }
  return base.trim().toLowerCase();
}

/** 415: no decoder for the body. */
export function unsupported(accepted: readonly string[]): StatusError {
  const message = "the body of the request was in an unknown format - accepted media types include: " +
    accepted.join(", ");
  return new StatusError(415, "UnsupportedMediaType", message);
}

/** Decodes bodies of another media type. Go programs send protobuf for built-in kinds. */
export interface BodyDecoder {
  /** `application/vnd.kubernetes.protobuf`. */
  readonly contentType: string;
  /** Decodes a body to the equivalent JSON. @throws StatusError 400 when it is malformed */
  decode(bytes: Uint8Array): Draft;
}
