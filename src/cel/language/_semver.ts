/** Semantic versions in expressions. */
import { goQuote } from "../model/mod.ts";
import {
  attempt,
  binary,
  type FunctionDecl,
  type Guard,
  isText,
  method,
  type Overload,
  overload,
  unary,
} from "./functions.ts";
import { boolType, type CelType, intType, stringType } from "./types.ts";
import { CelError, CelOpaque, type Value } from "./values.ts";

/** `kubernetes.Semver`. */
export const semverType: CelType = { kind: "opaque", name: "kubernetes.Semver", of: [], isObject: true };

interface Semver {
  readonly numbers: readonly [major: bigint, minor: bigint, patch: bigint];
  readonly prerelease: readonly string[];
}

/** A version. */
export class CelSemver extends CelOpaque {
  override readonly type = semverType;
  readonly version: Semver;

  constructor(version: Semver) {
    super();
    this.version = version;
  }

  override equals(other: CelOpaque): boolean {
    return other instanceof CelSemver && compareVersions(this.version, other.version) === 0;
  }

  override toText(): string {
    const { numbers, prerelease } = this.version;
    return numbers.join(".") + (prerelease.length === 0 ? "" : `-${prerelease.join(".")}`);
  }
}

const isVersion: Guard<CelSemver> = (value) => value instanceof CelSemver;
const isBool: Guard<boolean> = (value) => typeof value === "boolean";

/** The functions of versions. */
export const semverFunctions: readonly FunctionDecl[] = [
  {
    name: "semver",
    overloads: [
      overload("string_to_semver", [stringType], semverType, unary(isText, (text) => versionOf(text, false))),
      overload("string_bool_to_semver", [stringType, boolType], semverType, binary(isText, isBool, versionOf)),
    ],
  },
  {
    name: "isSemver",
    overloads: [
      overload("is_semver_string", [stringType], boolType, unary(isText, (text) => isVersionText(text, false))),
      overload("is_semver_string_bool", [stringType, boolType], boolType, binary(isText, isBool, isVersionText)),
    ],
  },
  one("isGreaterThan", both("semver_is_greater_than", boolType, (order) => order > 0)),
  one("isLessThan", both("semver_is_less_than", boolType, (order) => order < 0)),
  one("compareTo", both("semver_compare_to", intType, (order) => BigInt(order))),
  one("major", method("semver_major", [semverType], intType, unary(isVersion, ({ version }) => version.numbers[0]))),
  one("minor", method("semver_minor", [semverType], intType, unary(isVersion, ({ version }) => version.numbers[1]))),
  one("patch", method("semver_patch", [semverType], intType, unary(isVersion, ({ version }) => version.numbers[2]))),
];

function one(name: string, only: Overload): FunctionDecl {
  return { name, overloads: [only] };
}

function both(id: string, result: CelType, run: (order: number) => Value): Overload {
  const compared = binary(isVersion, isVersion, (a, b) => run(compareVersions(a.version, b.version)));
  return method(id, [semverType, semverType], result, compared);
}

/** The version that a text is; an error when it is none. @param isLoose allows a leading v and missing numbers */
export function versionOf(text: string, isLoose: boolean): Value {
  return attempt(() => new CelSemver(parseVersion(isLoose ? normalized(text) : text)));
}

function isVersionText(text: string, isLoose: boolean): Value {
  return !(versionOf(text, isLoose) instanceof CelError);
}

/** Drops a leading v and leading zeros, and adds missing numbers. */
function normalized(text: string): string {
  const parts = splitInThree(text.replace(/^v/, "")).map((part) => {
    if (part.length < 2) return part;
    const bare = part.replace(/^0+/, "");
    return /^[0-9]/.test(bare) ? bare : `0${bare}`;
  });
  if (parts.length < 3) {
    if (/[+-]/.test(parts[parts.length - 1] ?? "")) {
      throw new RangeError("short version cannot contain PreRelease/Build meta data");
    }
    while (parts.length < 3) parts.push("0");
  }
  return parts.join(".");
}

function splitInThree(text: string): string[] {
  const [major = "", minor, ...rest] = text.split(".");
  return [major, ...(minor === undefined ? [] : [minor]), ...(rest.length === 0 ? [] : [rest.join(".")])];
}

/** @throws {RangeError} with the error in its message */
function parseVersion(text: string): Semver {
  if (text === "") throw new RangeError("Version string empty");
  const [major, minor, rest] = splitInThree(text);
  if (major === undefined || minor === undefined || rest === undefined) {
    throw new RangeError("No Major.Minor.Patch elements found");
  }
  const plus = rest.indexOf("+");
  const build = plus < 0 ? undefined : rest.slice(plus + 1).split(".");
  const beforeBuild = plus < 0 ? rest : rest.slice(0, plus);
  const dash = beforeBuild.indexOf("-");
  const prerelease = dash < 0 ? [] : beforeBuild.slice(dash + 1).split(".");
  const patch = dash < 0 ? beforeBuild : beforeBuild.slice(0, dash);
  const numbers = [
    number(major, "Major", "major"),
    number(minor, "Minor", "minor"),
    number(patch, "Patch", "patch"),
  ] as const;
  for (const part of prerelease) checkPrerelease(part);
  for (const part of build ?? []) {
    if (part === "") throw new RangeError("Build meta data is empty");
    if (/[^0-9A-Za-z-]/.test(part)) {
      throw new RangeError(`Invalid character(s) found in build meta data ${goQuote(part)}`);
    }
  }
  return { numbers, prerelease };
}

function number(text: string, title: string, name: string): bigint {
  if (!/^[0-9]+$/.test(text)) throw new RangeError(`Invalid character(s) found in ${name} number ${goQuote(text)}`);
  if (text.length > 1 && text.startsWith("0")) {
    throw new RangeError(`${title} number must not contain leading zeroes ${goQuote(text)}`);
  }
  return BigInt(text);
}

function checkPrerelease(part: string): void {
  if (part === "") throw new RangeError("Prerelease is empty");
  if (/^0[0-9]+$/.test(part)) {
    throw new RangeError(`Numeric PreRelease version must not contain leading zeroes ${goQuote(part)}`);
  }
  if (/[^0-9A-Za-z-]/.test(part)) throw new RangeError(`Invalid character(s) found in prerelease ${goQuote(part)}`);
}

function compareVersions(left: Semver, right: Semver): number {
  for (const index of [0, 1, 2] as const) {
    const [a, b] = [left.numbers[index], right.numbers[index]];
    if (a !== b) return a < b ? -1 : 1;
  }
  if (left.prerelease.length === 0 || right.prerelease.length === 0) {
    return Math.sign(right.prerelease.length) - Math.sign(left.prerelease.length);
  }
  const count = Math.min(left.prerelease.length, right.prerelease.length);
  for (let index = 0; index < count; index++) {
    const order = comparePrereleases(left.prerelease[index] ?? "", right.prerelease[index] ?? "");
    if (order !== 0) return order;
  }
  return Math.sign(left.prerelease.length - right.prerelease.length);
}

function comparePrereleases(left: string, right: string): number {
  const [isLeft, isRight] = [/^[0-9]+$/.test(left), /^[0-9]+$/.test(right)];
  if (isLeft && isRight) return Math.sign(Number(BigInt(left) - BigInt(right)));
  if (isLeft !== isRight) return isLeft ? -1 : 1;
  return left < right ? -1 : left > right ? 1 : 0;
}
