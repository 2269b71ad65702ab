/**
 * What a namespace says of the security of its Pods, in labels: a level for refusing, one for warning, each with a version.
 * Source: k8s.io/pod-security-admission `api/helpers.go` of 1.36.
 */
import { goQuote } from "../model/mod.ts";

/** From the one that allows everything to the strictest. */
export type Level = "privileged" | "baseline" | "restricted";

/** A level, and the release whose rules it means. */
export interface LeveledVersion {
  readonly level: Level;
  /** `latest` or `v1.25`: shown, while the rules are always those of 1.36. */
  readonly version: string;
}

/** What to refuse, and what to warn of. */
export interface SecurityPolicy {
  readonly enforce: LeveledVersion;
  readonly warn: LeveledVersion;
  /** Labels that say nothing sensible, with what is wrong. */
  readonly errors: readonly { readonly label: string; readonly value: string; readonly detail: string }[];
}

const prefix = "pod-security.kubernetes.io/";
const levels: readonly Level[] = ["privileged", "baseline", "restricted"];

/** Reads the labels of a namespace. */
export function policyOf(labels: ReadonlyMap<string, string>): SecurityPolicy {
  const errors: { label: string; value: string; detail: string }[] = [];
  const read = (mode: string, otherwise: Level): { level: Level; isSet: boolean } => {
    const value = labels.get(`${prefix}${mode}`);
    if (value === undefined) return { level: "privileged", isSet: false };
    const level = levels.find((each) => each === value);
    if (level !== undefined) return { level, isSet: true };
    errors.push({ label: `${prefix}${mode}`, value, detail: `must be one of ${levels.join(", ")}` });
    return { level: otherwise, isSet: mode === "warn" };
  };
  const readVersion = (mode: string): string => {
    const value = labels.get(`${prefix}${mode}-version`);
    if (value === undefined || value === "latest" || /^v1\.(0|[1-9]\d*)$/.test(value)) return value ?? "latest";
    errors.push({ label: `${prefix}${mode}-version`, value, detail: 'must be "latest" or "v1.x"' });
    return "latest";
  };
  const [enforce, enforceVersion] = [read("enforce", "restricted"), readVersion("enforce")];
  read("audit", "privileged");
  readVersion("audit");
  const [warn, warnVersion] = [read("warn", "privileged"), readVersion("warn")];
  // Who refuses is warned of what a template will come to, unless the namespace says otherwise.
  const isTaken = !warn.isSet && enforce.isSet;
  const hasOwnVersion = labels.has(`${prefix}warn-version`);
  return {
    enforce: { level: enforce.level, version: enforceVersion },
    warn: {
      level: isTaken ? enforce.level : warn.level,
      version: isTaken && !hasOwnVersion ? enforceVersion : warnVersion,
    },
    errors,
  };
}

/** `restricted:latest`, quoted. */
export function shownPolicy({ level, version }: LeveledVersion): string {
  return goQuote(`${level}:${version}`);
}
