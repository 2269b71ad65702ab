/**
 * TypeSolver: what the open type variables of an expression stand for, as found so far. The rules are those of cel-go's
 * checker: `dyn` goes with everything, null with objects and times, and of two types that go together the more general
 * one is kept.
 */
import { type CelType, dynType, errorType, isSameType, partsOf } from "./types.ts";

/** The variables of one check. */
export class TypeSolver {
  #found = new Map<string, CelType>();
  #count = 0;

  /** A new open variable. */
  variable(): CelType {
    return { kind: "param", name: `_var${this.#count++}` };
  }

  /** True when a value of `left` may stand where `right` is wanted; learns about variables if so. */
  isAssignable(left: CelType, right: CelType): boolean {
    return this.areAssignable([left], [right]);
  }

  /** The same for several at once: all or nothing is learnt. */
  areAssignable(left: readonly CelType[], right: readonly CelType[]): boolean {
    const before = new Map(this.#found);
    if (left.length === right.length && left.every((type, index) => this.#goes(type, right[index] ?? errorType))) {
      return true;
    }
    this.#found = before;
    return false;
  }

  /** The type with all variables replaced that are known. @param isFinal open ones become dyn */
  resolve(type: CelType, isFinal = false): CelType {
    if (type.kind === "param") {
      const found = this.#found.get(type.name);
      if (found !== undefined) return this.resolve(found, isFinal);
      return isFinal ? dynType : type;
    }
    return withParts(type, (part) => this.resolve(part, isFinal));
  }

  /** The type that both are; undefined when they do not go together. */
  join(previous: CelType, current: CelType): CelType | undefined {
    return this.isAssignable(previous, current) ? moreGeneral(previous, current) : undefined;
  }

  /** A declaration's type with its variables replaced by new open ones. */
  instantiate(type: CelType, variables: Map<string, CelType>): CelType {
    if (type.kind !== "param") return withParts(type, (part) => this.instantiate(part, variables));
    let variable = variables.get(type.name);
    if (variable === undefined) variables.set(type.name, variable = this.variable());
    return variable;
  }

  #goes(left: CelType, right: CelType): boolean {
    if (right.kind === "param") {
      const hasFound = this.#found.has(right.name);
      if (this.#bind(right.name, right, left)) return true;
      if (hasFound) return false;
    }
    if (left.kind === "param") return this.#bind(left.name, left, right);
    if (isWild(left) || isWild(right)) return true;
    if (left.kind === "null" || right.kind === "null") return isNullable(left.kind === "null" ? right : left);
    if (left.kind !== right.kind) return false;
    if (left.kind === "type") return true;
    if ("name" in left && "name" in right && left.name !== right.name) return false;
    const [leftParts, rightParts] = [partsOf(left), partsOf(right)];
    return leftParts.length === rightParts.length &&
      leftParts.every((part, index) => this.#goes(part, rightParts[index] ?? errorType));
  }

  #bind(name: string, variable: CelType, type: CelType): boolean {
    if (type.kind === "param" && type.name === name) return true;
    const found = this.#found.get(name);
    if (found === undefined) {
      if (this.#occurs(variable, type)) return false;
      this.#found.set(name, type);
      return true;
    }
    if (isSameType(found, type)) return true;
    if (!this.#goes(type, found)) return false;
    const general = moreGeneral(type, found);
    if (!this.#occurs(variable, general)) this.#found.set(name, general);
    return true;
  }

  #occurs(variable: CelType, inside: CelType): boolean {
    if (isSameType(variable, inside)) return true;
    if (inside.kind === "param") {
      const found = this.#found.get(inside.name);
      return found !== undefined && this.#occurs(variable, found);
    }
    return partsOf(inside).some((part) => this.#occurs(variable, part));
  }
}

function isWild(type: CelType): boolean {
  return type.kind === "dyn" || type.kind === "error";
}

function isNullable(type: CelType): boolean {
  switch (type.kind) {
    case "null":
    case "object":
    case "opaque":
    case "duration":
    case "timestamp":
      return true;
    default:
      return false;
  }
}

function moreGeneral(left: CelType, right: CelType): CelType {
  return isLessSpecific(left, right) ? left : right;
}

function isLessSpecific(left: CelType, right: CelType): boolean {
  if (left.kind === "dyn" || left.kind === "param") return true;
  if (right.kind === "dyn" || right.kind === "param") return false;
  if (left.kind !== right.kind) return false;
  if (left.kind === "type") return true;
  if ("name" in left && "name" in right && left.name !== right.name) return false;
  const rightParts = partsOf(right);
  return partsOf(left).every((part, index) => isLessSpecific(part, rightParts[index] ?? errorType));
}

function withParts(type: CelType, change: (part: CelType) => CelType): CelType {
  switch (type.kind) {
    case "list":
      return { kind: "list", item: change(type.item) };
    case "map":
      return { kind: "map", key: change(type.key), value: change(type.value) };
    case "opaque":
      return type.of.length === 0 ? type : { ...type, of: type.of.map(change) };
    case "type":
      return type.of === undefined ? type : { kind: "type", of: change(type.of) };
    default:
      return type;
  }
}
