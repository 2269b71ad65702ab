/**
 * The configuration of operator-sdk's scorecard: the tests that `operator-sdk scorecard` runs on a bundle, each in a Pod.
 *
 * Assumptions: the image is the one of operator-sdk's own releases; a mirror is named by editing the file.
 */

/** The folder of the configuration in a bundle. */
export const scorecardFolder = "tests/scorecard";

/** The version of operator-sdk whose tests were run on bundles of this command. */
const image = "quay.io/operator-framework/scorecard-test:v1.42.3";

/** The tests of that image, by suite. */
const suites = {
  basic: ["basic-check-spec"],
  olm: [
    "olm-bundle-validation",
    "olm-crds-have-validation",
    "olm-crds-have-resources",
    "olm-spec-descriptors",
    "olm-status-descriptors",
  ],
} as const;

/** The annotations by which the scorecard finds its configuration. */
export const scorecardLabels = {
  "operators.operatorframework.io.test.mediatype.v1": "scorecard+v1",
  "operators.operatorframework.io.test.config.v1": `${scorecardFolder}/`,
} as const;

/** Returns the configuration: all tests, at the same time. */
export function scorecardConfiguration(): object {
  const storage = { spec: { mountPath: {} } };
  const tests = Object.entries(suites).flatMap(([suite, names]) =>
    names.map((name) => ({
      entrypoint: ["scorecard-test", name],
      image,
      labels: { suite, test: `${name}-test` },
      storage,
    }))
  );
  return {
    apiVersion: "scorecard.operatorframework.io/v1alpha3",
    kind: "Configuration",
    metadata: { name: "config" },
    stages: [{ parallel: true, tests }],
    storage,
  };
}
