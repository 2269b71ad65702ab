/**
 * Exchange: one request about objects, with everything that its handlers need: the kind in the URL, the user, the services of
 * the server, and the negotiated format of the response. The functions below create the Call of a registry verb from it.
 */
import type { Clock, Random } from "../../async/mod.ts";
import type { Decision, Kind, User } from "../model/mod.ts";
import type { Call, KnownKind, Registry, Selection } from "../registry/mod.ts";
import type { BodyDecoder, Negotiated } from "./media_types.ts";
import { type ListParameters, type WriteOptionsKind, writeParameters } from "./query_options.ts";
import type { RequestInfo } from "./request_info.ts";
import type { ResponseFormat } from "./response.ts";

/** Feature gates of kube-apiserver that are off by default and can be enabled here. */
export type FeatureGate = "ShardedListAndWatch";

/** What all requests share. */
export interface ResourceServices {
  readonly registry: Registry;
  readonly watches: WatchService;
  readonly clock: Clock;
  readonly random: Random;
  /** Decoders of bodies that are neither JSON nor YAML. */
  readonly decoders: readonly BodyDecoder[];
  readonly features: ReadonlySet<FeatureGate>;
  /** Throws a StatusError (403) when the user may not do this. */
  authorize(user: User, info: RequestInfo, verb: string, name: string): void;
  /** The decision on it. */
  decide(user: User, info: RequestInfo, verb: string, name: string): Decision;
}

/** Opens watches; see watches.ts. */
export interface WatchService {
  /** @throws StatusError */
  open(exchange: Exchange, call: Call, selection: Selection, parameters: ListParameters): Response;
}

/** One request about objects. */
export interface ResourceRequest {
  readonly request: Request;
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  readonly user: User;
  readonly known: KnownKind;
  /** The address of the client; "" if it is unknown. */
  readonly remoteAddress: string;
  /** Collects the warnings for the response. */
  readonly warnings: Set<string>;
}

/** A request with the services of the server and the format of its response. */
export interface Exchange extends ResourceRequest {
  readonly services: ResourceServices;
  readonly kind: Kind;
  readonly negotiated: Negotiated;
  readonly format: ResponseFormat;
}

/** The call of a verb that only reads. */
export function readingCall(exchange: Exchange): Call {
  return callOf(exchange, {
    isDryRun: false,
    fieldManager: "",
    fieldValidation: "Ignore",
    options: {},
  });
}

/** The call of a verb. */
export function callOf(
  exchange: Exchange,
  write: Pick<Call, "isDryRun" | "fieldManager" | "fieldValidation" | "options">,
): Call {
  const { known, info, user, request, services, warnings } = exchange;
  const { isDryRun, fieldManager, fieldValidation, options } = write;
  return {
    kind: known.kind,
    family: known.family,
    namespace: known.kind.scope === "Cluster" ? "" : info.namespace,
    subresource: info.subresource,
    user,
    fieldManager,
    fieldValidation,
    isDryRun,
    options,
    // Runtimes create the signal on first access.
    get signal() {
      return request.signal;
    },
    authorize: (verb, name) => services.authorize(user, info, verb, name),
    warn: (text) => void warnings.add(text),
  };
}

/** The call of a verb that writes, with its options from the query. @throws StatusError 400 or 422 */
export function writingCall(exchange: Exchange, kind: WriteOptionsKind): Call {
  const { query, request } = exchange;
  return callOf(exchange, writeParameters(query, kind, request.headers.get("user-agent") ?? ""));
}
