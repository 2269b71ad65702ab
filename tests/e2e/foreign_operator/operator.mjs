/**
 * A small operator with nothing but the HTTP client of its runtime, as the program of tests of `simulate --command`: for each
 * Account it creates a Secret and a ConfigMap. It reads the kubeconfig that is its first argument.
 *
 * With BUG=half, an existing Secret counts as an Account that is complete: a crash between the two creates leaves it without
 * its ConfigMap. With BUG=stale, it deletes the Secret of an Account that its list shows as being deleted, without a look at
 * whether that Secret belongs to another Account of the same name. With BUG=leak, no owner reference has the Secret collected,
 * and the finalizer goes before it is deleted. With BUG=loop, a Secret without its ConfigMap ends the process.
 *
 * With ELECT=1 it works only while it holds a Lease, and ends when it has lost it.
 */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import process from "node:process";
import { createInterface } from "node:readline";

const bug = process.env.BUG ?? "";
const config = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { server, "certificate-authority-data": authority } = config.clusters[0].cluster;
const { token } = config.users[0].user;
const ca = atob(authority);
const accounts = "/apis/tests.example.com/v1/accounts";
const inDefault = accounts.replace("/accounts", "/namespaces/default/accounts");
const known = new Map();

/** Sends a request; resolves with the response, whose body is not read yet. */
function open(method, path, body, contentType = "application/json") {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: "application/json", "content-type": contentType };
    const sent = request(`${server}${path}`, { method, headers, ca, agent: false }, resolve);
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function send(method, path, body, contentType) {
  const response = await open(method, path, body, contentType);
  response.setEncoding("utf8");
  let text = "";
  for await (const part of response) text += part;
  return { code: response.statusCode, object: text === "" ? undefined : JSON.parse(text) };
}

async function mustSend(method, path, body, contentType) {
  const { code, object } = await send(method, path, body, contentType);
  if (code >= 400 && code !== 404) throw new Error(`${method} ${path}: ${code}`);
  return { code, object };
}

function dependentOf(account, kind, fields) {
  const { name, namespace, uid } = account.metadata;
  const owner = { apiVersion: "tests.example.com/v1", kind: "Account", name, uid, controller: true };
  const ownerReferences = bug === "leak" && kind === "Secret" ? [] : [owner];
  const annotations = { "tests.example.com/account": uid };
  return { apiVersion: "v1", kind, metadata: { name, namespace, annotations, ownerReferences }, ...fields };
}

/** Creates a dependent that is missing, and replaces one of an earlier Account. @returns whether it was there */
async function ensure(account, plural, dependent) {
  const path = `/api/v1/namespaces/${account.metadata.namespace}/${plural}`;
  const { code, object } = await mustSend("GET", `${path}/${account.metadata.name}`);
  if (code === 200 && object.metadata.annotations?.["tests.example.com/account"] === account.metadata.uid) return true;
  if (code === 200) throw new Error(`${path} belongs to an Account that is gone`);
  await mustSend("POST", path, dependent);
  return false;
}

async function reconcile(account) {
  const { name, deletionTimestamp, finalizers = [], uid } = account.metadata;
  const path = `${inDefault}/${name}`;
  const secretPath = `/api/v1/namespaces/default/secrets/${name}`;
  if (deletionTimestamp !== undefined) {
    const patch = { metadata: { uid, finalizers: null } };
    const removeFinalizer = () => mustSend("PATCH", path, patch, "application/merge-patch+json");
    if (bug === "leak" && finalizers.length > 0) await removeFinalizer();
    const { code, object } = await mustSend("GET", secretPath);
    const isOwn = code === 200 &&
      (bug === "stale" || object.metadata.annotations?.["tests.example.com/account"] === uid);
    if (isOwn) await mustSend("DELETE", secretPath, { preconditions: { uid: object.metadata.uid } });
    if (bug !== "leak" && finalizers.length > 0) await removeFinalizer();
    return;
  }
  if (finalizers.length === 0) {
    const patch = { metadata: { uid, finalizers: ["tests.example.com/account"] } };
    await mustSend("PATCH", path, patch, "application/merge-patch+json");
    return;
  }
  const secret = dependentOf(account, "Secret", { stringData: { user: account.spec.user } });
  const isKnown = await ensure(account, "secrets", secret);
  if (isKnown && bug === "half") return;
  if (isKnown && bug === "loop" && (await mustSend("GET", secretPath.replace("secrets", "configmaps"))).code === 404) {
    console.error(`ERROR the ConfigMap ${name} is missing`);
    process.exit(1);
  }
  await ensure(account, "configmaps", dependentOf(account, "ConfigMap", { data: { user: account.spec.user } }));
}

/** Reconciles until it succeeds, one Account at a time. */
async function work() {
  while (true) {
    for (const [name, account] of isLeading ? [...known] : []) {
      try {
        await reconcile(account);
        if (known.get(name) === account) known.delete(name);
      } catch (error) {
        console.error(`cannot reconcile ${name}: ${error.message}`);
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

let isLeading = process.env.ELECT !== "1";
const identity = `${process.env.POD_NAME}-${process.pid}`;
const leases = "/apis/coordination.k8s.io/v1/namespaces/operator-system/leases";
const leaseSeconds = 15;

/** Acquires the Lease if it is free. @returns whether it is held by this process now */
async function renew() {
  const { code, object } = await send("GET", `${leases}/accounts`);
  const spec = {
    holderIdentity: identity,
    leaseDurationSeconds: leaseSeconds,
    renewTime: new Date().toISOString().replace("Z", "000Z"),
  };
  const body = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "accounts" }, spec };
  if (code === 404) return (await send("POST", leases, body)).code === 201;
  if (code !== 200) throw new Error(`the Lease got ${code}`);
  const { holderIdentity, renewTime } = object.spec;
  const isFree = holderIdentity === identity || Date.parse(renewTime) + leaseSeconds * 1000 < Date.now();
  if (!isFree) return false;
  return (await send("PUT", `${leases}/accounts`, { ...object, spec })).code === 200;
}

async function elect() {
  while (process.env.ELECT === "1") {
    try {
      const isHeld = await renew();
      if (isLeading && !isHeld) {
        console.error("the Lease is lost");
        process.exit(1);
      }
      isLeading = isHeld;
    } catch (error) {
      console.error(`cannot renew: ${error.message}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Lists, then watches; begins again at the end of each watch. */
async function watch() {
  while (true) {
    try {
      const { code, object } = await send("GET", `${accounts}?resourceVersion=0`);
      if (code !== 200) throw new Error(`the list got ${code}`);
      for (const item of object.items) known.set(item.metadata.name, item);
      const version = object.metadata.resourceVersion;
      const response = await open("GET", `${accounts}?watch=true&resourceVersion=${version}`);
      for await (const line of createInterface({ input: response })) {
        const event = JSON.parse(line);
        if (event.type === "ERROR") break;
        if (event.type === "DELETED") known.delete(event.object.metadata.name);
        else known.set(event.object.metadata.name, event.object);
      }
    } catch (error) {
      console.error(`cannot watch: ${error.message}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

await Promise.all([work(), watch(), elect()]);
