/**
 * ServerClient: the requests to an API server that are not about stored objects: the kinds that it serves, raw paths, tokens,
 * and the containers of Pods. `client.ts` adds the verbs of objects.
 */
import { z } from "zod";
import { builtin, type Resource, splitKey, type UntypedObject, untypedResource } from "../api/mod.ts";
import { systemClock } from "../async/mod.ts";
import type { ClientOptions, DeleteOptions, RawRequest, TokenRequest, TokenRequestOptions } from "./client_options.ts";
import { type DiscoveredKind, Discovery, type KindQuery } from "./discovery.ts";
import { deleteBody, objectPath, objectText } from "./encoder.ts";
import type { ObjectRequests } from "./object_requests.ts";
import { type LogOptions, podLogs } from "./pod_logs.ts";
import {
  type AttachOptions,
  type ContainerStreams,
  type ExecOptions,
  openStreams,
  type StreamContext,
} from "./pod_streams.ts";
import { forwardPort, type PortForward, type PortForwardOptions } from "./port_forward.ts";
import { parseResponse } from "./response_shape.ts";

const tokenRequestSchema = z.object({ status: z.object({ token: z.string(), expirationTimestamp: z.string() }) });

/** As long as a user waits who has just installed a kind. */
const discoveryRefreshMs = 1_000;

/**
 * Thrown by `client.resource()`: the API server serves no kind of that name.
 *
 * @example
 * ```ts
 * import { UnknownKindError } from "@pintle/controller/client";
 *
 * const error = new UnknownKindError("widgets.example.dev");
 * console.assert(error.message.startsWith('Cannot find the kind "widgets.example.dev": the API server serves none'));
 * ```
 */
export class UnknownKindError extends Error {
  /** The name of the class. */
  override readonly name = "UnknownKindError";

  /**
   * Creates the error.
   *
   * @param kind What was looked for.
   */
  constructor(kind: string) {
    super(
      `Cannot find the kind "${kind}": the API server serves none of that name. ` +
        "Compare it with kubectl api-resources, or install its definition",
    );
  }
}

/** The part of a {@link Client} that is not about stored objects. */
export abstract class ServerClient {
  readonly #requests: ObjectRequests;
  readonly #options: ClientOptions;
  #discovery: Discovery | undefined;

  /**
   * Used by {@link Client}.
   *
   * @param requests Sends the requests; it has the options of the client.
   */
  constructor(requests: ObjectRequests, options: ClientOptions) {
    this.#requests = requests;
    this.#options = options;
  }

  /**
   * Finds a kind of the server by a name that kubectl accepts: `deploy`, `deployments`, `Deployment`, `deployments.apps`,
   * `deployments.v1.apps`, or by group and kind. Discovery is read at the first call, and again for an unknown name, at most
   * once a second. `ctx.client` is a new client in each attempt: look up there only what cannot be declared.
   *
   * @param name The name, or the group and the kind; the version is the one that the server prefers.
   * @throws {UnknownKindError} when the server serves no such kind
   * @throws {ApiError} when the server rejects discovery
   *
   * @example
   * ```ts
   * import { ConfigMap } from "@pintle/controller";
   * import { UnknownKindError } from "@pintle/controller/client";
   * import { World } from "@pintle/controller/testing";
   *
   * await using world = await World.start({ controllers: [], cluster: false });
   * await world.create(ConfigMap, { name: "settings", data: { color: "red" } });
   *
   * const resource = await world.client.resource("cm");
   * const settings = await world.client.get(resource, "default/settings");
   * console.assert(JSON.stringify(settings.data) === '{"color":"red"}');
   * console.assert((await world.client.resource({ group: "apps", kind: "Deployment" })).plural === "deployments");
   *
   * const error = await world.client.resource("widgets").catch((error: unknown) => error);
   * console.assert(error instanceof UnknownKindError);
   * ```
   */
  async resource(
    name: string | KindQuery,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<Resource<UntypedObject>> {
    const { signal } = options;
    const found = typeof name === "string"
      ? await this.#kinds.find(name, signal)
      : await this.#kinds.findKind(name, signal);
    if (found !== undefined) return untypedResource(found.resource);
    throw new UnknownKindError(
      typeof name === "string" ? name : [name.kind, name.version, name.group].filter(Boolean).join("."),
    );
  }

  /**
   * Returns all kinds that the server serves, in all versions; the preferred version of a group is first. A group whose
   * server is down is left out. Discovery is read at the first call.
   *
   * @throws {ApiError} when the server rejects discovery
   *
   * @example
   * ```ts
   * import { World } from "@pintle/controller/testing";
   *
   * await using world = await World.start({ controllers: [], cluster: false });
   * const listable = (await world.client.resources()).filter(({ verbs }) => verbs.includes("list"));
   * console.assert(listable.some(({ resource, shortNames }) => resource.kind === "Pod" && shortNames.includes("po")));
   * ```
   */
  async resources(options: { readonly signal?: AbortSignal } = {}): Promise<readonly DiscoveredKind[]> {
    return await this.#kinds.resources(options.signal);
  }

  get #kinds(): Discovery {
    const { clock, logger } = this.#options;
    return this.#discovery ??= new Discovery(this, { clock, logger, refreshMs: discoveryRefreshMs });
  }

  /**
   * Reads the log of a container as lines. With `follow` it goes on until the container ends, and survives lost connections:
   * no line is lost or repeated. Leaving the loop ends the request.
   *
   * @param podKey `namespace/name` of the Pod.
   * @throws {ApiError} when the server rejects the request, e.g. while the container has not started
   * @throws {UnreachableError} when the first connection breaks; a followed log is resumed after that
   * @throws {TypeError} when the options contradict each other
   *
   * @example
   * ```ts
   * import { Client } from "@pintle/controller/client";
   *
   * const client = new Client(() => Promise.resolve(new Response("ready\nGET /\n"))); // await Client.fromKubeconfig()
   * const lines: string[] = [];
   * for await (const line of client.logs("shop/web-0", { container: "web", tailLines: 100 })) lines.push(line);
   * console.assert(lines.join() === "ready,GET /");
   * ```
   */
  logs(podKey: string, options: LogOptions = {}): AsyncGenerator<string, void, void> {
    return podLogs({ requester: this.#requests.requester, options: this.#options }, podKey, options);
  }

  /**
   * Runs a program in a container. It resolves when the program has been started. Needs the verbs `get` and `create` of
   * `pods/exec`.
   *
   * @param podKey `namespace/name` of the Pod.
   * @throws {ApiError} when the server rejects the request
   * @throws {UnreachableError} when there is no connection; the program may have been started
   * @throws {TypeError} for options that cannot be, and for a client of dry runs
   *
   * @example
   * ```ts kubelet
   * import { Client } from "@pintle/controller/client";
   *
   * using client = await Client.fromKubeconfig();
   * using program = await client.exec("shop/web-0", { command: ["sh", "-c", "cat; exit 3"], stdin: true });
   * const input = program.stdin.getWriter();
   * await input.write(new TextEncoder().encode("hello\n"));
   * await input.close();
   * const { stdout, exitCode } = await program.output();
   * console.assert(stdout === "hello\n" && exitCode === 3);
   * ```
   */
  async exec(podKey: string, options: ExecOptions): Promise<ContainerStreams> {
    const target = { podKey, subresource: "exec", command: options.command } as const;
    return await openStreams(this.#streams, target, options);
  }

  /**
   * Connects to the program that a container runs already: its output from now on, and its input if the container has one.
   * Needs the verbs `get` and `create` of `pods/attach`.
   *
   * @param podKey `namespace/name` of the Pod.
   * @throws {ApiError} when the server rejects the request
   * @throws {UnreachableError} when there is no connection
   *
   * @example
   * ```ts kubelet
   * import { Client } from "@pintle/controller/client";
   *
   * using client = await Client.fromKubeconfig();
   * using container = await client.attach("shop/web-0", { container: "web" });
   * for await (const bytes of container.stdout) {
   *   console.log(new TextDecoder().decode(bytes));
   *   break; // without it, until the container ends
   * }
   * ```
   */
  async attach(podKey: string, options: AttachOptions = {}): Promise<ContainerStreams> {
    return await openStreams(this.#streams, { podKey, subresource: "attach" }, options);
  }

  /**
   * Forwards a port of this machine to a port of a Pod, as `kubectl port-forward`. Needs the verbs `get` and `create` of
   * `pods/portforward`.
   *
   * @param podKey `namespace/name` of the Pod.
   * @throws {TypeError} when `port` is none
   * @throws {Error} with the code of the system (`EADDRINUSE`) when the local port cannot be used
   *
   * @example
   * ```ts kubelet
   * import { Client } from "@pintle/controller/client";
   *
   * using client = await Client.fromKubeconfig();
   * await using forward = await client.portForward("shop/web-0", { port: 8080 });
   * const response = await fetch(`http://${forward.hostname}:${forward.port}/healthz`);
   * console.assert(await response.text() === "ok");
   * ```
   */
  async portForward(podKey: string, options: PortForwardOptions): Promise<PortForward> {
    return await forwardPort(this.#streams, podKey, options);
  }

  get #streams(): StreamContext {
    const { clock = systemClock, dryRun = false } = this.#options;
    return { requester: this.#requests.requester, clock, isDryRun: dryRun };
  }

  /**
   * Evicts a Pod: deletes it, unless a PodDisruptionBudget forbids it.
   *
   * @param podKey `namespace/name` of the Pod.
   * @throws {ApiError} with code 429 when a PodDisruptionBudget forbids it for now
   */
  async evict(podKey: string, options: DeleteOptions = {}): Promise<void> {
    const path = objectPath(builtin.Pod, podKey, "eviction");
    const deleteOptions: unknown = JSON.parse(deleteBody(options, this.#options));
    const body = JSON.stringify({
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: splitKey(podKey),
      deleteOptions,
    });
    const action = `evict ${objectText(builtin.Pod, podKey)}`;
    const { dryRun, signal } = options;
    const target = { verb: "create", resource: builtin.Pod, key: podKey } as const;
    const outgoing = { action, method: "POST", path, body, signal } as const;
    await this.#requests.act({ ...target, options: { subresource: "eviction", dryRun } }, outgoing);
  }

  /**
   * Requests a token of a ServiceAccount.
   *
   * @param serviceAccountKey `namespace/name` of the ServiceAccount.
   * @throws {ApiError} `isNotFound` when the ServiceAccount does not exist
   */
  async createToken(serviceAccountKey: string, options: TokenRequestOptions = {}): Promise<TokenRequest> {
    const { audiences, expirationSeconds, signal } = options;
    const path = objectPath(builtin.ServiceAccount, serviceAccountKey, "token");
    const spec = { audiences, expirationSeconds };
    const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec });
    const action = `create a token of ${objectText(builtin.ServiceAccount, serviceAccountKey)}`;
    const target = { verb: "create", resource: builtin.ServiceAccount, key: serviceAccountKey } as const;
    const outgoing = { action, method: "POST", path, body, signal } as const;
    // A client of dry runs gets a token, too.
    const text = await this.#requests.act({ ...target, options: { subresource: "token", dryRun: false } }, outgoing);
    return parseResponse(text, action, tokenRequestSchema).status;
  }

  /**
   * Sends a request that no other method sends: `/version`, `/readyz`, discovery.
   *
   * @param path The absolute path, with its query.
   * @returns The text of the response.
   * @throws {ApiError} when the server responds with an error
   */
  async raw(path: string, request: RawRequest = {}): Promise<string> {
    if (!path.startsWith("/")) throw new TypeError(`Cannot send raw request: path "${path}" does not start with "/"`);
    const { method = "GET", ...rest } = request;
    return await this.#requests.raw({ ...rest, action: `${method.toLowerCase()} "${path}"`, method, path });
  }
}
