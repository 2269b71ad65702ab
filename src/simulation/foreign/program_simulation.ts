/**
 * ProgramSimulation: what all runs of a program have in common: its certificates, its webhooks, and the prepared cluster.
 *
 * Guarantees: nothing of the program lives after a run.
 */
import { seededRandom } from "../../async/mod.ts";
import { joinPath } from "../../runtime/mod.ts";
import { issueCertificates, type IssuedCertificates } from "../../webhook/mod.ts";
import { noFaults } from "../fault_plan.ts";
import { prepareCluster, type PreparedCluster } from "./baseline.ts";
import { ForeignRun } from "./foreign_run.ts";
import type { ForeignWorkload } from "./foreign_workload.ts";
import { canMount, type ProgramOptions } from "./program.ts";
import type { ProgramIdentity } from "./program_objects.ts";
import { ProgramWebhooks } from "./program_webhooks.ts";
import type { ForeignRunOptions, ForeignRunResult } from "./run_options.ts";
import { serviceObjects } from "./service_stubs.ts";
import type { SimulateProgramOptions } from "./simulate_options.ts";

const serverHosts = ["127.0.0.1", "localhost", "kubernetes.default.svc"];
const certificateMs = 24 * 3_600_000;
const defaultIdentity: ProgramIdentity = { namespace: "operator-system", name: "operator" };

interface Parts {
  readonly program: ProgramOptions;
  readonly certificates: IssuedCertificates;
  readonly clientCa: string;
  readonly prepared: PreparedCluster;
}

/** Runs a program again and again. */
export class ProgramSimulation {
  readonly #options: SimulateProgramOptions;
  readonly #parts: Parts;
  #runs = 0;

  private constructor(options: SimulateProgramOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
  }

  static async prepare(options: SimulateProgramOptions): Promise<ProgramSimulation> {
    const { clock, random, identity = defaultIdentity, env, folder, command, values, workingDirectory } = options;
    const { hosts, webhookUrl, services = [], signal, onError, replicas } = options;
    const now = clock.now();
    const [certificates, client, hasMounts] = await Promise.all([
      issueCertificates({ hosts: serverHosts, now, lifetimeMs: certificateMs }),
      issueCertificates({ hosts: [identity.name], now, lifetimeMs: certificateMs, usage: "client" }),
      canMount(joinPath(folder, "mount"), env),
    ]);
    const { ca } = certificates;
    const webhooks = webhookUrl === undefined
      ? undefined
      : await ProgramWebhooks.create({ objects: options.objects, host: hostOf(webhookUrl), clock });
    const given = [...serviceObjects(services, identity.namespace), ...options.objects];
    const objects = given.map((object) => webhooks?.withAuthority(object) ?? object);
    const { removedVersions } = options;
    const prepared = await prepareCluster({
      identity,
      replicas,
      objects,
      ca,
      clock,
      random,
      signal,
      onError,
      removedVersions,
    });
    const place = { hosts, values, webhooks, webhookUrl };
    const program = { command, identity, env, workingDirectory, ca, client, hasMounts, ...place };
    return new ProgramSimulation(options, { program, certificates, clientCa: client.ca, prepared });
  }

  /** Runs a workload once. @param how from an earlier state, with what is expected */
  async runOnce(workload: ForeignWorkload, how: RunVariant): Promise<ForeignRunResult> {
    const { program, certificates, clientCa, prepared } = this.#parts;
    const { clock, signal, onError, folder, services, hasOwnNetwork, removedVersions, isRecorded, hasRules } =
      this.#options;
    const number = ++this.#runs;
    await using run = new ForeignRun({
      ...{
        program,
        certificates,
        clientCa,
        clock,
        signal,
        onError,
        workload,
        services,
        hasOwnNetwork,
        removedVersions,
        isRecorded,
        hasRules,
      },
      plan: noFaults,
      storage: prepared.storage,
      firstRevision: prepared.storage.revision,
      podNames: prepared.podNames,
      folder: joinPath(folder, `run-${number}`),
      random: seededRandom(number),
      ...how,
    });
    return await run.run();
  }

  get firstRevision(): number {
    return this.#parts.prepared.storage.revision;
  }
}

/** What differs between runs. */
export type RunVariant =
  & Pick<ForeignRunOptions, "pace">
  & Partial<ForeignRunOptions>;

/** The host of a URL whose port may be a placeholder: `::1` of `https://[::1]:{port}`. */
function hostOf(url: string): string {
  return /^https:\/\/(\[[^\]]*\]|[^/:]*)/.exec(url)?.[1]?.replace(/^\[(.*)\]$/, "$1") ?? "localhost";
}
