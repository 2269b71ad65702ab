package greeting;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fabric8.kubeapitest.junit.EnableKubeAPIServer;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.javaoperatorsdk.operator.Operator;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The operator on the server of kube-api-test: what its author would run with `mvn test`. */
@EnableKubeAPIServer
class GreetingReconcilerTest {

  static KubernetesClient client;
  static Operator operator;

  @BeforeAll
  static void start() {
    var definition = client.apiextensions().v1().customResourceDefinitions()
        .load(Greeting.class.getResourceAsStream("/META-INF/fabric8/greetings.java.pintle.dev-v1.yml"));
    definition.serverSideApply();
    definition.waitUntilCondition(one -> one.getStatus() != null && one.getStatus().getConditions().stream()
        .anyMatch(condition -> condition.getType().equals("Established") && condition.getStatus().equals("True")),
        20, TimeUnit.SECONDS);
    operator = new Operator(overrider -> overrider.withKubernetesClient(client).withCloseClientOnStop(false));
    operator.register(new GreetingReconciler());
    operator.start();
    System.out.println("version " + client.getKubernetesVersion().getGitVersion());
  }

  @AfterAll
  static void stop() {
    operator.stop();
  }

  @Test
  void aGreetingHasItsConfigMapUntilItIsDeleted() {
    Resource<Greeting> greeting = client.resource(greeting("one", 1));
    Resource<ConfigMap> map = client.configMaps().inNamespace("default").withName("one");
    var uid = greeting.create().getMetadata().getUid();
    map.waitUntilCondition(one -> hasText(one, "Hello, world\n"), 20, TimeUnit.SECONDS);
    assertEquals(uid, map.get().getMetadata().getOwnerReferences().get(0).getUid());

    var first = map.get().getMetadata().getUid();
    map.delete();
    map.waitUntilCondition(one -> one != null && !one.getMetadata().getUid().equals(first), 20, TimeUnit.SECONDS);

    greeting.edit(one -> {
      one.getSpec().times = 2;
      return one;
    });
    map.waitUntilCondition(one -> hasText(one, "Hello, world\nHello, world\n"), 20, TimeUnit.SECONDS);
    greeting.waitUntilCondition(one -> one.getStatus() != null && one.getStatus().observedGeneration == 2, 20,
        TimeUnit.SECONDS);

    greeting.delete();
    greeting.waitUntilCondition(one -> one == null, 20, TimeUnit.SECONDS);
    assertNull(map.get());
  }

  @Test
  void aNumberThatIsTooLargeIsRejected() {
    var rejected = assertThrows(KubernetesClientException.class, () -> client.resource(greeting("many", 6)).create());
    assertEquals(422, rejected.getCode());
    assertEquals("spec.times", rejected.getStatus().getDetails().getCauses().get(0).getField());
  }

  private static boolean hasText(ConfigMap map, String text) {
    return map != null && text.equals(map.getData().get("text"));
  }

  private static Greeting greeting(String name, int times) {
    var greeting = new Greeting();
    greeting.setMetadata(new ObjectMetaBuilder().withName(name).withNamespace("default").build());
    greeting.setSpec(new Greeting.Spec());
    greeting.getSpec().name = "world";
    greeting.getSpec().times = times;
    return greeting;
  }
}
