/**
 * Refusal: why the API server does not do what was asked, as the Status that goes to the client. Codes, reasons and texts
 * are those of apimachinery `api/errors` and apiserver `endpoints/handlers` of Kubernetes 1.36.
 *
 * Whatever part of the server refuses throws one; the HTTP side writes it out. Anything else that is thrown is a bug here,
 * and is answered with 500 InternalError.
 */
import type { ApiStatus, StatusCause, StatusDetails } from "../../api/mod.ts";
import { type FieldError, formatFieldErrors } from "./field_error.ts";

/** What a refusal is about: names as in `deployments.apps "web" not found`. */
export interface Subject {
  readonly group: string;
  /** Plural as in URLs; for `Invalid`, the kind. */
  readonly resource: string;
  readonly name: string;
}

/** A request that is not done, with the Status that says why. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: ApiStatus & { readonly code: number };

  constructor(code: number, reason: string, message: string, details?: StatusDetails, continueToken?: string) {
    super(message);
    this.status = {
      kind: "Status",
      apiVersion: "v1",
      metadata: continueToken === undefined ? {} : { continue: continueToken },
      status: "Failure",
      message,
      reason,
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

/** 404: there is no such object. */
export function notFound(subject: Subject): Refusal {
  return new Refusal(404, "NotFound", `${titled(subject)} not found`, detailsOf(subject));
}

/** 409: there is one already. */
export function alreadyExists(subject: Subject): Refusal {
  return new Refusal(409, "AlreadyExists", `${titled(subject)} already exists`, detailsOf(subject));
}

/** 409: somebody else was faster, or holds the field. */
export function conflict(subject: Subject, why: string, causes?: readonly StatusCause[]): Refusal {
  const message = `Operation cannot be fulfilled on ${titled(subject)}: ${why}`;
  return new Refusal(409, "Conflict", message, { ...detailsOf(subject), ...(causes === undefined ? {} : { causes }) });
}

/** 403. */
export function forbidden(subject: Subject, why: string): Refusal {
  const message = subject.resource === "" ? `forbidden: ${why}` : `${forbiddenTitle(subject)} is forbidden: ${why}`;
  return new Refusal(403, "Forbidden", message, detailsOf(subject));
}

/** 422: the object's fields are wrong. `subject.resource` is the kind. */
export function invalid(subject: Subject, errors: readonly FieldError[]): Refusal {
  const { message, causes } = formatFieldErrors(errors);
  const title = subject.group === "" ? subject.resource : `${subject.resource}.${subject.group}`;
  const details: StatusDetails = {
    ...(subject.name === "" ? {} : { name: subject.name }),
    ...(subject.group === "" ? {} : { group: subject.group }),
    ...(subject.resource === "" ? {} : { kind: subject.resource }),
    causes,
  };
  return new Refusal(
    422,
    "Invalid",
    `${title} "${subject.name}" is invalid${message === "" ? "" : `: ${message}`}`,
    details,
  );
}

/** 400: the request itself is wrong. */
export function badRequest(why: string): Refusal {
  return new Refusal(400, "BadRequest", why);
}

/** 405. */
export function methodNotSupported(subject: Subject, action: string): Refusal {
  const resource = subject.group === "" ? subject.resource : `${subject.resource}.${subject.group}`;
  const details = { ...(subject.group === "" ? {} : { group: subject.group }), kind: subject.resource };
  return new Refusal(405, "MethodNotAllowed", `${action} is not supported on resources of kind "${resource}"`, details);
}

/** 410: that version is no longer kept. @param continueToken with which a list may go on, inconsistently */
export function expired(why: string, continueToken?: string): Refusal {
  return new Refusal(410, "Expired", why, undefined, continueToken);
}

/** 500. */
export function internalError(why: string): Refusal {
  return new Refusal(500, "InternalError", `Internal error occurred: ${why}`, { causes: [{ message: why }] });
}

/** 501: nothing is behind this server that could do it. */
export function notServed(why: string): Refusal {
  return new Refusal(501, "NotImplemented", why);
}

/** What has no name is called by its resource alone, here and nowhere else. */
function forbiddenTitle(subject: Subject): string {
  const { group, resource, name } = subject;
  if (name !== "") return titled(subject);
  return group === "" ? resource : `${resource}.${group}`;
}

function titled(subject: Subject): string {
  const { group, resource, name } = subject;
  return `${group === "" ? resource : `${resource}.${group}`} "${name}"`;
}

function detailsOf(subject: Subject): StatusDetails {
  return {
    ...(subject.name === "" ? {} : { name: subject.name }),
    ...(subject.group === "" ? {} : { group: subject.group }),
    ...(subject.resource === "" ? {} : { kind: subject.resource }),
  };
}
