/**
 * StatusError: why the API server rejects a request, as the Status that goes to the client. Codes, reasons and texts are
 * those of apimachinery `api/errors` and apiserver `endpoints/handlers` of Kubernetes 1.36.
 *
 * Each part of the server that rejects a request throws one; http/ writes the response. Any other error that is thrown is a
 * bug in the server, and its response is 500 InternalError.
 */
import type { ApiStatus, StatusCause, StatusDetails } from "../../api/mod.ts";
import { type FieldError, formatFieldErrors } from "../../cel/mod.ts";
import { shortened } from "../../observe/mod.ts";

/** The object that an error is about: names as in `deployments.apps "web" not found`. */
export interface Subject {
  readonly group: string;
  /** Plural as in URLs; for `Invalid`, the kind. */
  readonly resource: string;
  readonly name: string;
}

/** The error of a rejected request, with its Status. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly status: ApiStatus & { readonly code: number };

  /** @param reason "" for an error without one */
  constructor(code: number, reason: string, message: string, details?: StatusDetails, continueToken?: string) {
    super(message);
    this.status = {
      kind: "Status",
      apiVersion: "v1",
      metadata: continueToken === undefined ? {} : { continue: continueToken },
      status: "Failure",
      message,
      ...(reason === "" ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

/** 404: the object does not exist. */
export function notFound(subject: Subject): StatusError {
  return new StatusError(404, "NotFound", `${titled(subject)} not found`, detailsOf(subject));
}

/** 409: an object of this name exists. */
export function alreadyExists(subject: Subject): StatusError {
  return new StatusError(409, "AlreadyExists", `${titled(subject)} already exists`, detailsOf(subject));
}

/** 409: another client has changed the object, or another manager owns the field. */
export function conflict(subject: Subject, why: string, causes?: readonly StatusCause[]): StatusError {
  const message = `Operation cannot be fulfilled on ${titled(subject)}: ${why}`;
  return new StatusError(409, "Conflict", message, {
    ...detailsOf(subject),
    ...(causes === undefined ? {} : { causes }),
  });
}

/** 403. */
export function forbidden(subject: Subject, why: string): StatusError {
  const message = subject.resource === "" ? `forbidden: ${why}` : `${forbiddenTitle(subject)} is forbidden: ${why}`;
  return new StatusError(403, "Forbidden", message, detailsOf(subject));
}

/** 422: fields of the object are invalid. `subject.resource` is the kind. */
export function invalid(subject: Subject, errors: readonly FieldError[]): StatusError {
  const { message, causes } = formatFieldErrors(errors);
  const title = subject.group === "" ? subject.resource : `${subject.resource}.${subject.group}`;
  const name = shownName(subject);
  const details: StatusDetails = {
    ...(name === "" ? {} : { name }),
    ...(subject.group === "" ? {} : { group: subject.group }),
    ...(subject.resource === "" ? {} : { kind: subject.resource }),
    causes,
  };
  return new StatusError(
    422,
    "Invalid",
    `${title} "${name}" is invalid${message === "" ? "" : `: ${message}`}`,
    details,
  );
}

/** 400: the request itself is malformed. */
export function badRequest(why: string): StatusError {
  return new StatusError(400, "BadRequest", why);
}

/** 405. */
export function methodNotSupported(subject: Subject, action: string): StatusError {
  const resource = subject.group === "" ? subject.resource : `${subject.resource}.${subject.group}`;
  const details = { ...(subject.group === "" ? {} : { group: subject.group }), kind: subject.resource };
  return new StatusError(
    405,
    "MethodNotAllowed",
    `${action} is not supported on resources of kind "${resource}"`,
    details,
  );
}

/** 410: the version has expired. @param continueToken with which the client may continue the list, inconsistently */
export function expired(why: string, continueToken?: string): StatusError {
  return new StatusError(410, "Expired", why, undefined, continueToken);
}

/** 500. */
export function internalError(why: string): StatusError {
  return new StatusError(500, "InternalError", `Internal error occurred: ${why}`, { causes: [{ message: why }] });
}

/** 501: this server does not implement it. */
export function notServed(why: string): StatusError {
  return new StatusError(501, "NotImplemented", why);
}

/** Only this message names an object without a name by its resource alone. */
function forbiddenTitle(subject: Subject): string {
  const { group, resource, name } = subject;
  if (name !== "") return titled(subject);
  return group === "" ? resource : `${resource}.${group}`;
}

function titled(subject: Subject): string {
  const { group, resource } = subject;
  return `${group === "" ? resource : `${resource}.${group}`} "${shownName(subject)}"`;
}

/** Characters of a name in a Status; valid names have at most 253. */
const maxNameCharacters = 1024;

/** A name of a body may have 3 MB, and stands several times in a Status. */
function shownName({ name }: Subject): string {
  return shortened(name, maxNameCharacters);
}

function detailsOf(subject: Subject): StatusDetails {
  return {
    ...(subject.name === "" ? {} : { name: shownName(subject) }),
    ...(subject.group === "" ? {} : { group: subject.group }),
    ...(subject.resource === "" ? {} : { kind: subject.resource }),
  };
}
