/** The operators that run.ts knows. Each has a folder; this is the only list of them. */
import type { OperatorCase } from "./operator.ts";
import { casskop } from "./casskop/operator.ts";
import { certManager } from "./cert_manager/operator.ts";
import { externalSecrets } from "./external_secrets/operator.ts";
import { jobset } from "./jobset/operator.ts";
import { lws } from "./lws/operator.ts";
import { prometheus } from "./prometheus/operator.ts";
import { rabbitmq } from "./rabbitmq/operator.ts";
import { redis } from "./redis/operator.ts";
import { zookeeper } from "./zookeeper/operator.ts";

/** All of them. */
export const operatorCases: readonly OperatorCase[] = [
  ...zookeeper,
  ...rabbitmq,
  ...redis,
  ...prometheus,
  ...certManager,
  ...casskop,
  ...externalSecrets,
  ...jobset,
  ...lws,
];
