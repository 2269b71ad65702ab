/** Rules of projected volumes: one folder of files from several sources. */
import type { JsonObject } from "../../model/mod.ts";
import { checkSelector } from "../checks.ts";
import { findNumber, findObject, has, objectsAt, textAt } from "../fields.ts";
import { subdomainErrors } from "../formats.ts";
import type { FieldPath, Problems } from "../problems.ts";
import { checkFilePath } from "./paths.ts";
import { checkDownwardFile, checkKeyToPath } from "./volumes.ts";

const kinds = ["secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"];
const shortestToken = 600;
const longestToken = 2 ** 32;
const conflicting = "conflicting duplicate paths";

/** The sources of a projected volume. */
export function checkProjected(volume: JsonObject, path: FieldPath, problems: Problems): void {
  const paths = new Set<string>();
  /** @param shown what the message shows where two files have one path */
  const take = (file: string, shown: string) => {
    if (file === "") return;
    if (paths.has(file)) problems.invalid(path, shown, conflicting);
    paths.add(file);
  };
  objectsAt(volume, "sources").forEach((source, index) => {
    const place = path.child("sources").index(index);
    const given = kinds.filter((kind) => findObject(source, kind) !== undefined);
    for (const kind of given) {
      checkSource(kind, findObject(source, kind) ?? {}, { path: place.child(kind), volumePath: path, take }, problems);
    }
    if (given.length > 1) problems.forbidden(place, "may not specify more than 1 volume type per source");
  });
}

interface Place {
  readonly path: FieldPath;
  readonly volumePath: FieldPath;
  take(file: string, shown: string): void;
}

function checkSource(kind: string, source: JsonObject, place: Place, problems: Problems): void {
  switch (kind) {
    case "secret":
    case "configMap":
      return checkKeys(source, place, problems);
    case "downwardAPI":
      for (const file of objectsAt(source, "items")) {
        checkDownwardFile(file, place.path, problems);
        place.take(textAt(file, "path"), textAt(file, "path"));
      }
      return;
    case "serviceAccountToken":
      return checkToken(source, place, problems);
    case "clusterTrustBundle":
      return checkTrustBundle(source, place, problems);
    default:
      return checkCertificate(source, place, problems);
  }
}

function checkKeys(source: JsonObject, place: Place, problems: Problems): void {
  const name = textAt(source, "name");
  if (name === "") problems.required(place.path.child("name"));
  objectsAt(source, "items").forEach((item, index) => {
    checkKeyToPath(item, place.path.child("items").index(index), problems);
    place.take(textAt(item, "path"), name);
  });
}

function checkToken(source: JsonObject, { path, volumePath }: Place, problems: Problems): void {
  const seconds = findNumber(source, "expirationSeconds") ?? 0;
  const place = path.child("expirationSeconds");
  if (seconds < shortestToken) problems.invalid(place, seconds, "may not specify a duration less than 10 minutes");
  if (seconds > longestToken) problems.invalid(place, seconds, "may not specify a duration larger than 2^32 seconds");
  const file = textAt(source, "path");
  if (file === "") problems.required(volumePath.child("path"));
  else checkFilePath(file, volumePath.child("path"), problems);
}

function checkTrustBundle(source: JsonObject, place: Place, problems: Problems): void {
  const { path } = place;
  const [name, signer] = [textAt(source, "name"), textAt(source, "signerName")];
  if (has(source, "name") && has(source, "signerName")) {
    problems.invalid(path, source, "only one of name and signerName may be used");
  } else if (has(source, "name")) {
    if (name === "") problems.required(path.child("name"), "must be a valid object name");
    for (const error of subdomainErrors(name)) {
      problems.invalid(path.child("name"), name, `not a valid clustertrustbundlename: ${error}`);
    }
  } else if (has(source, "signerName")) {
    if (signer === "") problems.required(path.child("signerName"), "must be a valid signer name");
    checkSelector(findObject(source, "labelSelector"), path.child("labelSelector"), problems);
  } else problems.required(path, "either name or signerName must be specified");
  const file = textAt(source, "path");
  if (file === "") problems.required(path.child("path"));
  checkFilePath(file, path.child("path"), problems);
  place.take(file, file);
}

const keyTypes = ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];

function checkCertificate(source: JsonObject, place: Place, problems: Problems): void {
  const { path } = place;
  const type = textAt(source, "keyType");
  if (!keyTypes.includes(type)) problems.notSupported(path.child("keyType"), type, keyTypes);
  const keys = ["credentialBundlePath", "keyPath", "certificateChainPath"];
  for (const key of keys) {
    const file = textAt(source, key);
    if (file === "") continue;
    checkFilePath(file, path.child(key), problems);
    place.take(file, file);
  }
  if (keys.every((key) => textAt(source, key) === "")) {
    problems.required(path, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath");
  }
}
