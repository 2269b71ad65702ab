/**
 * The type checker: finds the type of each part of an expression and the overloads of each call, and reports what does not
 * match. The rules and messages are those of cel-go's checker.
 */
import { type Call, type Comprehension, type Expr, qualifiedName, type Select, type StructExpr } from "./ast.ts";
import type { FunctionDecl } from "./functions.ts";
import type { Issue } from "./issues.ts";
import type { FindStruct } from "./structs.ts";
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  errorType,
  fieldTypeOf,
  formatType,
  formatTypeName,
  intType,
  isSameType,
  listOf,
  mapOf,
  nullType,
  optionalContent,
  optionalOf,
  stringType,
  timestampType,
  TypeSolver,
  uintType,
} from "./types.ts";

/** What expressions may name besides variables. */
export interface Declarations {
  readonly functions: ReadonlyMap<string, FunctionDecl>;
  readonly findStruct: FindStruct;
}

/** The result of checking an expression. */
export interface Checked {
  readonly expr: Expr;
  readonly type: CelType;
  readonly types: ReadonlyMap<Expr, CelType>;
  /** The function of each call by its full name, and its overloads. */
  readonly calls: ReadonlyMap<Call, CheckedCall>;
  /** Names of the variables that the expression uses. */
  readonly used: ReadonlySet<string>;
  /** Names that refer to types. */
  readonly typeNames: ReadonlyMap<Expr, string>;
  /** Selections that are variables with a dot in their names. */
  readonly dotted: ReadonlyMap<Expr, string>;
  readonly issues: readonly Issue[];
}

/** The function that a call refers to. */
export interface CheckedCall {
  readonly name: string;
  readonly overloadIds: readonly string[];
  /** Absent for a function with dots in its name: then the apparent target is a part of the name. */
  readonly target?: Expr;
}

const typeIdents: ReadonlyMap<string, readonly [type: CelType, name: string]> = new Map([
  ["bool", [boolType, "bool"]],
  ["int", [intType, "int"]],
  ["uint", [uintType, "uint"]],
  ["double", [doubleType, "double"]],
  ["string", [stringType, "string"]],
  ["bytes", [bytesType, "bytes"]],
  ["list", [listOf(dynType), "list"]],
  ["map", [mapOf(dynType, dynType), "map"]],
  ["null_type", [nullType, "null_type"]],
  ["type", [{ kind: "type" }, "type"]],
  ["optional_type", [optionalOf(dynType), "optional_type"]],
  ["google.protobuf.Duration", [durationType, "google.protobuf.Duration"]],
  ["google.protobuf.Timestamp", [timestampType, "google.protobuf.Timestamp"]],
  ["net.IP", [{ kind: "opaque", name: "net.IP", of: [] }, "net.IP"]],
  ["net.CIDR", [{ kind: "opaque", name: "net.CIDR", of: [] }, "net.CIDR"]],
]);

/** Checks a parsed expression. */
export function checkCel(
  expr: Expr,
  variables: ReadonlyMap<string, CelType>,
  declared: Declarations,
): Checked {
  const checker = new Checker(variables, declared);
  checker.check(expr);
  return checker.result(expr);
}

class Checker {
  readonly #declared: Declarations;
  readonly #solver = new TypeSolver();
  readonly #types = new Map<Expr, CelType>();
  readonly #calls = new Map<Call, CheckedCall>();
  readonly #used = new Set<string>();
  readonly #typeNames = new Map<Expr, string>();
  readonly #dotted = new Map<Expr, string>();
  readonly #issues: Issue[] = [];
  readonly #scopes: Map<string, CelType>[];

  constructor(variables: ReadonlyMap<string, CelType>, declared: Declarations) {
    this.#scopes = [new Map(variables)];
    this.#declared = declared;
  }

  result(expr: Expr): Checked {
    const types = new Map<Expr, CelType>();
    for (const [node, type] of this.#types) types.set(node, this.#solver.resolve(type, true));
    return {
      expr,
      type: types.get(expr) ?? errorType,
      types,
      calls: this.#calls,
      used: this.#used,
      typeNames: this.#typeNames,
      dotted: this.#dotted,
      issues: this.#issues,
    };
  }

  check(expr: Expr): CelType {
    const type = this.#typeOf(expr);
    this.#types.set(expr, type);
    return type;
  }

  #typeOf(expr: Expr): CelType {
    switch (expr.kind) {
      case "literal":
        return literalType(expr.value);
      case "ident":
        return this.#identType(expr, expr.name);
      case "select":
        return this.#selectType(expr);
      case "call":
        return this.#callType(expr);
      case "list": {
        let item: CelType | undefined;
        for (const { value, isOptional } of expr.items) {
          item = this.#joined(item, this.#itemType(value, isOptional));
        }
        return listOf(item ?? this.#solver.variable());
      }
      case "map":
        return this.#mapType(expr);
      case "struct":
        return this.#structType(expr);
      case "comprehension":
        return this.#loopType(expr);
      default:
        return expr satisfies never;
    }
  }

  #identType(expr: Expr, written: string): CelType {
    const name = written.replace(/^\./, "");
    const found = this.#lookUp(expr, name);
    if (found !== undefined) return found;
    this.#undeclared(expr.offset, name);
    return errorType;
  }

  #lookUp(expr: Expr, name: string): CelType | undefined {
    for (let index = this.#scopes.length - 1; index >= 0; index--) {
      const found = this.#scopes[index]?.get(name);
      if (found === undefined) continue;
      if (index === 0) this.#used.add(name);
      if (expr.kind === "select") this.#dotted.set(expr, name);
      return found;
    }
    const known = typeIdents.get(name);
    const type = known?.[0] ?? this.#declared.findStruct(name)?.type;
    if (type === undefined) return undefined;
    this.#typeNames.set(expr, known?.[1] ?? name);
    return { kind: "type", of: type };
  }

  #selectType(expr: Select): CelType {
    const name = qualifiedName(expr);
    const whole = name === undefined ? undefined : this.#lookUp(expr, name);
    if (whole !== undefined) return whole;
    const type = this.#fieldType(expr.offset, expr.operand, expr.field, false);
    return expr.isTest ? boolType : type;
  }

  /** The type of a field of an operand. */
  #fieldType(offset: number, operand: Expr, field: string, isOptional: boolean): CelType {
    const operandType = this.#solver.resolve(this.check(operand));
    const content = optionalContent(operandType);
    const type = this.#solver.resolve(this.#contentType(offset, content ?? operandType, field));
    return content !== undefined || isOptional ? optionalOf(type) : type;
  }

  #contentType(offset: number, target: CelType, field: string): CelType {
    switch (target.kind) {
      case "map":
        return target.value;
      case "object": {
        const type = fieldTypeOf(target, field);
        if (type === undefined) this.#issue(offset, `undefined field '${field}'`);
        return type ?? errorType;
      }
      case "opaque":
        if (target.isObject === true) {
          this.#issue(offset, `unexpected failed resolution of '${target.name}'`);
          return errorType;
        }
        break;
      case "param":
        this.#solver.isAssignable(dynType, target);
        return dynType;
      case "dyn":
      case "error":
        return dynType;
      default:
    }
    this.#issue(offset, `type '${formatType(target)}' does not support field selection`);
    return dynType;
  }

  #callType(expr: Call): CelType {
    const { name, target, args, offset } = expr;
    if (name === "_?._") return this.#optionalSelect(expr);
    for (const argument of args) this.check(argument);
    if (target === undefined) {
      const plain = name.replace(/^\./, "");
      const declaration = this.#declared.functions.get(plain);
      if (declaration !== undefined) return this.#resolved(expr, declaration, undefined);
      this.#undeclared(offset, plain);
      return errorType;
    }
    const prefix = qualifiedName(target);
    const qualified = prefix === undefined ? undefined : this.#declared.functions.get(`${prefix}.${name}`);
    if (qualified !== undefined) return this.#resolved(expr, qualified, undefined);
    this.check(target);
    const declaration = this.#declared.functions.get(name);
    if (declaration !== undefined) return this.#resolved(expr, declaration, target);
    this.#undeclared(offset, name);
    return errorType;
  }

  #optionalSelect(expr: Call): CelType {
    const [operand, field] = expr.args;
    if (operand === undefined || field?.kind !== "literal" || typeof field.value !== "string") return errorType;
    this.#types.set(field, stringType);
    this.#calls.set(expr, { name: expr.name, overloadIds: ["select_optional_field"] });
    return this.#fieldType(expr.offset, operand, field.value, true);
  }

  #resolved(expr: Call, declaration: FunctionDecl, target: Expr | undefined): CelType {
    const parts = target === undefined ? expr.args : [target, ...expr.args];
    const types = parts.map((part) => this.#types.get(part) ?? errorType);
    if (declaration.name === "_&&_" || declaration.name === "_||_") return this.#junctionType(expr, declaration, types);
    const overloadIds: string[] = [];
    let result: CelType | undefined;
    for (const overload of declaration.overloads) {
      if (overload.isMember !== (target !== undefined)) continue;
      const variables = new Map<string, CelType>();
      const wanted = overload.args.map((type) => this.#solver.instantiate(type, variables));
      if (!this.#solver.areAssignable(types, wanted)) continue;
      overloadIds.push(overload.id);
      const found = this.#solver.resolve(this.#solver.instantiate(overload.result, variables));
      if (result === undefined) result = found;
      else if (result.kind !== "dyn" && !isSameType(found, result)) result = dynType;
    }
    if (result === undefined) {
      this.#noOverload(expr.offset, declaration.name, types, target !== undefined);
      return errorType;
    }
    this.#calls.set(expr, { name: declaration.name, overloadIds, ...(target === undefined ? {} : { target }) });
    return result;
  }

  #junctionType(expr: Call, { name }: FunctionDecl, types: readonly CelType[]): CelType {
    let isWrong = false;
    for (const [index, type] of types.entries()) {
      if (this.#solver.isAssignable(type, boolType)) continue;
      this.#mismatch(expr.args[index]?.offset ?? expr.offset, boolType, type);
      isWrong = true;
    }
    if (isWrong) return errorType;
    this.#calls.set(expr, { name, overloadIds: [name === "_&&_" ? "logical_and" : "logical_or"] });
    return boolType;
  }

  #noOverload(offset: number, name: string, types: readonly CelType[], isMember: boolean): void {
    const [first, ...rest] = types.map((type) => formatType(this.#solver.resolve(type, true)));
    const signature = isMember ? `${first}.(${rest.join(", ")})` : `(${[first, ...rest].filter(isText).join(", ")})`;
    this.#issue(offset, `found no matching overload for '${name}' applied to '${signature}'`);
  }

  #mapType(expr: Expr & { readonly kind: "map" }): CelType {
    let [key, value]: [CelType | undefined, CelType | undefined] = [undefined, undefined];
    for (const entry of expr.entries) {
      key = this.#joined(key, this.check(entry.key));
      value = this.#joined(value, this.#itemType(entry.value, entry.isOptional));
    }
    return mapOf(key ?? this.#solver.variable(), value ?? this.#solver.variable());
  }

  #structType(expr: StructExpr): CelType {
    const name = expr.typeName.replace(/^\./, "");
    const type = this.#declared.findStruct(name)?.type;
    if (type === undefined) {
      this.#noStruct(expr.offset, name);
      return errorType;
    }
    for (const field of expr.fields) {
      const found = this.#itemType(field.value, field.isOptional);
      const wanted = fieldTypeOf(type, field.name);
      if (wanted !== undefined && this.#solver.isAssignable(wanted, found)) continue;
      // A field that does not exist has a type without a name.
      const expected = wanted === undefined ? "" : formatType(this.#solver.resolve(wanted));
      const actual = formatType(this.#solver.resolve(found));
      const what = `expected type of field '${field.name}' is '${expected}' but provided type is '${actual}'`;
      this.#issue(field.offset, what);
    }
    return type;
  }

  #noStruct(offset: number, name: string): void {
    const known = typeIdents.get(name);
    if (known !== undefined) return this.#issue(offset, `'${known[1]}' is not a message type`);
    const variable = this.#scopes.findLast((scope) => scope.has(name))?.get(name);
    if (variable === undefined) this.#undeclared(offset, name);
    else this.#issue(offset, `'${formatTypeName(variable)}' is not a type`);
  }

  #itemType(expr: Expr, isOptional: boolean): CelType {
    const type = this.check(expr);
    if (!isOptional) return type;
    const content = optionalContent(type);
    if (content !== undefined) return content;
    if (type.kind !== "dyn") this.#mismatch(expr.offset, optionalOf(type), type);
    return type;
  }

  #joined(previous: CelType | undefined, current: CelType): CelType {
    return previous === undefined ? current : this.#solver.join(previous, current) ?? dynType;
  }

  #loopType(expr: Comprehension): CelType {
    const rangeType = this.check(expr.range);
    const accumulatorType = this.check(expr.initial);
    const outer = this.#scopes.length;
    this.#scopes.push(new Map([[expr.accumulator, accumulatorType]]));
    const [first, second] = this.#rangeTypes(expr, this.#solver.resolve(rangeType));
    const inner = new Map([[expr.variable, first]]);
    if (expr.variable2 !== undefined) inner.set(expr.variable2, second);
    this.#scopes.push(inner);
    this.#expect(expr.condition, boolType);
    this.#expect(expr.step, accumulatorType);
    this.#scopes.length = outer + 1;
    const result = this.check(expr.result);
    this.#scopes.length = outer;
    return this.#solver.resolve(result);
  }

  #rangeTypes(expr: Comprehension, range: CelType): readonly [CelType, CelType] {
    switch (range.kind) {
      case "list":
        return expr.variable2 === undefined ? [range.item, range.item] : [intType, range.item];
      case "map":
        return [range.key, range.value];
      case "dyn":
      case "error":
      case "param":
        this.#solver.isAssignable(dynType, range);
        return [dynType, dynType];
      default: {
        const what = `expression of type '${formatType(range)}' cannot be range of a comprehension`;
        this.#issue(expr.range.offset, `${what} (must be list, map, or dynamic)`);
        return [errorType, errorType];
      }
    }
  }

  #expect(expr: Expr, wanted: CelType): void {
    const type = this.check(expr);
    if (!this.#solver.isAssignable(wanted, type)) this.#mismatch(expr.offset, wanted, type);
  }

  #mismatch(offset: number, wanted: CelType, found: CelType): void {
    const [expected, actual] = [wanted, found].map((type) => formatType(this.#solver.resolve(type)));
    this.#issue(offset, `expected type '${expected}' but found '${actual}'`);
  }

  #undeclared(offset: number, name: string): void {
    this.#issue(offset, `undeclared reference to '${name}' (in container '')`);
  }

  #issue(offset: number, message: string): void {
    this.#issues.push({ offset, message });
  }
}

function literalType(value: unknown): CelType {
  if (value === null) return nullType;
  switch (typeof value) {
    case "boolean":
      return boolType;
    case "bigint":
      return intType;
    case "number":
      return doubleType;
    case "string":
      return stringType;
    default:
      return value instanceof Uint8Array ? bytesType : uintType;
  }
}

function isText(value: string | undefined): value is string {
  return value !== undefined;
}
