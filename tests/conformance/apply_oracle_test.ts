/**
 * The apply oracle: the same writes go to a real kube-apiserver and to the pure functions of patch/, each from the object
 * that the real server has stored. The objects, their managed fields and the errors must be equal.
 *
 *   deno task cluster -- deno test -A --no-check tests/conformance/apply_oracle_test.ts
 */
import { builtinFamilies, typeLibrary } from "../../src/apiserver/kinds/mod.ts";
import {
  type Draft,
  isDraft,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  read,
  typeSchemaOf,
} from "../../src/apiserver/model/mod.ts";
import { fieldSetOf } from "../../src/apiserver/patch/mod.ts";
import { clusterTransport, loadClusterAccess } from "../../src/client/mod.ts";
import type { Transport } from "../../src/client/mod.ts";
import { until } from "../controlplane/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assertEquals } from "../testing.ts";
import { bodyOf, masked, type OracleKind, type Outcome, predict, type Write, writtenAt } from "./apply_oracle.ts";
import { type OracleCase, oracleCases } from "./apply_oracle_cases.ts";

const contentTypes: Readonly<Record<Write["how"], string>> = {
  create: "application/json",
  update: "application/json",
  apply: "application/apply-patch+yaml",
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
};

const text = { type: "string" };
const texts = { type: "array", items: text };
const protocol = { type: "string", default: "TCP" };

/** A CRD with every type of list. */
const widgetSchema: JsonObject = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer" },
        tags: { ...texts, "x-kubernetes-list-type": "set" },
        gadgets: {
          type: "array",
          items: {
            type: "object",
            required: ["name"],
            properties: {
              name: text,
              value: { ...text, nullable: true },
              tags: { ...texts, "x-kubernetes-list-type": "set" },
            },
          },
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
        },
        ports: {
          type: "array",
          items: { type: "object", required: ["port"], properties: { port: { type: "integer" }, protocol } },
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["port", "protocol"],
        },
        args: texts,
        selector: { type: "object", additionalProperties: text, "x-kubernetes-map-type": "atomic" },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
    },
    status: { type: "object", properties: { ready: { type: "integer" } } },
  },
};

const widgetDefinition: JsonObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.oracle.example.dev" },
  spec: {
    group: "oracle.example.dev",
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    versions: [{
      name: "v1",
      served: true,
      storage: true,
      schema: { openAPIV3Schema: widgetSchema },
      subresources: { status: {} },
    }],
  },
};

const resetByMainResource = fieldSetOf([["f:status"]]);

function widgetKind(namespace: string): OracleKind {
  return {
    type: typeSchemaOf({ ...widgetSchema, "x-kubernetes-embedded-resource": true }, typeLibrary()),
    apiVersion: "oracle.example.dev/v1",
    kind: "Widget",
    path: `/apis/oracle.example.dev/v1/namespaces/${namespace}/widgets`,
    empty: {},
    decode: defaultPorts,
    resetFields: (subresource) => subresource === "" ? resetByMainResource : fieldSetOf([["f:metadata"], ["f:spec"]]),
  };
}

/** The default of the CRD. */
function defaultPorts(draft: Draft): void {
  const { spec } = draft;
  const ports = isDraft(spec) ? spec["ports"] : undefined;
  for (const port of Array.isArray(ports) ? ports : []) if (isDraft(port)) port["protocol"] ??= "TCP";
}

const families = builtinFamilies();

function builtinKind(name: "Deployment" | "Service" | "ConfigMap", namespace: string): OracleKind {
  const kind = families.flatMap(({ served }) => served).find((one) => one.kind === name);
  if (kind === undefined) throw new Error(`Cannot compare ${name}: it is not built in`);
  const { group, version, plural } = kind;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  return {
    type: kind.schema,
    apiVersion,
    kind: name,
    path: `/${group === "" ? "api" : "apis"}/${apiVersion}/namespaces/${namespace}/${plural}`,
    empty: kind.empty,
    decode: (draft) => {
      kind.decode(draft);
      kind.setDefaults(draft);
    },
    resetFields: (subresource) => name === "ConfigMap" || subresource !== "" ? fieldSetOf([]) : resetByMainResource,
  };
}

/** One kind of object on a real server. */
class RealKind {
  readonly kind: OracleKind;
  readonly #transport: Transport;
  readonly #server: string;

  constructor(kind: OracleKind, transport: Transport, server: string) {
    this.kind = kind;
    this.#transport = transport;
    this.#server = server;
  }

  /** The stored object after all controllers have updated it; undefined if it does not exist. */
  async live(): Promise<JsonObject | undefined> {
    const seen: string[] = [];
    return await until("see no write by a controller", async () => {
      const { status, body } = await this.#send("GET", `${this.kind.path}/web`);
      if (status !== 200) return { kind: "found", value: undefined };
      seen.push(versionOf(body));
      const latest = seen.slice(-unchangedReads);
      const isQuiet = this.kind.kind !== "Deployment" ||
        latest.length === unchangedReads && new Set(latest).size === 1;
      return isQuiet ? { kind: "found", value: body } : { kind: "pending", state: `its versions were ${latest}` };
    }, { everyMs: 100 });
  }

  async write(write: Write, body: Json): Promise<Outcome> {
    const query = new URLSearchParams({ fieldManager: write.manager });
    if (write.isForced === true) query.set("force", "true");
    const name = write.how === "create" ? "" : `/web${write.subresource === undefined ? "" : `/${write.subresource}`}`;
    const method = write.how === "create" ? "POST" : write.how === "update" ? "PUT" : "PATCH";
    const response = await this.#send(method, `${this.kind.path}${name}?${query}`, contentTypes[write.how], body);
    return response.status < 300
      ? { kind: "written", object: response.body }
      : { kind: "rejected", status: response.body };
  }

  async #send(method: string, path: string, type?: string, body?: Json) {
    const init: RequestInit = { method };
    if (type !== undefined) Object.assign(init, { headers: { "content-type": type }, body: JSON.stringify(body) });
    const response = await this.#transport(new Request(`${this.#server}${path}`, init));
    const parsed: Json = await response.json();
    return { status: response.status, body: isJsonObject(parsed) ? parsed : {} };
  }
}

/** The number of consecutive reads of the same version after which the controllers are considered finished. */
const unchangedReads = 5;

function versionOf(object: JsonObject): string {
  const metadata = read(object, "metadata");
  return isJsonObject(metadata) ? String(read(metadata, "resourceVersion")) : "";
}

async function compare(real: RealKind, { name, writes }: OracleCase): Promise<void> {
  for (const [index, write] of writes.entries()) {
    const live = await real.live();
    const body = bodyOf(write, live);
    const expected = await real.write(write, body);
    const actual = await predict(real.kind, live, { ...write, body }, writtenAt(expected));
    assertEquals(
      sorted(masked(actual)),
      sorted(masked(expected)),
      `${name}: write ${index} (${write.how} by ${write.manager})`,
    );
  }
}

/** Sorts the keys of all objects, so that their order is not compared. */
function sorted(value: Json): Json {
  if (isJsonArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(read(value, key) ?? null)]));
}

for (const oracleCase of oracleCases) {
  controlPlaneTest(`${oracleCase.kind}: ${oracleCase.name}, as on a real server`, async (controlPlane) => {
    const overrides = { kubeconfig: controlPlane.kubeconfig };
    const access = await loadClusterAccess({ environment: {}, overrides, workingDirectory: "/" });
    using transport = clusterTransport(access, { userAgent: "apply-oracle/1" });
    const namespace = await createNamespace(controlPlane);
    const { server } = controlPlane;
    const { kind } = oracleCase;
    const oracleKind = kind === "Widget" ? widgetKind(namespace) : builtinKind(kind, namespace);
    if (kind === "Widget") {
      await controlPlane.kubectlOutput(["apply", "-f", "-"], { stdin: JSON.stringify(widgetDefinition) });
      await until("list widgets", async () => {
        const response = await transport(new Request(`${server}${oracleKind.path}`));
        await response.body?.cancel();
        return response.ok ? { kind: "found", value: true } : { kind: "pending", state: String(response.status) };
      });
    }
    await compare(new RealKind(oracleKind, transport, server), oracleCase);
  });
}
