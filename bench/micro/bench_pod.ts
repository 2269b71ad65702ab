/** The Pod of the micro-benchmarks of wire formats. */

/** The text of a Pod with one container, labels and requests; each index has its own. */
export function podText(index: number): string {
  const container = {
    name: "main",
    image: "example.invalid/main:1",
    env: [{ name: "INDEX", value: String(index) }, { name: "EMPTY", value: "" }],
    ports: [{ containerPort: 80 }],
    resources: { requests: { cpu: "100m", memory: "128Mi" } },
  };
  const metadata = { name: `pod-${index}`, labels: { app: "bench", shard: String(index % 10) } };
  return JSON.stringify({ metadata, spec: { containers: [container] } });
}
