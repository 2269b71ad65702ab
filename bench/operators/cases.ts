/** The operators that run.ts knows. Each has a folder; this is the only list of them. */
import type { OperatorCase } from "./operator.ts";
import { rabbitmq } from "./rabbitmq/operator.ts";
import { zookeeper } from "./zookeeper/operator.ts";

/** All of them. */
export const operatorCases: readonly OperatorCase[] = [...zookeeper, ...rabbitmq];
