/**
 * logDryRunWrites(): logs the writes of `run --dry-run`. The requests are sent with dryRun=All, so that the server checks
 * them completely: admission, schema and permissions.
 */
import type { Transport } from "../../client/mod.ts";
import { requestInfo } from "../../manager/mod.ts";
import { type Logger, logger } from "../../observe/mod.ts";
import { resourceText } from "../output/mod.ts";

/** The write of a request. */
interface Write {
  readonly action: string;
  /** `deployments.apps`, `foos.example.dev/status`. */
  readonly resource: string;
  /** `default/web`. */
  readonly object: string;
}

/** Returns a Transport that logs each dry-run write. */
export function logDryRunWrites(transport: Transport, log: Logger = logger("dry-run")): Transport {
  return async (request) => {
    const isWrite = request.method !== "GET" && isDryRun(request);
    const write = isWrite ? writeOf(request, await bodyOf(request)) : undefined;
    if (write === undefined) return await transport(request);
    const response = await transport(request);
    const { body, ...fields } = write;
    if (response.ok) log.info("would write", fields);
    else log.warn("would write, but the server rejects it", { ...fields, status: response.status });
    log.debug("body of the write", { ...fields, body });
    return response;
  };
}

/** The dryRun of a DELETE is in its body. */
function isDryRun({ method, url }: Request): boolean {
  return method === "DELETE" || new URL(url).searchParams.get("dryRun") === "All";
}

async function bodyOf(request: Request): Promise<string> {
  return request.body === null ? "" : await request.clone().text();
}

/** Guarantees: the body of a Secret is masked at every log level. */
function writeOf(request: Request, body: string): (Write & { readonly body: string }) | undefined {
  const info = requestInfo(request);
  if (info === undefined) return undefined;
  const { group, resource, namespace, name = nameIn(body) } = info;
  const object = namespace === undefined ? name : `${namespace}/${name}`;
  const shown = group === "" && resource === "secrets" ? "[masked]" : body;
  return { action: actionOf(request), resource: resourceText(info), object, body: shown };
}

function actionOf({ method, headers }: Request): string {
  switch (method) {
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "DELETE":
      return "delete";
    default:
      return headers.get("content-type") === "application/apply-patch+yaml" ? "apply" : "patch";
  }
}

/** The name of a new object is in the body. */
function nameIn(body: string): string {
  try {
    const object: { metadata?: { name?: unknown; generateName?: unknown } } | null = JSON.parse(body);
    return String(object?.metadata?.name ?? object?.metadata?.generateName ?? "");
  } catch {
    return "";
  }
}
