/**
 * ControlPlane: the API server and the simulated cluster of one run, in this process and on real time, with what users and
 * oracles do there. The program reaches it through a FrontServer only.
 *
 * Guarantees: a run that starts from a copy of a storage changes nothing in it. Disposing it ends all watches and timers.
 */
import { apiVersionOf, type KubeObject, splitKey } from "../../api/mod.ts";
import {
  type CallWebhook,
  type ExecAnswers,
  type KubernetesApi,
  kubernetesApi,
  ObjectStorage,
  type User,
} from "../../apiserver/mod.ts";
import type { Clock, Random } from "../../async/mod.ts";
import { ApiError, Client, type Transport } from "../../client/mod.ts";
import { SimulatedCluster } from "../../cluster/mod.ts";
import { requestInfo } from "../../manager/mod.ts";
import type { NotedChange } from "../../observe/mod.ts";
import {
  changesSince,
  conflictingPatch,
  notedChanges,
  type StoredView,
  storedViews,
  transientCollections,
  userFieldManager,
  type UsersServer,
} from "../engine.ts";
import { knownTextOf } from "../../runtime/mod.ts";
import { ProgramAccess, type ReviewedAttributes } from "./program_access.ts";
import type { ProgramIdentity } from "./program_objects.ts";

/** Options of a {@link ControlPlane}. */
export interface ControlPlaneOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The objects at the start; they are not changed. @default none */
  readonly storage?: ObjectStorage;
  readonly identity: ProgramIdentity;
  /** PEM text of the authority that Pods trust. */
  readonly ca: string;
  /** Signs the tokens of ServiceAccounts, PEM. @default a new key */
  readonly signingKey?: string;
  /** API versions of the past that the server serves all the same: `policy/v1beta1`. @default none */
  readonly removedVersions?: readonly string[];
  /** @default over HTTPS */
  readonly callWebhook?: CallWebhook;
  /** Scripts the commands of containers. @default the small shell of the server runs those that it knows */
  readonly execAnswers?: ExecAnswers;
  /** The program may do what the bindings of its ServiceAccount allow. @default false: it may do everything */
  readonly hasRules?: boolean;
  /** Of the storage: who has created which objects. @default nobody */
  readonly creators?: Creators;
  /** Called after each write of users and of the simulated cluster. @param since the revision before it */
  readonly onWrite?: (actor: "user" | "cluster", request: Request, since: number) => void;
  readonly onError: (error: unknown) => void;
}

/** The UIDs of objects, by who has created them. */
export interface Creators {
  readonly steps: ReadonlySet<string>;
  readonly program: ReadonlySet<string>;
}

/** Which requests a transport of the control plane sends. */
type Sender = "user" | "program" | "cluster";

const allGroups = ["system:masters", "system:authenticated"];

/** One server with its cluster. */
export class ControlPlane implements AsyncDisposable, UsersServer {
  readonly api: KubernetesApi;
  /** A client that acts as a user. */
  readonly user: Client;
  /** What the program may not do. */
  readonly access: ProgramAccess;
  /** The UIDs of the objects that steps have created. */
  readonly createdBySteps: Set<string>;
  readonly #createdByProgram: Set<string>;
  readonly #onWrite: NonNullable<ControlPlaneOptions["onWrite"]>;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  readonly #nodesCreated: Promise<void>;
  readonly #tokens: Readonly<Record<Sender, string>>;

  constructor(options: ControlPlaneOptions) {
    const { clock, random, storage, identity, ca, onError } = options;
    const { signingKey, removedVersions, callWebhook, execAnswers, creators } = options;
    this.#onWrite = options.onWrite ?? (() => {});
    this.createdBySteps = new Set(creators?.steps);
    this.#createdByProgram = new Set(creators?.program);
    const token = () => crypto.randomUUID();
    this.#tokens = { user: token(), program: token(), cluster: token() };
    const account = `system:serviceaccount:${identity.namespace}:${identity.name}`;
    const accountGroups = [`system:serviceaccounts:${identity.namespace}`, "system:serviceaccounts"];
    const program = options.hasRules === true
      ? { ...userOf(account), groups: [...accountGroups, "system:authenticated"] }
      : userOf(account);
    this.access = new ProgramAccess((attributes) => this.#mayDo(program, attributes));
    this.api = kubernetesApi({
      ...{ clock, random, onError, signingKey, removedVersions, callWebhook, execAnswers },
      storage: storage?.copy() ?? new ObjectStorage(),
      tokens: new Map([
        [this.#tokens.user, userOf(userFieldManager)],
        [this.#tokens.program, program],
        [this.#tokens.cluster, userOf("system:kube-controller-manager")],
      ]),
      components: ["controller-manager", "scheduler"],
    });
    this.user = new Client(this.transportOf("user"), { clock });
    const client = new Client(this.transportOf("cluster"), { clock });
    const { storage: live } = this.api.server;
    const cluster = new SimulatedCluster({ client, storage: live, clock, random, caCertificate: ca });
    const { signal } = this.#stop;
    this.#running = cluster.run({ stop: signal, kill: signal });
    this.#nodesCreated = Promise.race([cluster.nodesCreated, this.#running]);
    this.#running.catch((error: unknown) => {
      if (!signal.aborted) onError(error);
    });
  }

  /** Resolves when the nodes of the cluster exist. */
  async ready(): Promise<void> {
    await this.#nodesCreated;
  }

  /** The number of changes so far. */
  get revision(): number {
    return this.api.server.storage.revision;
  }

  /** Who has created what so far. */
  get creators(): Creators {
    return { steps: new Set(this.createdBySteps), program: new Set(this.#createdByProgram) };
  }

  /** The changes since a revision for a recording, oldest first, but for those of Events and Leases. */
  changesSince(revision: number, withStates: boolean): readonly NotedChange[] {
    return notedChanges(changesSince(this.api.server.storage, revision, transientCollections), withStates);
  }

  /** The kind of a collection: `Deployment` of `deployments.apps`. */
  kindOf(collection: string): string {
    return this.api.server.kinds.family(collection)?.storage.kind ?? "";
  }

  /** The transport of one side. */
  transportOf(sender: Sender): Transport {
    return async (request) => {
      const headers = new Headers(request.headers);
      headers.set("authorization", `Bearer ${this.#tokens[sender]}`);
      const since = this.revision;
      const response = await this.api.server.fetch(new Request(request, { headers }));
      if (sender !== "program" && request.method !== "GET" && response.ok) this.#onWrite(sender, request, since);
      if (sender === "program" && response.status === 201) await this.#noteCreatedByProgram(response);
      if (sender === "program" && response.status === 403) await this.access.noteForbidden(requestInfo(request));
      return response;
    };
  }

  /** Asks the server what the rules of a user allow. */
  async #mayDo({ name, groups }: User, resourceAttributes: ReviewedAttributes): Promise<boolean> {
    const apiVersion = "authorization.k8s.io/v1";
    const spec = { user: name, groups, resourceAttributes };
    const response = await this.transportOf("user")(
      new Request(`http://api/apis/${apiVersion}/subjectaccessreviews`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ apiVersion, kind: "SubjectAccessReview", spec }),
      }),
    );
    const { status }: { readonly status?: { readonly allowed?: boolean } } = await response.json();
    return status?.allowed === true;
  }

  async #noteCreatedByProgram(response: Response): Promise<void> {
    const { metadata }: Partial<KubeObject> = JSON.parse(knownTextOf(response) ?? await response.clone().text());
    if (metadata?.uid !== undefined) this.#createdByProgram.add(metadata.uid);
  }

  /** The objects that exist. */
  objects(): Iterable<StoredView> {
    return storedViews(this.api);
  }

  /** The object at a path; undefined when it does not exist. */
  at(path: string): KubeObject | undefined {
    for (const view of this.objects()) if (view.path === path) return view.object;
    return undefined;
  }

  /** The path of an object of a kind, whether it exists or not. */
  pathOf(apiVersion: string, kind: string, key: string): string | undefined {
    const { namespace: group = "", name: version } = splitKey(apiVersion);
    const known = this.api.server.kinds.findKind(group, version, kind)?.kind;
    if (known === undefined) return undefined;
    const { namespace, name } = splitKey(key);
    const root = group === "" ? `/api/${version}` : `/apis/${apiVersionOf(known)}`;
    return `${root}${namespace === undefined ? "" : `/namespaces/${namespace}`}/${known.plural}/${name}`;
  }

  /** Records what users have created since a revision, as a step of the workload. */
  noteCreated(since: number): void {
    for (const { change } of this.api.server.storage.changesAfter(since)) {
      const { metadata } = change.current.object as unknown as KubeObject;
      const managers = metadata.managedFields?.map(({ manager }) => manager) ?? [];
      if (change.kind === "added" && managers.includes(userFieldManager)) this.createdBySteps.add(metadata.uid ?? "");
    }
  }

  /** The run waits for rest after each step anyway. */
  noteEndOfForeignObject(): void {}

  /** Deletes or edits the object of a write as a user. An object without an owner is left alone: it is one of the user's. */
  async changeAsUser(action: "delete" | "edit", path: string, body: string): Promise<void> {
    const object = this.at(path);
    const patch = action === "edit" ? conflictingPatch(body) : {};
    if (object?.metadata.ownerReferences === undefined || patch === undefined) return;
    await this.trySend(path, action === "delete" ? "DELETE" : "PATCH", patch);
  }

  /**
   * Sends a write as a user, who ignores a rejection. It deletes as kubectl does: the API's own default leaves the Pods of a Job
   * behind.
   */
  async trySend(path: string, method: "POST" | "PATCH" | "DELETE", body: object): Promise<void> {
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const query = method === "DELETE" ? "" : `?fieldManager=${userFieldManager}`;
    const sent = method === "DELETE" ? { propagationPolicy: "Background", ...body } : body;
    try {
      await this.user.raw(`${path}${query}`, { method, body: JSON.stringify(sent), contentType });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running.catch(() => undefined);
    this.api.server[Symbol.dispose]();
  }
}

function userOf(name: string): User {
  return { name, uid: "", groups: allGroups, extra: new Map() };
}
