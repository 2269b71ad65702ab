/** `serviceaccounts/token` (`kubectl create token`): issues tokens with a lifetime, audiences and a bound object. */
import {
  badRequest,
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

const collections: Readonly<Record<string, string>> = { Pod: "pods", Secret: "secrets", Node: "nodes" };

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
      const claims = claimsOf(call, objects);
      const expires = timestamp(now() + claims.lifetimeSeconds * 1000);
      const status = call.isDryRun
        ? { token: "", expirationTimestamp: expires }
        : { token: tokens.issue(claims), expirationTimestamp: expires };
      const spec = {
        ...specOf(call),
        audiences: claims.audiences.length === 0 ? [tokens.issuer] : claims.audiences,
        expirationSeconds: claims.lifetimeSeconds,
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

function claimsOf(call: ActionCall, objects: ObjectReader): TokenClaims {
  const { name, namespace } = call;
  const account = objects.get("serviceaccounts", namespace, name);
  if (account === undefined) throw notFound({ group: "", resource: "serviceaccounts", name });
  const spec = specOf(call);
  const requested = typeof spec.expirationSeconds === "number" ? spec.expirationSeconds : lifetimeSeconds.default;
  if (requested < lifetimeSeconds.min || requested > lifetimeSeconds.max) {
    const detail = requested < lifetimeSeconds.min
      ? "may not specify a duration less than 10 minutes"
      : "may not specify a duration larger than 2^32 seconds";
    throw invalid({ group: "authentication.k8s.io", resource: "TokenRequest", name: "" }, [
      { type: "Invalid", field: "spec.expirationSeconds", value: requested, detail },
    ]);
  }
  const boundTo = boundOf(spec, namespace, objects);
  return {
    namespace,
    name,
    uid: uidOf(account),
    audiences: textsAt(spec, "audiences"),
    lifetimeSeconds: requested,
    ...(boundTo === undefined ? {} : { boundTo }),
  };
}

function boundOf(spec: JsonObject, namespace: string, objects: ObjectReader): TokenClaims["boundTo"] {
  const reference = read<Json>(spec, "boundObjectRef");
  if (!isJsonObject(reference)) return undefined;
  const [kind, name] = [`${reference.kind}`, `${reference.name}`];
  const collection = Object.hasOwn(collections, kind) ? collections[kind] : undefined;
  if (collection === undefined) {
    throw badRequest(`cannot bind token for object of type ${reference.apiVersion}, Kind=${kind}`);
  }
  const object = objects.get(collection, kind === "Node" ? "" : namespace, name);
  if (object === undefined) throw notFound({ group: "", resource: collection, name });
  return { kind, name, uid: uidOf(object) };
}

function specOf({ body = {} }: ActionCall): JsonObject {
  return objectAt(body, "spec");
}

function uidOf(object: JsonObject): string {
  return textAt(objectAt(object, "metadata"), "uid");
}
