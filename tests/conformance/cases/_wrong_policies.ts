/** What is wrong with policies: the specs that the cases of policies.ts send. */
import type { Body } from "./_objects.ts";

/** One validation. */
export const validation = (expression: string, rest: Body = {}): Body => ({ validations: [{ expression, ...rest }] });

/** Policies that are wrong. */
export const wrongPolicies: readonly (readonly [string, Body])[] = [
  ["an expression that does not parse", validation("object.data +")],
  ["expressions that do not parse", {
    validations: [
      "object.in == 1",
      "object.(x)",
      "object.?",
      "object.if",
      "object.1",
      "object.'x'",
      "object..x",
      "1 + * 2",
      "[1, 2",
      "size(",
      "{1: }",
      "{1}",
      "true ? 1",
      "'open",
      "object[",
      "object[1",
      "1 2",
      "(1",
      "if == 1",
      "object.all(x, )",
      "object.all(x.y, true)",
      "has(object)",
    ].map((expression) => ({ expression })),
  }],
  ["an expression that is no condition", validation("object.metadata.name")],
  ["an expression of another type", validation("1 + 1")],
  ["an unknown variable", validation("params.x == 1")],
  ["an unknown field of the request", validation("request.nothing == ''")],
  ["a message of another type", validation("true", { messageExpression: "1" })],
  [
    "a message that asks an authorizer",
    validation("true", {
      messageExpression: "authorizer.path('/').check('get').reason()",
    }),
  ],
  ["variables", {
    variables: [{ name: "a", expression: "variables.b" }, { name: "b", expression: "1 +" }],
    ...validation("variables.a == 1 && variables.c"),
  }],
  ["match conditions", {
    ...validation("true"),
    matchConditions: [
      { name: "a", expression: "variables.x" },
      { name: "a", expression: "'text'" },
      { name: "b", expression: " object.x ==  " },
    ],
  }],
  ["audit annotations", { auditAnnotations: [{ key: "a", valueExpression: " 1 " }] }],
];
