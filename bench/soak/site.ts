/**
 * The site of a soak: a real API server with Foos and NodePools, and the compiled binary as an operator has it: two replicas that
 * share a Lease and work in one namespace, one that works in another namespace and is never killed, and one with webhooks whose
 * certificates are replaced.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtin, keyOf } from "../../src/api/mod.ts";
import { Client, type ClusterTransport, clusterTransport, loadClusterAccess } from "../../src/client/mod.ts";
import { Foo } from "../../src/controllers/foo/mod.ts";
import { NodePool, nodepoolWebhooks } from "../../src/controllers/nodepool/mod.ts";
import { environment, homeDirectory } from "../../src/runtime/mod.ts";
import { webhookConfigurations } from "../../src/webhook/mod.ts";
import { CertificateAuthority } from "../../tests/controlplane/mod.ts";
import { Cluster } from "../cluster.ts";
import { freePort } from "../free_port.ts";
import { fooKey, poolName, steadyNamespace } from "./load.ts";
import { Program } from "./programs.ts";

/** How large the site is. */
export interface SiteOptions {
  /** In each of the two namespaces. */
  readonly foos: number;
  readonly pools: number;
}

const { CustomResourceDefinition, Deployment, MutatingWebhookConfiguration, ValidatingWebhookConfiguration } = builtin;
const leads = /\bleader +leading\b/;
const pageSize = 500;
const creators = 16;

export class Site implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly client: Client;
  /** Never killed. */
  readonly steady: Program[] = [];
  /** Share a Lease; one of them works. */
  readonly candidates: Program[] = [];
  readonly #options: SiteOptions;
  readonly #dir = mkdtempSync(join(tmpdir(), "pintle-soak-"));
  readonly #transport: ClusterTransport;
  readonly #authority: CertificateAuthority;

  private constructor(
    cluster: Cluster,
    options: SiteOptions,
    transport: ClusterTransport,
    authority: CertificateAuthority,
  ) {
    this.cluster = cluster;
    this.#options = options;
    this.#transport = transport;
    this.#authority = authority;
    this.client = new Client(transport);
  }

  /** Starts everything; the objects exist, and the operators have begun. */
  static async start(options: SiteOptions): Promise<Site> {
    const cluster = await Cluster.start();
    const variables = environment();
    const overrides = { kubeconfig: cluster.kubeconfig };
    const access = await loadClusterAccess({ overrides, environment: variables, home: homeDirectory(variables) });
    const authority = await CertificateAuthority.create("soak");
    const site = new Site(cluster, options, clusterTransport(access, { userAgent: "soak" }), authority);
    try {
      await site.#fill();
      await site.#startWebhooks();
      site.steady.push(await site.#start("foo-steady", ["foo", "--namespace", steadyNamespace]));
      for (const name of ["foo-a", "foo-b"]) site.candidates.push(await site.#candidate(name));
      return site;
    } catch (error) {
      await site[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Kills the candidate that works, if one does, and starts it again. */
  async killLeader(): Promise<void> {
    const index = this.candidates.findIndex(({ log }) => leads.test(log));
    const leader = this.candidates[index];
    if (leader === undefined) return;
    await leader.kill();
    this.candidates[index] = await this.#candidate(leader.name);
  }

  /** Replaces the certificate of the webhooks, as careful programs do it: each file by a rename. */
  async replaceCertificate(): Promise<void> {
    const pair = await this.#authority.issue({ commonName: "webhook", usage: "server", hosts: ["127.0.0.1"] });
    mkdirSync(this.#certificates, { recursive: true });
    for (const [name, text] of [["tls.key", pair.key], ["tls.crt", pair.certificate]] as const) {
      writeFileSync(join(this.#certificates, "new"), text, { mode: 0o600 });
      renameSync(join(this.#certificates, "new"), join(this.#certificates, name));
    }
  }

  /** Foos whose Deployment does not have their number of replicas. */
  async behind(): Promise<number> {
    const replicas = new Map<string, number | undefined>();
    for await (const { items } of this.client.pages(Deployment, { limit: pageSize })) {
      for (const { metadata, spec } of items) replicas.set(keyOf({ metadata }), spec?.replicas);
    }
    let behind = 0;
    for await (const { items } of this.client.pages(Foo, { limit: pageSize })) {
      behind += items.filter(({ metadata, spec }) =>
        replicas.get(`${metadata.namespace}/${spec.deploymentName}`) !== spec.replicas
      ).length;
    }
    return behind;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of [...this.steady, ...this.candidates]) await program[Symbol.asyncDispose]();
    this.#transport[Symbol.dispose]();
    await this.cluster[Symbol.asyncDispose]();
    rmSync(this.#dir, { recursive: true });
  }

  get #certificates(): string {
    return join(this.#dir, "certificates");
  }

  async #fill(): Promise<void> {
    await this.cluster.grow(this.#options.foos);
    await this.client.create(builtin.Namespace, { metadata: { name: steadyNamespace }, spec: {} });
    const numbers = Array.from({ length: this.#options.foos }, (_, number) => number).values();
    // The iterator is shared: each of them takes the next number.
    await Promise.all(Array.from({ length: creators }, () => this.#createFoos(numbers)));
    await this.client.create(CustomResourceDefinition, NodePool.crd);
    await this.client.waitFor(
      CustomResourceDefinition,
      NodePool.crd.metadata.name,
      ({ status }) =>
        status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") === true,
    );
  }

  async #createFoos(numbers: IterableIterator<number>): Promise<void> {
    for (const number of numbers) {
      const [namespace = "", name = ""] = fooKey(steadyNamespace, number).split("/");
      await this.client.create(Foo, { metadata: { namespace, name }, spec: { deploymentName: name, replicas: 1 } });
    }
  }

  /** Starts the program with webhooks, tells the server of them, and creates the NodePools through them. */
  async #startWebhooks(): Promise<void> {
    await this.replaceCertificate();
    const port = await freePort();
    const flags = ["--cert-dir", this.#certificates, "--webhook-port", String(port)];
    const program = await this.#start("nodepool", ["nodepool", ...flags]);
    this.steady.push(program);
    await program.logged(/serving webhooks/);
    const options = {
      ...{ name: "soak", caBundle: this.#authority.certificate },
      address: { kind: "url", url: `https://127.0.0.1:${port}` } as const,
    };
    const { mutating, validating } = webhookConfigurations(nodepoolWebhooks, options);
    if (mutating !== undefined) await this.client.create(MutatingWebhookConfiguration, mutating);
    if (validating !== undefined) await this.client.create(ValidatingWebhookConfiguration, validating);
    for (let number = 0; number < this.#options.pools; number++) {
      await this.client.create(NodePool, {
        metadata: { name: poolName(number) },
        spec: { labels: {}, taints: [], handler: "runc" },
      });
    }
  }

  #candidate(name: string): Promise<Program> {
    const lease = ["--leader-election-id", "soak", "--leader-election-namespace", "default"];
    // A server that restarts may be away for longer than the deadline of renewals.
    const lost = ["--leader-election-when-lost", "standby"];
    return this.#start(name, ["foo", "--namespace", "default", "--leader-elect", ...lease, ...lost]);
  }

  #start(name: string, args: readonly string[]): Promise<Program> {
    return Program.start({ name, args, kubeconfig: this.cluster.kubeconfig, dir: this.#dir });
  }
}
