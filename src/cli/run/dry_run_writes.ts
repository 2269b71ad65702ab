/**
 * logDryRunWrites(): for `run --dry-run`, says in the log what would have been written. The requests are sent, with dryRun=All,
 * so that what is said was checked by the server: admission, schema, permissions and all.
 */
import type { Transport } from "../../client/mod.ts";
import { requestInfo } from "../../manager/mod.ts";
import { type Logger, logger } from "../../observe/mod.ts";
import { resourceText } from "../output/mod.ts";

/** What a request would do. */
interface Write {
  readonly action: string;
  /** `deployments.apps`, `foos.example.dev/status`. */
  readonly resource: string;
  /** `default/web`. */
  readonly object: string;
}

/** A Transport that logs each write that the server is asked not to store. */
export function logDryRunWrites(transport: Transport, log: Logger = logger("dry-run")): Transport {
  return async (request) => {
    const isAsked = request.method !== "GET" && isDryRun(request);
    const write = isAsked ? writeOf(request, await bodyOf(request)) : undefined;
    if (write === undefined) return await transport(request);
    const answer = await transport(request);
    const { body, ...fields } = write;
    if (answer.ok) log.info("would write", fields);
    else log.warn("would write, and be refused", { ...fields, status: answer.status });
    log.debug("what would be written", { ...fields, body });
    return answer;
  };
}

/** A DELETE says it in its body. */
function isDryRun({ method, url }: Request): boolean {
  return method === "DELETE" || new URL(url).searchParams.get("dryRun") === "All";
}

async function bodyOf(request: Request): Promise<string> {
  return request.body === null ? "" : await request.clone().text();
}

/** Secrets stay out of logs, whatever their level. */
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

/** The name of what is to be created stands in its body. */
function nameIn(body: string): string {
  try {
    const object: { metadata?: { name?: unknown; generateName?: unknown } } | null = JSON.parse(body);
    return String(object?.metadata?.name ?? object?.metadata?.generateName ?? "");
  } catch {
    return "";
  }
}
