/**
 * Actions of the end-to-end tests on a cluster, all with kubectl, as a user would do them: create Foos, read the results,
 * change objects without the controller. This file does not use code of Pintle.
 */
import { join } from "node:path";
import { assertEquals } from "../testing.ts";
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { runBinary } from "./_binary.ts";

/** The example that the README applies. */
export const exampleFoo = join(import.meta.dirname ?? ".", "..", "..", "examples", "foo.yaml");

/** The part of an object that these tests read. */
export interface Live {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    /** Of the kinds that count the changes of their specs. */
    readonly generation?: number;
    readonly labels?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly {
      readonly kind: string;
      readonly uid: string;
      readonly controller?: boolean;
    }[];
  };
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
  };
  readonly status?: { readonly availableReplicas?: number };
}

/** The part of an Event that these tests read. */
export interface LiveEvent {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly kind: string; readonly name: string };
}

/** A Foo to create. */
export interface FooFields {
  readonly name: string;
  readonly deploymentName: string;
  readonly replicas: number;
}

/** One namespace of a control plane. */
export class TestNamespace {
  readonly name: string;
  readonly #controlPlane: ControlPlane;

  constructor(controlPlane: ControlPlane, name: string) {
    this.#controlPlane = controlPlane;
    this.name = name;
  }

  /** Runs kubectl in this namespace. @throws Error when it fails */
  async kubectl(args: readonly string[], stdin?: string): Promise<string> {
    return await this.#controlPlane.kubectlOutput(["--namespace", this.name, ...args], { stdin });
  }

  /** Creates or changes a Foo. */
  async applyFoo(foo: FooFields): Promise<void> {
    const { name, deploymentName, replicas } = foo;
    const apiVersion = "samplecontroller.k8s.io/v1alpha1";
    const object = { apiVersion, kind: "Foo", metadata: { name }, spec: { deploymentName, replicas } };
    await this.kubectl(["apply", "-f", "-"], JSON.stringify(object));
  }

  /** The object, or undefined. @param what `deployment/web` */
  async find(what: string): Promise<Live | undefined> {
    const text = await this.kubectl(["get", what, "--ignore-not-found", "--output=json"]);
    return text === "" ? undefined : JSON.parse(text);
  }

  /** Waits until `isAsWanted` returns true for the object. */
  async eventually(what: string, isAsWanted: (live: Live) => boolean, timeoutMs?: number): Promise<Live> {
    return await until(`see ${what} as wanted`, async () => {
      const live = await this.find(what);
      if (live !== undefined && isAsWanted(live)) return { kind: "found", value: live };
      return { kind: "pending", state: live === undefined ? "it does not exist" : JSON.stringify(live) };
    }, timeoutMs === undefined ? {} : { timeoutMs });
  }

  /** Waits until the object is gone. */
  async gone(what: string): Promise<void> {
    await until(`see ${what} gone`, async () => {
      const live = await this.find(what);
      return live === undefined
        ? { kind: "found", value: undefined }
        : { kind: "pending", state: JSON.stringify(live) };
    });
  }

  /** The Events about an object. */
  async events(kind: string, name: string): Promise<readonly LiveEvent[]> {
    const text = await this.kubectl(["get", "events.events.k8s.io", "--output=json"]);
    const { items } = JSON.parse(text) as { readonly items: readonly LiveEvent[] };
    return items.filter(({ regarding }) => regarding.kind === kind && regarding.name === name);
  }

  /** Waits for an Event about an object. */
  async eventuallyEvent(kind: string, name: string, reason: string): Promise<LiveEvent> {
    return await until(`see Event ${reason} about ${kind} ${name}`, async () => {
      const events = await this.events(kind, name);
      const found = events.find((event) => event.reason === reason);
      return found === undefined ? { kind: "pending", state: JSON.stringify(events) } : { kind: "found", value: found };
    });
  }
}

/** Installs or updates the CRD of foo, with the binary itself. */
export async function installFoo(controlPlane: ControlPlane, path?: string): Promise<void> {
  const { code, stderr } = await runBinary(["install-crds", "foo"], { kubeconfig: controlPlane.kubeconfig, path });
  assertEquals([code, stderr], [0, ""]);
}

/** Deletes the CRD of foo, and with it all Foos. */
export async function removeFoo(controlPlane: ControlPlane): Promise<void> {
  await controlPlane.kubectlOutput(["delete", "crd", "foos.samplecontroller.k8s.io", "--ignore-not-found", "--wait"]);
}
