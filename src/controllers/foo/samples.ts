/** What shows foo at work; examples/foo.yaml says the same for people. */
export const fooSamples = [{
  apiVersion: "samplecontroller.k8s.io/v1alpha1",
  kind: "Foo",
  metadata: { name: "example-foo" },
  spec: { deploymentName: "example-foo", replicas: 1 },
}];
