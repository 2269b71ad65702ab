/**
 * The flag `--clusters`: where the clusters of a fleet are listed. `run` and `doctor` work on all of them, `manifests` grants
 * what the provider reads.
 */
import { z } from "zod";
import { formatLabelSelector, type LabelSelector, namespaceProblem, parseLabelSelector } from "../../api/mod.ts";
import { flag } from "../flags/mod.ts";

/** Where the clusters are listed. */
export type ClusterSource =
  /** Contexts of the kubeconfig; undefined: all. */
  | { readonly kind: "contexts"; readonly contexts: readonly string[] | undefined }
  /** The files of a folder. */
  | { readonly kind: "folder"; readonly path: string }
  /** Secrets of a namespace of the hub; without a selector, all that have a kubeconfig. */
  | { readonly kind: "secrets"; readonly namespace: string; readonly labelSelector: LabelSelector | undefined }
  /** Clusters of Cluster API in the hub; without a namespace, in all. */
  | { readonly kind: "capi"; readonly namespace: string | undefined };

const forms =
  "it is none of contexts:NAME,NAME or contexts:*, folder:PATH, secrets:NAMESPACE[/SELECTOR], capi[:NAMESPACE]";

/** Parses a value of the flag. @returns the problem, as a sentence, if it is none */
export function parseClusterSource(
  value: string,
): ClusterSource | { readonly kind: "invalid"; readonly state: string } {
  const [, kind = "", rest = ""] = /^([a-z]+)(?::(.+))?$/.exec(value) ?? [];
  const invalid = (state: string) => ({ kind: "invalid", state }) as const;
  switch (kind) {
    case "contexts": {
      if (rest === "*") return { kind, contexts: undefined };
      const contexts = [...new Set(rest.split(",").filter((name) => name !== ""))];
      return contexts.length === 0 ? invalid("it names no context") : { kind, contexts };
    }
    case "folder":
      return rest === "" ? invalid("it names no folder") : { kind, path: rest };
    case "secrets": {
      const [, namespace = "", selector] = /^([^/]*)(?:\/(.+))?$/.exec(rest) ?? [];
      const problem = namespaceProblem(namespace);
      if (problem !== undefined) return invalid(`its namespace cannot exist, ${problem}`);
      try {
        return { kind, namespace, labelSelector: selector === undefined ? undefined : parseLabelSelector(selector) };
      } catch (error) {
        return invalid(error instanceof Error ? error.message : String(error));
      }
    }
    case "capi": {
      const problem = rest === "" ? undefined : namespaceProblem(rest);
      return problem === undefined
        ? { kind, namespace: rest === "" ? undefined : rest }
        : invalid(`its namespace cannot exist, ${problem}`);
    }
    default:
      return invalid(forms);
  }
}

/** The value of the flag that means a source. */
export function formatClusterSource(source: ClusterSource): string {
  switch (source.kind) {
    case "contexts":
      return `contexts:${source.contexts?.join(",") ?? "*"}`;
    case "folder":
      return `folder:${source.path}`;
    case "secrets": {
      const { namespace, labelSelector } = source;
      return `secrets:${namespace}${labelSelector === undefined ? "" : `/${formatLabelSelector(labelSelector)}`}`;
    }
    case "capi":
      return source.namespace === undefined ? "capi" : `capi:${source.namespace}`;
    default:
      return source satisfies never;
  }
}

/** The flag. */
export const clustersFlag = flag(
  z.string().transform((value, context) => {
    const source = parseClusterSource(value);
    if (source.kind !== "invalid") return source;
    context.addIssue({ code: "custom", message: source.state });
    return z.NEVER;
  }).optional(),
  {
    group: "Fleet:",
    flags: "--clusters <source>",
    about:
      "many clusters: contexts:NAME,NAME or contexts:*, folder:PATH, secrets:NAMESPACE[/SELECTOR], capi[:NAMESPACE]",
    example: "--clusters secrets:fleet/env=prod",
  },
);
