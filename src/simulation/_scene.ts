/**
 * Scene: a server as an operator finds it, with its own namespaces, the CustomResourceDefinitions established and the webhooks
 * known. It is set once for the same controllers, and each run begins with a copy: what a run comes to depends on its plan
 * and seed alone, because a scene depends on neither.
 */
import { kubernetesApi, type ObjectStorage } from "../apiserver/mod.ts";
import { hop, seededRandom, VirtualClock } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { customResourcesOf, installWebhooks, webhookCaller } from "../cluster/mod.ts";
import type { OperatorController } from "../manager/mod.ts";
import { ServerMemory } from "./_server_memory.ts";

/** What runs begin with. */
export interface Scene {
  /** To be copied. */
  readonly storage: ObjectStorage;
  /** What servers that began with it did. */
  readonly memory: ServerMemory;
}

interface KnownScene {
  readonly controllers: readonly OperatorController[];
  readonly chance: number;
  readonly scene: Promise<Scene>;
}

/** Scenes that are kept: who simulates plays one set of controllers after the other. */
const mostKept = 6;
let kept: readonly KnownScene[] = [];

/**
 * The scene for some controllers; set when it is first asked for.
 *
 * @param chance which luck the servers have that begin with it: those that share a memory must have the same
 */
export async function sceneOf(controllers: readonly OperatorController[], chance: number): Promise<Scene> {
  const found = kept.find((one) => one.chance === chance && isSame(one.controllers, controllers)) ??
    { controllers, chance, scene: set(controllers) };
  kept = [found, ...kept.filter((one) => one !== found)].slice(0, mostKept);
  return await found.scene;
}

function isSame(some: readonly OperatorController[], others: readonly OperatorController[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}

async function set(controllers: readonly OperatorController[]): Promise<Scene> {
  const clock = new VirtualClock();
  const { server } = kubernetesApi({ clock, random: seededRandom(0), callWebhook: webhookCaller(controllers, clock) });
  using _ending = server;
  const client = new Client(server.fetch, { clock });
  await client.raw("/readyz"); // the server's own namespaces are there once it answers
  for (const { crd } of customResourcesOf(controllers)) {
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldManager=somebody";
    await client.raw(path, { method: "POST", body: JSON.stringify(crd), contentType: "application/json" });
  }
  await installWebhooks(client, controllers, "simulation");
  await hop();
  return { storage: server.storage, memory: new ServerMemory() };
}
