/** Two questions about a cluster that need no permission: whether it serves a kind, and what this user may do. */
import { z } from "zod";
import type { Resource } from "../../api/mod.ts";
import {
  ApiError,
  type Client,
  InvalidResponseError,
  isForbidden,
  isNotFound,
  parseResponse,
} from "../../client/mod.ts";
import type { Connection } from "./connect.ts";

/** The fields of a kind that discovery needs. */
type ServedKind = Pick<Resource, "group" | "version" | "plural">;

const discoveryResponse = z.object({ resources: z.array(z.object({ name: z.string() })) });

/**
 * Looks a kind up in the discovery document, which every authenticated user may read. Where that is forbidden or has an
 * unknown form, the kind counts as served.
 */
export async function isServed(connection: Connection, kind: ServedKind, signal: AbortSignal): Promise<boolean> {
  const root = kind.group === "" ? "/api" : `/apis/${kind.group}`;
  try {
    const text = await connection.client.raw(`${root}/${kind.version}`, { signal });
    const { resources } = parseResponse(text, `discover the kinds of ${root}`, discoveryResponse);
    return resources.some(({ name }) => name === kind.plural);
  } catch (error) {
    if (error instanceof InvalidResponseError) return true;
    if (isNotFound(error)) return false;
    if (isForbidden(error)) return true;
    throw error;
  }
}

/** True for the error of a server that could not convert an object, because the conversion webhook failed. */
export function isConversionFailure(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 500 && error.message.includes("conversion webhook for ");
}

/** One action on resources, as RBAC sees it. */
export interface ResourceAttributes {
  readonly verb: string;
  readonly group: string;
  /** The plural. */
  readonly resource: string;
  readonly subresource?: string;
  /** @default all namespaces */
  readonly namespace?: string;
  /** @default all objects */
  readonly name?: string;
}

const review = z.object({ status: z.object({ allowed: z.boolean() }) });

/** Asks the server by a SelfSubjectAccessReview whether this user may do something. */
export async function isAllowed(
  client: Client,
  resourceAttributes: ResourceAttributes,
  signal?: AbortSignal,
): Promise<boolean> {
  const spec = { resourceAttributes };
  const body = JSON.stringify({ apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec });
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const text = await client.raw(path, { method: "POST", body, signal });
  return parseResponse(text, "review the permissions of this user", review).status.allowed;
}
