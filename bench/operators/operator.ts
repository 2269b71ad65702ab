/**
 * BuiltOperator and OperatorCase: an operator that nobody in this project wrote, as data: which module of the Go module proxy
 * it is built from, which of the module's files are its CRDs, how it is started, and what users do with it.
 *
 * Guarantees: nothing here is of the operator itself but names, versions and paths: its files are read when it is built.
 */

/** What an operator is built from. */
export interface OperatorSource {
  /** `github.com/pravega/zookeeper-operator`. */
  readonly module: string;
  /** `v0.2.8`. */
  readonly version: string;
  /** The package of the program, in the module: `./cmd/manager`. */
  readonly package: string;
  /** `MODULE@VERSION` that go.mod must not require, because the proxy has it no more and the program does not need it. */
  readonly excludes?: readonly string[];
  /** `MODULE@VERSION` that go.mod must require at least, because the program is built with a Go that is newer than it is. */
  readonly requires?: readonly string[];
  /** Modules that go.mod replaces by folders that are not in the module. */
  readonly dropsReplaced?: readonly string[];
  /** Files and folders of the module with CustomResourceDefinitions; other documents in them are left out. */
  readonly crds: readonly string[];
  /** The same with configurations of webhooks. @default none */
  readonly webhooks?: readonly string[];
}

/** A program that stands in for the application that the operator connects to. */
export interface Application {
  /** The host names under which the operator looks for it. */
  readonly hosts: readonly string[];
  /** A module in the folder of the operator that listens on a port of 127.0.0.1: `server.ts`. */
  readonly program: string;
  readonly port: number;
}

/**
 * For operators of before 2022: their JSON library reads the maps of Go as they were in memory until Go 1.17, and crashes with
 * those of today.
 */
export const presentJson: readonly string[] = [
  "github.com/json-iterator/go@v1.1.12",
  "github.com/modern-go/reflect2@v1.0.2",
];

/** One operator in one version. */
export interface OperatorCase {
  /** `zookeeper-0.2.8`: the argument of run.ts, and the name of the folder in the cache. */
  readonly name: string;
  /** The folder of this case: own objects, sample and workloads. */
  readonly folder: string;
  readonly source: OperatorSource;
  /** Own YAML files and folders that the server gets beside the CRDs: namespaces, access, Secrets. @default none */
  readonly objects?: readonly string[];
  /** Versions that Kubernetes has removed and the operator needs: `policy/v1beta1`. @default none */
  readonly removedVersions?: readonly string[];
  /** Arguments of the program, with the placeholders of `--command`: `{kubeconfig}`, `{port}`. @default none */
  readonly args?: readonly string[];
  /** Variables of the program, with the same placeholders. @default none */
  readonly env?: Readonly<Record<string, string>>;
  /** A shell command before the program starts, with the same placeholders and `{folder}`. @default none */
  readonly setup?: string;
  /** Where the program serves its webhooks: `https://127.0.0.1:{port2}`. @default it has none */
  readonly webhookUrl?: string;
  /** @default none */
  readonly application?: Application;
  /** A file with what commands in containers answer. @default the simulated containers answer */
  readonly answers?: string;
  /** Workload files in the folder; the first one shows that the sample converges. */
  readonly workloads: readonly string[];
}
