/**
 * kubernetesApi(): an ApiServer with all that a Kubernetes of 1.36 has: its kinds, CRDs, discovery, webhooks, and, where it
 * is asked for, people with tokens who may do only what RBAC allows.
 */
import { type Clock, type Random, systemClock, systemRandom } from "../async/mod.ts";
import {
  accessReviews,
  bootstrapRbac,
  RbacAuthorizer,
  RequestAuthenticator,
  TokenAuthority,
  tokenHandlers,
} from "./access/mod.ts";
import { actionHandlers, actionReviews } from "./actions/mod.ts";
import {
  type CallWebhook,
  expressionRules,
  httpsWebhookCaller,
  PolicyAdmission,
  WebhookAdmission,
} from "./admission/mod.ts";
import { ApiServer } from "./api_server.ts";
import { CustomResources, definitionRules } from "./crd/mod.ts";
import { discoveryPaths } from "./discovery/mod.ts";
import { bodyFamilies, builtinFamilies, systemPriorityClasses } from "./kinds/mod.ts";
import type { Kind, User } from "./model/mod.ts";
import { openApiPaths } from "./openapi/mod.ts";
import { builtinAdmission, priorityCollection } from "./plugins/mod.ts";
import { decodeProtobuf, protobufType } from "./protobuf/mod.ts";
import { quotaStatusWriter } from "./quota_status.ts";
import { KindRegistry, newUid, timestamp } from "./registry/mod.ts";
import { ObjectStorage } from "./storage/mod.ts";

/** Options of {@link kubernetesApi}. */
export interface KubernetesApiOptions {
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
  /** What it begins with, as a real one with what etcd holds. @default nothing */
  readonly storage?: ObjectStorage;
  /** Bearer tokens and whose they are. Absent: nobody is asked, and everybody may do everything. */
  readonly tokens?: ReadonlyMap<string, User>;
  /** Where the services of webhooks are: `namespace/name` to an origin. @default none */
  readonly webhookServices?: ReadonlyMap<string, string>;
  /** @default over HTTPS */
  readonly callWebhook?: CallWebhook;
  /** Told of what should not have happened; the client gets a 500. @default console.error */
  readonly onError?: (error: unknown) => void;
}

/** An API server, and who makes tokens for it. */
export interface KubernetesApi {
  readonly server: ApiServer;
  readonly tokens: TokenAuthority;
}

/**
 * Makes one.
 *
 * @example
 * ```ts
 * import { kubernetesApi } from "./mod.ts";
 *
 * const { server } = kubernetesApi();
 * using _ending = server;
 * const response = await server.fetch(new Request("http://in.memory/api/v1/namespaces/default"));
 * console.assert(response.status === 200);
 * ```
 */
export function kubernetesApi(options: KubernetesApiOptions = {}): KubernetesApi {
  const { clock = systemClock, random = systemRandom, storage = new ObjectStorage() } = options;
  const kinds = ownKinds();
  const now = () => clock.now();
  const callWebhook = options.callWebhook ?? httpsWebhookCaller({ clock, services: options.webhookServices });
  const onError = options.onError === undefined ? {} : { onError: options.onError };
  const tokens = new TokenAuthority({ clock, objects: storage, fixed: options.tokens });
  const authorizer = options.tokens === undefined
    ? { authorize: () => ({ isAllowed: true, reason: "" }) }
    : new RbacAuthorizer(storage);
  const otherKinds = ({ collection, version }: Kind) =>
    (kinds.family(collection)?.served ?? []).filter((kind) => kind.version !== version);
  const builtin = builtinAdmission({
    objects: storage,
    random,
    now,
    setUsed: quotaStatusWriter(() => server.registry),
  });
  const server: ApiServer = new ApiServer({
    clock,
    random,
    kinds,
    storage,
    ...(options.tokens === undefined
      ? {}
      : { authenticator: new RequestAuthenticator({ tokens, authorizer }), authorizer }),
    admission: [
      builtin.first,
      new PolicyAdmission({
        objects: storage,
        authorizer,
        findKind: (group, version, kind) => kinds.findKind(group, version, kind)?.kind,
        otherKinds,
      }),
      new WebhookAdmission({
        objects: storage,
        call: callWebhook,
        authorizer,
        otherKinds,
        newUid: () => newUid(random),
      }),
      builtin.last,
    ],
    paths: [discoveryPaths(kinds), openApiPaths(kinds)],
    decoders: [{ contentType: protobufType, decode: decodeProtobuf }],
    subresources: [
      ...actionHandlers(now),
      ...tokenHandlers({ tokens, objects: storage, now }),
    ],
    reviews: [...accessReviews({ authorizer, tokens, now }), ...actionReviews(now)],
    ...onError,
  });
  // Lives as long as the storage that it watches.
  new CustomResources({ storage, kinds, clock, random, callWebhook, ...onError });
  if (options.tokens !== undefined) bootstrap(storage, { clock, random });
  return { server, tokens };
}

let everybodys: KindRegistry | undefined;

/** The kinds that every server begins with: what servers find out about their types needs finding out once. */
function ownKinds(): KindRegistry {
  everybodys ??= builtinKinds();
  return everybodys.copy();
}

function builtinKinds(): KindRegistry {
  const rules = new Map([
    ...expressionRules,
    ["CustomResourceDefinition.apiextensions.k8s.io", definitionRules] as const,
  ]);
  const kinds = new KindRegistry();
  for (const family of builtinFamilies({ rules })) kinds.set(family);
  for (const family of bodyFamilies()) kinds.addBody(family);
  return kinds;
}

/** What RBAC is made of, before anybody asks. */
function bootstrap(
  storage: ObjectStorage,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): void {
  const creationTimestamp = timestamp(clock.now());
  for (const [collection, object] of bootstrapRbac(() => ({ uid: newUid(random), creationTimestamp }))) {
    storage.create(collection, object.metadata.namespace ?? "", object.metadata.name, object);
  }
  for (const { name, object } of systemPriorityClasses(() => ({ uid: newUid(random), creationTimestamp }))) {
    storage.create(priorityCollection, "", name, object);
  }
}
