/** `serviceaccounts/token` (`kubectl create token`): issues tokens with a lifetime, audiences and a bound object. */
import {
  badRequest,
  conflict,
  invalid,
  isJsonObject,
  type Json,
  type JsonObject,
  notFound,
  type ObjectReader,
  read,
} from "../model/mod.ts";
import { type ActionCall, readMetadata, type SubresourceHandler, timestamp } from "../registry/mod.ts";
import { objectAt, textAt, textsAt } from "../kinds/mod.ts";
import type { TokenAuthority, TokenClaims } from "./token_authority.ts";

/** Seconds. The limits are those of kube-apiserver. */
const lifetimeSeconds = { default: 3600, min: 600, max: 2 ** 32 };

/** What the plugin ServiceAccount requests for Pods. Such a token is valid for a year, because old clients never reread it. */
const podSeconds = 3607;
const extendedSeconds = 365 * 24 * 3600;

const collections: ReadonlyMap<string, string> = new Map([
  ["Pod", "pods"],
  ["Secret", "secrets"],
  ["Node", "nodes"],
]);

/** What the handlers need. */
export interface TokenHandlerParts {
  readonly tokens: TokenAuthority;
  readonly objects: ObjectReader;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The handler of `serviceaccounts/token`. */
export function tokenHandlers({ tokens, objects, now }: TokenHandlerParts): readonly SubresourceHandler[] {
  return [{
    collection: "serviceaccounts",
    subresource: "token",
    handle(call) {
      const claims = claimsOf(call, objects, tokens.issuer);
      const expires = timestamp(now() + (claims.warnAfterSeconds ?? claims.lifetimeSeconds) * 1000);
      const status = call.isDryRun
        ? { token: "", expirationTimestamp: expires }
        : { token: tokens.issue(claims), expirationTimestamp: expires };
      const spec = {
        ...specOf(call),
        audiences: claims.audiences.length === 0 ? [tokens.issuer] : claims.audiences,
        expirationSeconds: claims.warnAfterSeconds ?? claims.lifetimeSeconds,
      };
      const { name, namespace, body = {} } = call;
      const metadata = {
        ...readMetadata(body),
        name,
        namespace,
        uid: claims.uid,
        creationTimestamp: timestamp(now()),
      };
      const object: JsonObject = {
        kind: "TokenRequest",
        apiVersion: "authentication.k8s.io/v1",
        metadata,
        spec,
        status,
      };
      return { kind: "object", code: 201, object };
    },
  }];
}

function claimsOf(call: ActionCall, objects: ObjectReader, issuer: string): TokenClaims {
  const { name, namespace, body = {} } = call;
  const account = objects.get("serviceaccounts", namespace, name);
  const requestedName = textAt(readMetadata(body), "name");
  if (requestedName !== "" && requestedName !== name) {
    const detail = "must match the service account name if specified";
    throw invalid({ ...tokenRequest, name }, [{
      type: "Invalid",
      field: "metadata.name",
      value: requestedName,
      detail,
    }]);
  }
  if (account === undefined) throw notFound({ group: "", resource: "serviceaccounts", name });
  const [uid, requestedUid] = [uidOf(account), textAt(readMetadata(body), "uid")];
  if (requestedUid !== "" && requestedUid !== uid) {
    const why = `the UID in the token request (${requestedUid}) does not match the UID of the service account (${uid})`;
    throw conflict({ ...tokenRequest, name }, why);
  }
  const spec = specOf(call);
  const requested = typeof spec.expirationSeconds === "number" ? spec.expirationSeconds : lifetimeSeconds.default;
  if (requested < lifetimeSeconds.min || requested > lifetimeSeconds.max) {
    const detail = requested < lifetimeSeconds.min
      ? "may not specify a duration less than 10 minutes"
      : "may not specify a duration larger than 2^32 seconds";
    throw invalid({ ...tokenRequest, name: "" }, [
      { type: "Invalid", field: "spec.expirationSeconds", value: requested, detail },
    ]);
  }
  const bound = boundOf(spec, { namespace, account: name, objects });
  const audiences = textsAt(spec, "audiences");
  const isForServer = audiences.every((audience) => audience === issuer);
  const isExtended = bound?.boundTo.kind === "Pod" && requested === podSeconds && isForServer;
  return {
    namespace,
    name,
    uid,
    audiences,
    lifetimeSeconds: isExtended ? extendedSeconds : requested,
    ...(isExtended ? { warnAfterSeconds: requested } : {}),
    ...bound,
  };
}

const tokenRequest = { group: "authentication.k8s.io", resource: "TokenRequest" };

interface Binding {
  readonly namespace: string;
  readonly account: string;
  readonly objects: ObjectReader;
}

/** The object that the token is bound to, and the Node of a Pod. */
function boundOf(
  spec: JsonObject,
  { namespace, account, objects }: Binding,
): Required<Pick<TokenClaims, "boundTo">> & Pick<TokenClaims, "node"> | undefined {
  const reference = read<Json>(spec, "boundObjectRef");
  if (!isJsonObject(reference)) return undefined;
  const [apiVersion, kind, name] = ["apiVersion", "kind", "name"].map((key) => textAt(reference, key));
  // As in kube-apiserver, only the group counts, so that apiVersion may be missing.
  const collection = apiVersion?.includes("/") ? undefined : collections.get(kind ?? "");
  if (collection === undefined || kind === undefined || name === undefined) {
    const type = apiVersion?.includes("/") ? apiVersion : `/${apiVersion}`;
    throw badRequest(`cannot bind token to object of type ${type}, Kind=${kind}`);
  }
  const object = objects.get(collection, kind === "Node" ? "" : namespace, name);
  if (object === undefined) throw notFound({ group: "", resource: collection, name });
  const [podSpec, uid, wanted] = [objectAt(object, "spec"), uidOf(object), textAt(reference, "uid")];
  if (kind === "Pod" && textAt(podSpec, "serviceAccountName") !== account) {
    const why = "to pod running with different serviceaccount name.";
    throw badRequest(`cannot bind token for serviceaccount ${JSON.stringify(account)} ${why}`);
  }
  if (wanted !== "" && wanted !== uid) {
    const why = "The object might have been deleted and then recreated";
    const what = `the UID in the bound object reference (${wanted}) does not match the UID in record. ${why}`;
    throw conflict({ group: "", resource: kind, name }, what);
  }
  const node = kind === "Pod" ? textAt(podSpec, "nodeName") : "";
  const boundTo = { kind, name, uid };
  if (node === "") return { boundTo };
  return { boundTo, node: { name: node, uid: uidOf(objects.get("nodes", "", node) ?? {}) } };
}

function specOf({ body = {} }: ActionCall): JsonObject {
  return objectAt(body, "spec");
}

function uidOf(object: JsonObject): string {
  return textAt(objectAt(object, "metadata"), "uid");
}
