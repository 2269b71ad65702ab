/**
 * PlannedWorld: a World that stands for the cluster of a plan. Its operator is stopped at some moment, as if the next version
 * was about to start, and the command line then plans with other controllers. It counts the requests that write.
 */
import { builtin } from "../../../api/mod.ts";
import { Client, type Transport } from "../../../client/mod.ts";
import { controller, type ControllerDefinition, done, manifest } from "../../../controller/mod.ts";
import type { OperatorController } from "../../../manager/mod.ts";
import { defineResource, z } from "../../../schema/mod.ts";
import { World } from "../../../simulation/mod.ts";
import { type CommandResult, runCommandLine, type RunOptions } from "../../testing/run_command.ts";

/** A kind whose objects become ConfigMaps. */
export const Site = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Site",
  scope: "Namespaced",
  spec: z.object({ host: z.string() }),
  status: z.object({ url: z.string().optional() }),
});

/** Writes one ConfigMap for each Site. @param scheme what another version of the operator does differently */
export function sites(scheme = "http"): ControllerDefinition {
  return controller("sites").for(Site).owns(builtin.ConfigMap).reconcile(async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    const url = `${scheme}://${ctx.object.spec.host}`;
    await ctx.apply(manifest(builtin.ConfigMap, { metadata: { namespace, name }, data: { url } }));
    await ctx.patchStatus({ url });
    return done;
  });
}

/** A cluster whose operator can be stopped. */
export class PlannedWorld implements AsyncDisposable {
  readonly world: World;
  /** `POST /api/v1/...` of each request of a plan that is no GET. */
  readonly writes: string[] = [];
  /** Handles requests of plans before the server does. */
  intercept: (request: Request) => Response | undefined = () => undefined;
  readonly #transport: Transport;
  readonly #gate: { isOpen: boolean };

  private constructor(world: World, gate: { isOpen: boolean }) {
    this.world = world;
    this.#gate = gate;
    let own: Transport | undefined;
    world.client.withTransport((next) => own = next);
    this.#transport = (request) => {
      if (request.method !== "GET") this.writes.push(`${request.method} ${new URL(request.url).pathname}`);
      const response = this.intercept(request);
      return response !== undefined ? Promise.resolve(response) : (own ?? fetch)(request);
    };
  }

  /** @param cluster runs the simulated nodes and workloads in the cluster @default false */
  static async start(controllers: readonly OperatorController[], cluster = false): Promise<PlannedWorld> {
    const gate = { isOpen: true };
    const pending = new Promise<Response>(() => {});
    const wrap = (next: Transport): Transport => (request) => gate.isOpen ? next(request) : pending;
    return new PlannedWorld(await World.start({ controllers, cluster, wrap }), gate);
  }

  /** Settles the cluster, and stops its operator: what changes from now on is not reconciled. */
  async stopOperator(): Promise<void> {
    await this.world.settled();
    this.#gate.isOpen = false;
  }

  /** Runs `plan` with these controllers. */
  async plan(
    controllers: readonly OperatorController[],
    args: readonly string[] = [],
    options: Omit<RunOptions, "transport"> = {},
  ): Promise<CommandResult> {
    const operator = { name: "op", version: "1.0.0", controllers };
    return await runCommandLine(operator, ["plan", ...args], { ...options, transport: this.#transport });
  }

  /** A client that is counted as that of a plan. */
  get client(): Client {
    return new Client(this.#transport);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#gate.isOpen = true;
    await this.world[Symbol.asyncDispose]();
  }
}
