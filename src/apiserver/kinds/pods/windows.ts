/** Rules of what only Windows has: credentials, user names, containers that are processes of the host. */
import { type JsonObject, read } from "../../model/mod.ts";
import { findObject, flagAt, has, objectIn, textAt } from "../fields.ts";
import { subdomainErrors } from "../formats.ts";
import type { FieldPath, Problems } from "../problems.ts";
import { containersOf } from "./containers_of.ts";

const mostSpecKibibytes = 64;
const mostDomain = 256;
const mostUser = 104;
// deno-lint-ignore no-control-regex -- control characters are what is looked for
const control = /[\x00-\x1f\x7f]/;
const onlyDotsAndSpaces = /^[. ]+$/;
const badUser = /["/\\:;|=,+*?<>@[\]]/;
const netBios = /^[^\\/:*?|.][^\\/:*?|]{0,14}$/;
const domainName = /^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*$/;

/** Checks `windowsOptions` of a security context. */
export function checkWindowsOptions(context: JsonObject, path: FieldPath, problems: Problems): void {
  const options = findObject(context, "windowsOptions");
  if (options === undefined) return;
  const name = textAt(options, "gmsaCredentialSpecName");
  if (has(options, "gmsaCredentialSpecName")) {
    problems.invalidAll(path.child("gmsaCredentialSpecName"), name, subdomainErrors(name));
  }
  const spec = textAt(options, "gmsaCredentialSpec");
  if (has(options, "gmsaCredentialSpec")) {
    const place = path.child("gmsaCredentialSpec");
    if (spec === "") problems.invalid(place, spec, "gmsaCredentialSpec cannot be an empty string");
    else if (spec.length > mostSpecKibibytes * 1024) {
      problems.invalid(place, spec, `gmsaCredentialSpec size must be under ${mostSpecKibibytes} KiB`);
    }
  }
  const user = textAt(options, "runAsUserName");
  if (!has(options, "runAsUserName")) return;
  for (const why of userErrors(user)) problems.invalid(path.child("runAsUserName"), user, `runAsUserName${why}`);
}

function userErrors(name: string): readonly string[] {
  if (name === "") return [" cannot be an empty string"];
  if (control.test(name)) return [" cannot contain control characters"];
  const parts = name.split("\\");
  if (parts.length > 2) return [" cannot contain more than one backslash"];
  const [domain, user = ""] = parts.length === 2 ? parts : [undefined, name];
  const errors: string[] = [];
  if (domain !== undefined && domain.length >= mostDomain) {
    errors.push(`'s Domain length must be under ${mostDomain} characters`);
  }
  if (domain !== undefined && !netBios.test(domain) && !domainName.test(domain)) {
    errors.push("'s Domain doesn't match the NetBios nor the DNS format");
  }
  if (user === "") errors.push("'s User cannot be empty");
  else if (user.length > mostUser) errors.push(`'s User length must not be longer than ${mostUser} characters`);
  if (onlyDotsAndSpaces.test(user)) errors.push("'s User cannot contain only periods or spaces");
  if (badUser.test(user)) errors.push(`'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]`);
  return errors;
}

/** Processes of the host: all containers of a Pod are, or none. */
export function checkHostProcesses(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const ofPod = read(objectIn(spec, "securityContext", "windowsOptions"), "hostProcess");
  const containers = containersOf(spec, path);
  let count = 0;
  for (const { container, path: place } of containers) {
    const own = read(objectIn(container, "securityContext", "windowsOptions"), "hostProcess");
    if (typeof own === "boolean" && typeof ofPod === "boolean" && own !== ofPod) {
      const why = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      problems.invalid(place.child("securityContext", "windowsOptions", "hostProcess"), own, why);
    }
    if ((own ?? ofPod) === true) count++;
  }
  if (count === 0) return;
  if (count !== containers.length) {
    const why = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
    problems.invalid(path, "", why);
  }
  if (!flagAt(spec, "hostNetwork")) {
    problems.invalid(
      path.child("hostNetwork"),
      false,
      "hostNetwork must be true if pod contains any hostProcess containers",
    );
  }
}
