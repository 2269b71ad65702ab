/** The names of those who sign certificates: a domain and a path, `example.com/signer`. */
import { utf8Length } from "../model/mod.ts";
import { labelErrors, subdomainErrors } from "./formats.ts";
import type { FieldPath, Problems } from "./problems.ts";

const longestDomain = 253;
/** A domain, a slash, and a path that has room for a label, a dot and a subdomain. */
const longest = longestDomain + 1 + 253 + 63 + 1;
const wrongForm = "must be a fully qualified domain and path of the form 'example.com/signer-name'";

/** What is wrong with the name of a signer. */
export function checkSignerName(name: string, path: FieldPath, problems: Problems): void {
  if (name === "") return problems.required(path);
  const [domain = "", place = "", ...more] = name.split("/");
  if (!name.includes("/") || more.length > 0) return problems.invalid(path, name, wrongForm);
  if (utf8Length(domain) > longestDomain) problems.tooLong(path, longestDomain);
  checkParts(domain, labelErrors, path, problems);
  if (!domain.includes(".")) {
    problems.invalid(path, domain, "should be a domain with at least two segments separated by dots");
  }
  checkParts(place, subdomainErrors, path, problems);
  if (utf8Length(name) > longest) problems.tooLong(path, longest);
}

/** Only the first wrong part is named. */
function checkParts(
  text: string,
  errorsOf: (part: string) => readonly string[],
  path: FieldPath,
  problems: Problems,
): void {
  for (const part of text.split(".")) {
    const errors = errorsOf(part);
    if (errors.length === 0) continue;
    for (const error of errors) problems.invalid(path, text, `validating label ${JSON.stringify(part)}: ${error}`);
    return;
  }
}
