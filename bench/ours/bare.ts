/**
 * The smallest programs on this runtime that do the work of a case, without the library: what they need, no operator on
 * this runtime can save. bench/README.md says what separates ours from them.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { BareConnection } from "./_bare_cluster.ts";
import { inputEnded, report } from "./_stdio.ts";

const foos = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos";
const deployments = "/apis/apps/v1/namespaces/default/deployments";
const events = "/api/v1/namespaces/default/events";

const watchList = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

/** What it reads of a list of Foos. */
interface FooPage {
  readonly items: readonly ListedFoo[];
  readonly metadata: { readonly continue?: string };
}

interface ListedFoo {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: { readonly deploymentName: string; readonly replicas: number };
}

/** The case start: two watches, nothing else. */
export async function bareIdle(): Promise<void> {
  for (const path of [foos, deployments]) await new BareConnection().watch(`${path}?${watchList}`);
  report({ kind: "synced", objects: 0 });
  await inputEnded();
}

/** The case reconcile: three writes for each Foo by ten workers; nothing is watched, cached or compared. */
export async function bareReconcile(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { objects: { type: "string", default: "5000" }, workers: { type: "string", default: "10" } },
  });
  const [wanted, pageSize] = [Number(values.objects), 500];
  const reader = new BareConnection();
  const connections = Array.from({ length: Number(values.workers) }, () => new BareConnection());
  let continueToken = "", finished = 0;
  while (finished < wanted) {
    const path = `${foos}?limit=${pageSize}&continue=${continueToken}`;
    const page: FooPage = await reader.send({ method: "GET", path });
    const { items, metadata } = page;
    const rest = [...items];
    await Promise.all(connections.map(async (connection) => {
      for (let foo = rest.pop(); foo !== undefined; foo = rest.pop()) await writeAll(connection, foo);
    }));
    finished += items.length;
    continueToken = encodeURIComponent(metadata.continue ?? "");
    if (continueToken === "") break;
  }
  report({ kind: "reconciled", objects: finished });
  await inputEnded();
}

async function writeAll(connection: BareConnection, { metadata, spec }: ListedFoo): Promise<void> {
  const { name, uid } = metadata;
  const owner = { apiVersion: "samplecontroller.k8s.io/v1alpha1", kind: "Foo", name, uid, controller: true };
  const labels = { app: "nginx", controller: name };
  const object = { ...{ apiVersion: "v1", kind: "Foo" }, namespace: "default", name, uid };
  await connection.send({
    ...{ method: "PATCH", contentType: "application/apply-patch+yaml" },
    path: `${deployments}/${spec.deploymentName}?fieldManager=foo&force=true`,
    body: {
      ...{ apiVersion: "apps/v1", kind: "Deployment" },
      metadata: { name: spec.deploymentName, namespace: "default", ownerReferences: [owner] },
      spec: {
        replicas: spec.replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "nginx", image: "nginx:latest" }] } },
      },
    },
  });
  await connection.send({
    ...{ method: "PATCH", contentType: "application/merge-patch+json", path: `${foos}/${name}/status` },
    body: { status: { availableReplicas: spec.replicas } },
  });
  const now = new Date().toISOString().replace(/\.\d+Z$/, "Z");
  const event = {
    reason: "Synced",
    message: "Foo synced successfully",
    type: "Normal",
    source: { component: "bench" },
  };
  const times = { firstTimestamp: now, lastTimestamp: now, count: 1 };
  const eventMetadata = { namespace: "default", name: `${name}.bare` };
  const body = { metadata: eventMetadata, involvedObject: object, ...event, ...times };
  await connection.send({ method: "POST", path: events, body });
}

/** The case webhook: an HTTPS server of the runtime that answers the same patch to every review. */
export async function bareWebhook(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { "cert-dir": { type: "string", default: "" }, port: { type: "string", default: "9443" } },
  });
  const { createServer } = await import("node:https"); // not resident in the other cases
  const file = (name: string) => readFileSync(join(values["cert-dir"], name));
  const server = createServer({ cert: file("tls.crt"), key: file("tls.key") }, (request, response) => {
    let text = "";
    request.setEncoding("latin1").on("data", (part: string) => text += part).on("end", () => {
      const { uid } = JSON.parse(text).request;
      const review = { uid, allowed: true, patchType: "JSONPatch", patch };
      const body = JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: review });
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    });
  });
  server.listen(Number(values.port), "127.0.0.1", () => report({ kind: "serving" }));
  await inputEnded();
  process.exit(0);
}

/** The load generator accepts any patch of the replicas. */
const patch = btoa(JSON.stringify([{ op: "add", path: "/spec/replicas", value: 1 }]));
