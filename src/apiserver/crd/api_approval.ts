/**
 * Whether the API of a group that Kubernetes keeps for itself (*.k8s.io, *.kubernetes.io) was approved, as an annotation of
 * the definition says. Texts of apiextensions `apihelpers` of Kubernetes 1.36.
 */
import { goQuote } from "../model/mod.ts";
import { parseRequestUri } from "../cel/mod.ts";

/** The annotation. */
export const approvalAnnotation = "api-approved.kubernetes.io";

/** What the annotation says, and the words for it. */
export interface Approval {
  readonly state: "invalid" | "missing" | "approved" | "unapproved";
  readonly text: string;
}

/** True for the groups that need it. */
export function needsApproval(group: string): boolean {
  return /(^|\.)(k8s|kubernetes)\.io$/.test(group);
}

/** Reads the annotation. @param annotation "" where there is none */
export function approvalOf(annotation: string): Approval {
  const title = `protected groups must have approval annotation "${approvalAnnotation}"`;
  const link = "see https://github.com/kubernetes/enhancements/pull/1111";
  if (annotation === "") return { state: "missing", text: `${title}, ${link}` };
  if (annotation.startsWith("unapproved")) return { state: "unapproved", text: `not approved: ${goQuote(annotation)}` };
  if (isUrl(annotation)) return { state: "approved", text: `approved in ${annotation}` };
  return { state: "invalid", text: `${title} with either a URL or a reason starting with "unapproved", ${link}` };
}

function isUrl(text: string): boolean {
  try {
    const { scheme, host } = parseRequestUri(text);
    return scheme !== "" && host !== "";
  } catch {
    return false;
  }
}
