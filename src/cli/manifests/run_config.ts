/**
 * The configuration file of `run` in an installation: a ConfigMap that the Pods mount. `manifests --run-config FILE` checks the
 * file as `run --config FILE` would read it.
 *
 * Guarantees: a change of the file changes an annotation of the Pods, so that applying it replaces them; a running process
 * takes over what it can before that, when the ConfigMap alone is changed. The permissions that settings in the file need are
 * granted. What the Deployment sets on the command line comes before the file.
 */
import type { builtin, KubeObject } from "../../api/mod.ts";
import { parseConfigFile, readConfigText } from "../configuration/mod.ts";
import type { Session } from "../command/mod.ts";
import { UsageError } from "../flags/mod.ts";
import { run } from "../run/mod.ts";

/** The file, and what follows from it. */
export interface RunConfig {
  readonly text: string;
  /** The keys of the flags that it sets. */
  readonly keys: ReadonlySet<string>;
  /** SHA-256 of the text, in hexadecimal digits. */
  readonly checksum: string;
}

/** The annotation of the Pods, as charts of Helm call it. */
export const checksumAnnotation = "checksum/config";

const [volume, folder, file] = ["config", "/config", "config.yaml"] as const;

/** The flag of `run` in the Pods. */
export const runConfigFlag = `--config=${folder}/${file}`;

/** Reads and checks a file. @throws UsageError when `run` could not use it, or an installation cannot have it there */
export async function readRunConfig(path: string, session: Session): Promise<RunConfig> {
  const text = await readConfigText(path, "--run-config");
  const { values } = parseConfigFile(text, { path, flags: run.flags(session.operator) });
  const clusters = values.get("clusters");
  if (clusters !== undefined) {
    throw new UsageError(
      `Cannot use configuration ${path}:${clusters.line}: "clusters" decides where permissions are granted`,
      "Give it as --clusters",
    );
  }
  return { text, keys: new Set(values.keys()), checksum: await checksumOf(text) };
}

async function checksumOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The name of the ConfigMap of an installation. */
export function configMapName(name: string): string {
  return `${name}-config`;
}

/** Returns the ConfigMap. */
export function configMap(metadata: KubeObject["metadata"], { text }: RunConfig): builtin.ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { [file]: text } };
}

/** The volume of the Pods. A whole folder is mounted, so that the kubelet updates it. */
export function configVolume(name: string) {
  return { name: volume, configMap: { name: configMapName(name) } };
}

/** Where the container has it. */
export const configMount = { name: volume, mountPath: folder, readOnly: true } as const;
