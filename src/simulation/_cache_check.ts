/** Compares what processes hold in their caches with what the server holds. */
import { keyOf, type Resource, resourceId, resourceName } from "../api/mod.ts";
import type { OperatorController } from "../manager/mod.ts";
import type { OperatorProcess } from "./_operator_process.ts";
import { differing } from "./_summary.ts";
import type { Stage } from "./_stage.ts";
import type { Violation } from "./violation.ts";

/** Differences between caches and server. */
export function cacheViolations(
  stage: Stage,
  processes: readonly OperatorProcess[],
  controllers: readonly OperatorController[],
): readonly Violation[] {
  const watched = watchedBy(controllers);
  return processes.flatMap((process) => watched.flatMap((one) => differences(stage, process, one)));
}

/** What is kept in a cache. */
export interface Watched {
  readonly resource: Resource;
  /** @default all of them, or the kind is in none */
  readonly inside: string | undefined;
}

/** What controllers watch, each once. */
export function watchedBy(controllers: readonly OperatorController[]): readonly Watched[] {
  const watched = controllers.flatMap(({ watches, options: { namespace } }) =>
    watches.map(({ resource }): Watched => ({
      resource,
      inside: resource.scope === "Namespaced" ? namespace : undefined,
    }))
  );
  return [...new Map(watched.map((one) => [`${resourceId(one.resource)} ${one.inside}`, one])).values()];
}

function differences(stage: Stage, process: OperatorProcess, { resource, inside }: Watched): readonly Violation[] {
  const informer = process.manager.caches.findInformer(resource, inside);
  if (informer === undefined) return [];
  const stored = new Map<string, string | undefined>(
    stage.list(resourceName(resource), inside).map((object) => [keyOf(object), object.metadata.resourceVersion]),
  );
  const cached = new Map<string, string | undefined>(
    informer.lister.list().map((object) => [keyOf(object), object.metadata.resourceVersion]),
  );
  return differing(stored, cached).map((key) => ({
    invariant: "cache",
    message: `process ${process.id} has ${resourceName(resource)} ${key} at ${cached.get(key) ?? "no version"}, ` +
      `the server at ${stored.get(key) ?? "none"}`,
  }));
}
