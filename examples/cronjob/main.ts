/** The program: the commands run, install-crds, dev, simulate, manifests and others, with the controller's own metrics. */
import process from "node:process";
import { MetricsRegistry, operatorCli } from "../../src/mod.ts";
import { cronJobController } from "./controller.ts";

const metrics = new MetricsRegistry();
process.exit(
  await operatorCli({ name: "cronjob-operator", version: "1.0.0", metrics, controllers: [cronJobController(metrics)] }),
);
