/** Rules of probes and lifecycle hooks: what a kubelet does to ask a container, or to tell it something. */
import { type JsonObject, read } from "../../model/mod.ts";
import { checkNotNegative, checkPortNumberOrName } from "../checks.ts";
import { findNumber, findObject, numberAt, objectsAt, textAt, textsAt } from "../fields.ts";
import { headerNameErrors } from "../formats.ts";
import type { FieldPath, Problems } from "../problems.ts";

const probeHandlers = ["exec", "httpGet", "tcpSocket", "grpc"];
const lifecycleHandlers = ["exec", "httpGet", "tcpSocket", "sleep"];
const counts = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];

/** The probes of a container. */
export function checkProbes(container: JsonObject, path: FieldPath, problems: Problems): void {
  for (const key of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const probe = findObject(container, key);
    if (probe !== undefined) checkProbe(probe, key === "readinessProbe", path.child(key), problems);
  }
}

function checkProbe(probe: JsonObject, isReadiness: boolean, path: FieldPath, problems: Problems): void {
  checkHandler(probe, probeHandlers, undefined, path, problems);
  for (const key of counts) checkNotNegative(probe, key, path, problems);
  const grace = findNumber(probe, "terminationGracePeriodSeconds");
  const place = path.child("terminationGracePeriodSeconds");
  if (grace !== undefined && grace <= 0) problems.invalid(place, grace, "must be greater than 0");
  if (isReadiness) {
    if (grace !== undefined) problems.invalid(place, grace, "must not be set for readinessProbes");
    return;
  }
  const successes = numberAt(probe, "successThreshold");
  if (successes !== 1) problems.invalid(path.child("successThreshold"), successes, "must be 1");
}

/** What happens after a container starts and before it stops. */
export function checkLifecycle(container: JsonObject, spec: JsonObject, path: FieldPath, problems: Problems): void {
  const lifecycle = findObject(container, "lifecycle");
  if (lifecycle === undefined) return;
  const grace = findNumber(spec, "terminationGracePeriodSeconds");
  for (const key of ["postStart", "preStop"]) {
    const handler = findObject(lifecycle, key);
    if (handler !== undefined) checkHandler(handler, lifecycleHandlers, grace, path.child("lifecycle", key), problems);
  }
}

function checkHandler(
  handler: JsonObject,
  kinds: readonly string[],
  grace: number | undefined,
  path: FieldPath,
  problems: Problems,
): void {
  const given = kinds.filter((kind) => findObject(handler, kind) !== undefined);
  given.forEach((kind, index) => {
    const place = path.child(kind);
    if (index > 0) problems.forbidden(place, "may not specify more than 1 handler type");
    else checkAction(kind, findObject(handler, kind) ?? {}, grace, place, problems);
  });
  if (given.length === 0) problems.required(path, "must specify a handler type");
}

function checkAction(
  kind: string,
  action: JsonObject,
  grace: number | undefined,
  path: FieldPath,
  problems: Problems,
): void {
  switch (kind) {
    case "exec":
      if (textsAt(action, "command").length === 0) problems.required(path.child("command"));
      return;
    case "httpGet":
      return checkHttpGet(action, path, problems);
    case "sleep": {
      const seconds = numberAt(action, "seconds");
      if (grace === undefined || (seconds >= 0 && seconds <= grace)) return;
      const why = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
      return problems.invalid(path, seconds, why);
    }
    default:
      return checkPortNumberOrName(read(action, "port") ?? 0, path.child("port"), problems);
  }
}

function checkHttpGet(action: JsonObject, path: FieldPath, problems: Problems): void {
  if (textAt(action, "path") === "") problems.required(path.child("path"));
  checkPortNumberOrName(read(action, "port") ?? 0, path.child("port"), problems);
  const scheme = textAt(action, "scheme");
  if (scheme !== "HTTP" && scheme !== "HTTPS") problems.notSupported(path.child("scheme"), scheme, ["HTTP", "HTTPS"]);
  for (const header of objectsAt(action, "httpHeaders")) {
    const name = textAt(header, "name");
    problems.invalidAll(path.child("httpHeaders"), name, headerNameErrors(name));
  }
}
