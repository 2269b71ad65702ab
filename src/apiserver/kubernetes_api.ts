/**
 * kubernetesApi(): an ApiServer with the parts of a Kubernetes 1.36: built-in kinds, CRDs, discovery, OpenAPI, admission
 * plugins, policies and webhooks. With tokens, it also has users whose permissions RBAC decides.
 */
import { type Clock, type Random, systemClock, systemRandom } from "../async/mod.ts";
import {
  accessReviews,
  type Account,
  AccountAuthenticator,
  AuthorizerChain,
  claimStatusCheck,
  escalationCheck,
  FlowSchemas,
  NodeAuthorizer,
  paramAccess,
  RbacAuthorizer,
  RequestAuthenticator,
  TokenAuthority,
  tokenHandlers,
  withBootstrapRbac,
} from "./access/mod.ts";
import {
  actionHandlers,
  actionReviews,
  type ComponentName,
  componentStatuses,
  type ExecAnswers,
} from "./actions/mod.ts";
import {
  type CallWebhook,
  expressionRules,
  httpsWebhookCaller,
  MutatingPolicyAdmission,
  PolicyAdmission,
  WebhookAdmission,
} from "./admission/mod.ts";
import { Aggregator, type FrontProxy, publishAuthentication } from "./aggregation/mod.ts";
import { admin, ApiServer, reportError } from "./api_server.ts";
import { advertise, type Advertised, createDefaultObjects, DerivedObjects } from "./bootstrap/mod.ts";
import { CustomResources, definitionRules } from "./crd/mod.ts";
import { deviceRules } from "./devices/mod.ts";
import { discoveryPaths, issuerPaths, processPages } from "./discovery/mod.ts";
import { proxyHandlers, standInClient } from "./forward/mod.ts";
import { bodyFamilies, builtinFamilies, serveRemovedVersion } from "./kinds/mod.ts";
import type { FeatureGate } from "./http/mod.ts";
import { type Attributes, draftOf, type JsonObject, type Kind, StatusError, type User } from "./model/mod.ts";
import { openApiPaths } from "./openapi/mod.ts";
import { builtinAdmission, type SetUsed } from "./plugins/mod.ts";
import { decodeProtobuf, protobufType } from "./protobuf/mod.ts";
import { EventExpiry, KindRegistry, loopbackCall, metadataText, newUid, type Registry } from "./registry/mod.ts";
import { type Durability, ObjectStorage } from "./storage/mod.ts";

/** Options of {@link kubernetesApi}. */
export interface KubernetesApiOptions {
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
  /** The initial objects, like an etcd with data. @default an empty storage */
  readonly storage?: ObjectStorage;
  /** What keeps the changes of this storage; responses and watches wait for it. @default nothing: they are in memory only */
  readonly durability?: Durability;
  /** Bearer tokens and their users. If absent, requests need no credentials and may do everything. */
  readonly tokens?: ReadonlyMap<string, User>;
  /** Every request with a known user is allowed, as with the authorization mode AlwaysAllow. @default false: RBAC decides */
  readonly allowsEverything?: boolean;
  /** Kubelets may do what the authorization mode Node allows. @default true */
  readonly authorizesNodes?: boolean;
  /** Admission plugins that are off, by the names of kube-apiserver: `ServiceAccount`. @default none */
  readonly disabledPlugins?: readonly string[];
  /** Requests without a credential are those of `system:anonymous`. @default false: they are rejected */
  readonly allowsAnonymous?: boolean;
  /** The first one issues the tokens of ServiceAccounts; tokens of the others are valid, too. @default "https://kubernetes.default.svc.cluster.local" */
  readonly issuers?: readonly string[];
  /** The private key that signs these tokens, PEM: RSA or P-256. @default a new one */
  readonly signingKey?: string;
  /** Keys whose tokens are valid beside those of the signing key: public or private, PEM. @default none */
  readonly trustedKeys?: readonly string[];
  /** Where other programs read the keys of tokens: `jwks_uri` of the discovery of the issuer. @default `/openid/v1/jwks` of this server */
  readonly keysUrl?: string;
  /** Users with a token and given permissions. Without `tokens`, all other requests may do everything. @default none */
  readonly accounts?: readonly Account[];
  /** The origins of webhook services, by `namespace/name`. @default none */
  readonly webhookServices?: ReadonlyMap<string, string>;
  /** @default over HTTPS */
  readonly callWebhook?: CallWebhook;
  /** Scripts the commands of containers. @default the small shell runs those that it knows */
  readonly execAnswers?: ExecAnswers;
  /** The parts of the control plane that run beside this server, which ComponentStatuses say. @default none */
  readonly components?: readonly ComponentName[];
  /** The flags of the process and their values, which `/flagz` shows. @default none */
  readonly flags?: ReadonlyMap<string, string>;
  /** The certificate for other API servers, to which requests are passed on; a ConfigMap has its authority. @default none */
  readonly frontProxy?: FrontProxy;
  /** Feature gates that are on beside those of the default: `ShardedListAndWatch`. @default none */
  readonly features?: readonly FeatureGate[];
  /** Versions that Kubernetes has removed, for operators of their time: `policy/v1beta1`. @default none */
  readonly removedVersions?: readonly string[];
  /** Called with each unexpected error; the client gets a 500. @default writes it to stderr, without secrets */
  readonly onError?: (error: unknown) => void;
}

/** An API server and the authority that issues its tokens. */
export interface KubernetesApi {
  readonly server: ApiServer;
  readonly tokens: TokenAuthority;
  /** Writes where the server listens: the Service `kubernetes` with its Endpoints. Without `tokens`, nothing. */
  advertise(listener: Advertised): void;
}

/**
 * Creates an API server.
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
  const kinds = copyOfBuiltinKinds();
  for (const version of options.removedVersions ?? []) serveRemovedVersion(version, kinds);
  const now = () => clock.now();
  const callWebhook = options.callWebhook ?? httpsWebhookCaller({ clock, services: options.webhookServices });
  const onError = options.onError === undefined ? {} : { onError: options.onError };
  const { accounts = [] } = options;
  const fixed = new Map([...options.tokens ?? [], ...accounts.map(({ token, user }) => [token, user] as const)]);
  const { issuers, signingKey, trustedKeys, allowsAnonymous } = options;
  const tokens = new TokenAuthority({ clock, random, objects: storage, fixed, issuers, signingKey, trustedKeys });
  const kindOf = ({ group, version, resource }: Attributes) => kinds.find(group, version, resource)?.kind.kind;
  const hasUsers = options.tokens !== undefined || accounts.length > 0;
  const roles = options.tokens === undefined ? withBootstrapRbac(storage) : storage;
  const rbac = hasUsers && options.allowsEverything !== true
    ? new RbacAuthorizer(roles, { accounts, kindOf })
    : undefined;
  const nodes = rbac === undefined || options.authorizesNodes === false ? undefined : new NodeAuthorizer(storage);
  const authorizer = rbac === undefined
    ? { authorize: () => ({ isAllowed: true, reason: "" }) }
    : new AuthorizerChain(nodes === undefined ? [rbac] : [nodes, rbac]);
  const authenticator = options.tokens === undefined
    ? new AccountAuthenticator(accounts, admin, authorizer)
    : new RequestAuthenticator({ tokens, authorizer, allowsAnonymous });
  const otherKinds = ({ collection, version }: Kind) =>
    (kinds.family(collection)?.served ?? []).filter((kind) => kind.version !== version);
  const policySources = {
    objects: storage,
    authorizer,
    findKind: (group: string, version: string, kind: string) => kinds.findKind(group, version, kind)?.kind,
    otherKinds,
  };
  const builtin = builtinAdmission({
    objects: storage,
    random,
    now,
    setUsed: quotaStatusWriter(() => server.registry),
    authorizer,
    disabled: options.disabledPlugins,
  });
  const flowControl = options.tokens === undefined ? undefined : new FlowSchemas(storage, clock);
  const { durability } = options;
  // The folder of the objects is the etcd here.
  const storageProblem = () => durability?.hasFailed === true ? "the objects cannot be stored" : undefined;
  const standIns = standInClient();
  const aggregator = new Aggregator({
    storage,
    registry: () => server.registry,
    clock,
    random,
    frontProxy: options.frontProxy,
    onError: options.onError ?? reportError,
  });
  const server: ApiServer = new ApiServer({
    clock,
    random,
    kinds,
    storage,
    durability: options.durability,
    ...(hasUsers ? { authenticator, authorizer } : {}),
    admission: [
      ...(rbac === undefined ? [] : [paramAccess(policySources)]),
      builtin.kubelets,
      builtin.first,
      new MutatingPolicyAdmission(policySources),
      new PolicyAdmission(policySources),
      new WebhookAdmission({
        objects: storage,
        call: callWebhook,
        authorizer,
        otherKinds,
        newUid: () => newUid(random),
      }),
      builtin.last,
      ...(rbac === undefined ? [] : [escalationCheck(roles, rbac, authorizer), claimStatusCheck(authorizer)]),
    ],
    forwarder: aggregator,
    paths: [
      discoveryPaths(kinds, aggregator),
      openApiPaths(kinds),
      issuerPaths(tokens, options.keysUrl),
      processPages({ clock, random, flags: options.flags }),
    ],
    decoders: [{ contentType: protobufType, decode: decodeProtobuf }],
    ...(options.features === undefined ? {} : { features: options.features }),
    subresources: [
      ...actionHandlers(clock, options.execAnswers),
      ...proxyHandlers(random, standIns),
      ...tokenHandlers({ tokens, objects: storage, now }),
    ],
    reviews: [...accessReviews({ authorizer, rbac, nodes, tokens, now }), ...actionReviews(now)],
    computed: [componentStatuses({ running: new Set(options.components), storageProblem })],
    beforeRequest: new EventExpiry({ storage, clock }).run,
    checks: [{ name: "ping", check: () => undefined }, { name: "etcd", check: storageProblem }],
    resources: [aggregator, { [Symbol.dispose]: () => standIns.close() }],
    ...(flowControl === undefined ? {} : { flowControl }),
    ...onError,
  });
  // It lives as long as the storage that it watches.
  new CustomResources({ storage, kinds, clock, random, callWebhook, ...onError });
  aggregator.start();
  if (options.frontProxy !== undefined) publishAuthentication(storage, options.frontProxy, { clock, random });
  if (options.tokens === undefined) return { server, tokens, advertise: () => {} };
  createDefaultObjects(storage, { clock, random });
  // It lives as long as the storage, too.
  new DerivedObjects(storage, { clock, random });
  return { server, tokens, advertise: (listener) => advertise(storage, listener, { clock, random }) };
}

let sharedKinds: KindRegistry | undefined;

/** The initial kinds of a server. All servers share the Kind values, so that their types are compiled only once. */
function copyOfBuiltinKinds(): KindRegistry {
  sharedKinds ??= builtinKinds();
  return sharedKinds.copy();
}

function builtinKinds(): KindRegistry {
  const rules = new Map([
    ...expressionRules,
    ...deviceRules,
    ["CustomResourceDefinition.apiextensions.k8s.io", definitionRules] as const,
  ]);
  const kinds = new KindRegistry();
  for (const family of builtinFamilies({ rules })) kinds.set(family);
  for (const family of bodyFamilies()) kinds.addBody(family);
  return kinds;
}

/**
 * Writes the usage of a ResourceQuota into its status, as a request of the server itself.
 *
 * @param registry a function, because the admission plugins are created before the registry
 */
function quotaStatusWriter(registry: () => Registry): SetUsed {
  return async (quota, used) => {
    const { kinds } = registry();
    const known = kinds.find("", "v1", "resourcequotas");
    if (known === undefined) return true;
    const call = loopbackCall(known, { namespace: metadataText(quota, "namespace"), subresource: "status" });
    const next = withUsed(quota, Object.fromEntries(used));
    try {
      await registry().put(call, metadataText(quota, "name"), () => draftOf(next));
      return true;
    } catch (error) {
      // 404: a deleted quota limits nothing.
      if (error instanceof StatusError && error.status.code === 404) return true;
      if (error instanceof StatusError && error.status.code === 409) return false;
      throw error;
    }
  };
}

function withUsed(quota: JsonObject, used: JsonObject): JsonObject {
  const { status } = quota;
  return { ...quota, status: { ...(typeof status === "object" ? status : {}), used } };
}
