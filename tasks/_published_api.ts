/**
 * Reads the kinds of a kube-apiserver: discovery, OpenAPI and the columns of its tables. The source is a running server,
 * or, to try the task without one, the files in the module k8s.io/kubernetes (which also list alpha kinds).
 */
import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import type { Json, JsonObject } from "./_wire_packages.ts";

/** One group and version with its resources. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
  readonly resources: readonly JsonObject[];
}

/** A source of published kinds. */
export interface PublishedApi {
  /** In the order of discovery. */
  groupVersions(): Promise<readonly GroupVersion[]>;
  /** The components of /openapi/v3 of each group and version that is part of Kubernetes. */
  components(): Promise<readonly JsonObject[]>;
  /** The columns of a list in table form; undefined if the source does not have them. */
  columns(path: string): Promise<readonly Json[] | undefined>;
}

/** A running server. */
export class RunningApi implements PublishedApi {
  readonly #server: string;
  readonly #ca: string;
  readonly #token: string;

  constructor(options: { readonly server: string; readonly ca: string; readonly token: string }) {
    this.#server = options.server;
    this.#ca = options.ca;
    this.#token = options.token;
  }

  async groupVersions(): Promise<readonly GroupVersion[]> {
    const groups = listAt(await this.get("/apis"), "groups");
    const found = [{ group: "", version: "v1", resources: listAt(await this.get("/api/v1"), "resources") }];
    for (const group of groups) {
      for (const { groupVersion } of listAt(group, "versions")) {
        const resources = listAt(await this.get(`/apis/${groupVersion}`), "resources");
        found.push({ group: String(group["name"]), version: String(groupVersion).split("/")[1] ?? "", resources });
      }
    }
    return found;
  }

  async components(): Promise<readonly JsonObject[]> {
    const index = await this.get("/openapi/v3");
    const crds = listAt(await this.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions"), "items");
    const custom = new Set(crds.map((crd) => String(objectAt(crd, "spec")["group"])));
    const found: JsonObject[] = [];
    for (const [path, { serverRelativeURL }] of Object.entries(objectAt(index, "paths")).map(entryOf)) {
      if (!/^(api|apis\/.+)\/v\w+$/.test(path) || custom.has(path.split("/")[1] ?? "")) continue;
      found.push(objectAt(objectAt(await this.get(String(serverRelativeURL)), "components"), "schemas"));
    }
    return found;
  }

  async columns(path: string): Promise<readonly Json[] | undefined> {
    const table = await this.get(`${path}?limit=1`, "application/json;as=Table;v=v1;g=meta.k8s.io");
    return listAt(table, "columnDefinitions");
  }

  /** Sends a GET and parses the response as JSON. */
  get(path: string, accept = "application/json"): Promise<JsonObject> {
    const headers = { authorization: `Bearer ${this.#token}`, accept };
    return new Promise((resolve, reject) => {
      const sent = request(this.#server + path, { ca: this.#ca, headers }, (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (text: string) => body += text);
        response.on("end", () => resolve(JSON.parse(body)));
      });
      sent.on("error", reject).end();
    });
  }
}

/** The files of the module k8s.io/kubernetes, without alpha and beta versions. */
export class ModuleApi implements PublishedApi {
  readonly #directory: string;

  /** @param directory of the module's sources */
  constructor(directory: string) {
    this.#directory = join(directory, "api");
  }

  groupVersions(): Promise<readonly GroupVersion[]> {
    const groups = listAt(this.#file("discovery/apis.json"), "groups");
    const found = [{ group: "", version: "v1", resources: listAt(this.#file("discovery/api__v1.json"), "resources") }];
    for (const group of groups) {
      for (const { groupVersion } of listAt(group, "versions")) {
        const version = String(groupVersion).split("/")[1] ?? "";
        if (/alpha|beta/.test(version)) continue;
        const file = this.#file(`discovery/apis__${String(groupVersion).replace("/", "__")}.json`);
        found.push({ group: String(group["name"]), version, resources: listAt(file, "resources") });
      }
    }
    return Promise.resolve(found);
  }

  components(): Promise<readonly JsonObject[]> {
    const files = readdirSync(join(this.#directory, "openapi-spec/v3")).filter((file) => /__v\d+_openapi/.test(file));
    return Promise.resolve(
      files.map((file) => objectAt(objectAt(this.#file(`openapi-spec/v3/${file}`), "components"), "schemas")),
    );
  }

  columns(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  #file(path: string): JsonObject {
    return JSON.parse(readFileSync(join(this.#directory, path), "utf8"));
  }
}

function entryOf([key, value]: [string, Json]): [string, JsonObject] {
  return [key, Object(value)];
}

/** The object under a key. */
export function objectAt(object: JsonObject, key: string): JsonObject {
  return Object(object[key] ?? {});
}

/** The list of objects under a key. */
export function listAt(object: JsonObject, key: string): readonly JsonObject[] {
  const list = object[key];
  return Array.isArray(list) ? list : [];
}
