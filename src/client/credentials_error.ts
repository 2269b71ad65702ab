/** CredentialsError: what should prove who we are could not be had, as configured. The request was not sent. */
import { KubeconfigError } from "./kubeconfig_error.ts";

/** A token file, certificate or plugin of the configuration does not give credentials. */
export class CredentialsError extends KubeconfigError {
  override readonly name: string = "CredentialsError";
}
