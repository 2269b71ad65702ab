/**
 * DerivedObjects: objects that the server keeps in step with others: an IPAddress for each cluster IP of a Service, and an
 * APIService for each version of a group that a CustomResourceDefinition serves.
 *
 * Guarantees: reacts to a write in a microtask after it, never during it. Objects that users made under the same name stay.
 * Caveats: an object that is deleted by a user comes back with the next change of its source.
 */
import { nameOf, objectAt, objectsAt, textAt, textsAt } from "../kinds/mod.ts";
import { type JsonObject, read } from "../model/mod.ts";
import { timestamp } from "../registry/mod.ts";
import { type Change, Follower, type ObjectStorage, StorageFullError } from "../storage/mod.ts";
import { systemMetadata, type SystemSources } from "./default_objects.ts";

const definitions = "customresourcedefinitions.apiextensions.k8s.io";
const apiServices = "apiservices.apiregistration.k8s.io";
const addresses = "ipaddresses.networking.k8s.io";

const automanaged = "kube-aggregator.kubernetes.io/automanaged";
const managedBy = "ipaddress.kubernetes.io/managed-by";
const allocator = "ipallocator.k8s.io";

/** Derives objects from those that are stored, until it is disposed. */
export class DerivedObjects implements Disposable {
  readonly #storage: ObjectStorage;
  readonly #sources: SystemSources;
  readonly #followers: readonly Follower[];

  constructor(storage: ObjectStorage, sources: SystemSources) {
    this.#storage = storage;
    this.#sources = sources;
    this.#followers = [
      new Follower(storage, definitions, () => this.#keepApiServices()),
      new Follower(storage, "services", (changes) => this.#keepAddresses(changes)),
    ];
  }

  [Symbol.dispose](): void {
    for (const follower of this.#followers) follower[Symbol.dispose]();
  }

  /** Definitions are few, and several may share a version of a group, so all of them are read. */
  #keepApiServices(): void {
    const now = timestamp(this.#sources.clock.now());
    const wanted = apiServicesOf(this.#storage.list(definitions), now);
    for (const object of [...this.#storage.list(apiServices)]) {
      const isOurs = labelOf(object, automanaged) === "true";
      if (isOurs && !wanted.has(nameOf(object))) this.#remove(apiServices, nameOf(object));
    }
    for (const [name, object] of wanted) this.#create(apiServices, name, object);
  }

  #keepAddresses(changes: readonly Change[] | "all"): void {
    if (changes === "all") return this.#keepAllAddresses();
    for (const { kind, current, previous } of changes) {
      const wanted = kind === "deleted" ? new Map<string, JsonObject>() : addressesOf(current.object);
      const before = addressesOf(previous?.object ?? {});
      for (const name of before.keys()) if (!wanted.has(name)) this.#remove(addresses, name);
      for (const [name, object] of wanted) if (!before.has(name)) this.#create(addresses, name, object);
    }
  }

  #keepAllAddresses(): void {
    const wanted = new Map([...this.#storage.list("services")].flatMap((service) => [...addressesOf(service)]));
    for (const object of [...this.#storage.list(addresses)]) {
      const isOurs = labelOf(object, managedBy) === allocator;
      if (isOurs && !wanted.has(nameOf(object))) this.#remove(addresses, nameOf(object));
    }
    for (const [name, object] of wanted) this.#create(addresses, name, object);
  }

  #create(collection: string, name: string, object: JsonObject): void {
    if (this.#storage.find(collection, "", name) !== undefined) return;
    const metadata = { ...objectAt(object, "metadata"), name, ...systemMetadata(this.#sources) };
    try {
      this.#storage.create(collection, "", name, { ...object, metadata });
    } catch (error) {
      // Without space the object is missing until its source changes again.
      if (!(error instanceof StorageFullError)) throw error;
    }
  }

  #remove(collection: string, name: string): void {
    const stored = this.#storage.find(collection, "", name);
    if (stored !== undefined) this.#storage.delete(collection, stored);
  }
}

/** The IPAddresses of a Service, by name. Those of IPv6 are written as the object is named: as they are given. */
function addressesOf(service: JsonObject): ReadonlyMap<string, JsonObject> {
  const namespace = textAt(objectAt(service, "metadata"), "namespace");
  const parentRef = { resource: "services", namespace, name: nameOf(service) };
  return new Map(
    textsAt(objectAt(service, "spec"), "clusterIPs").filter((ip) => ip !== "None").map((ip) => {
      const family = ip.includes(":") ? "IPv6" : "IPv4";
      const labels = { "ipaddress.kubernetes.io/ip-family": family, [managedBy]: allocator };
      return [ip, {
        apiVersion: "networking.k8s.io/v1",
        kind: "IPAddress",
        metadata: { labels },
        spec: { parentRef },
      }];
    }),
  );
}

/** The APIServices of the versions that established definitions serve. @param now the time of their conditions */
function apiServicesOf(all: Iterable<JsonObject>, now: string): ReadonlyMap<string, JsonObject> {
  const wanted = new Map<string, JsonObject>();
  for (const definition of all) {
    if (!isEstablished(definition)) continue;
    const spec = objectAt(definition, "spec");
    const group = textAt(spec, "group");
    for (const version of objectsAt(spec, "versions")) {
      if (read(version, "served") !== true) continue;
      const name = textAt(version, "name");
      wanted.set(`${name}.${group}`, apiServiceOf(group, name, now));
    }
  }
  return wanted;
}

/** The priorities are those that kube-apiserver gives to groups of CustomResourceDefinitions. */
function apiServiceOf(group: string, version: string, now: string): JsonObject {
  const message = "Local APIServices are always available";
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { labels: { [automanaged]: "true" } },
    spec: { group, groupPriorityMinimum: 1000, version, versionPriority: 100 },
    status: {
      conditions: [{ type: "Available", status: "True", lastTransitionTime: now, reason: "Local", message }],
    },
  };
}

function isEstablished(definition: JsonObject): boolean {
  return objectsAt(objectAt(definition, "status"), "conditions")
    .some((condition) => textAt(condition, "type") === "Established" && textAt(condition, "status") === "True");
}

function labelOf(object: JsonObject, name: string): string {
  return textAt(objectAt(objectAt(object, "metadata"), "labels"), name);
}
