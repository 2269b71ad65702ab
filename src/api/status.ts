/**
 * ApiStatus: what the API server answers instead of an object, and what it puts into a watch's ERROR event.
 * Source: `metav1.Status` of Kubernetes 1.36.
 */

/** One reason among several, as a validation failure lists them. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  /** Path of the field, e.g. `spec.replicas`. */
  readonly field?: string;
}

/** What a Status is about. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The server's answer to a request that has no object to return, failures above all. */
export interface ApiStatus {
  readonly apiVersion?: string;
  readonly kind?: "Status";
  readonly metadata?: { readonly continue?: string };
  readonly status?: "Success" | "Failure";
  readonly code?: number;
  /** CamelCase word for programs, e.g. `NotFound`. */
  readonly reason?: string;
  readonly message?: string;
  readonly details?: StatusDetails;
}
