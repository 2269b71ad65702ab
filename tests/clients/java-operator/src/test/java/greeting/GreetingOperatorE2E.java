package greeting;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.javaoperatorsdk.operator.junit.LocallyRunOperatorExtension;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The operator on the cluster of the kubeconfig, in a namespace of each test, as the samples of the Java Operator SDK. */
class GreetingOperatorE2E {

  @RegisterExtension
  LocallyRunOperatorExtension operator =
      LocallyRunOperatorExtension.builder().withReconciler(new GreetingReconciler()).build();

  @Test
  void aGreetingHasItsConfigMap() {
    var greeting = new Greeting();
    greeting.setMetadata(new ObjectMetaBuilder().withName("one").build());
    greeting.setSpec(new Greeting.Spec());
    greeting.getSpec().name = "world";
    operator.create(greeting);
    var map = operator.getKubernetesClient().resources(ConfigMap.class).inNamespace(operator.getNamespace()).withName("one");
    var written = map.waitUntilCondition(one -> one != null && one.getData() != null, 20, TimeUnit.SECONDS);
    assertEquals("Hello, world\n", written.getData().get("text"));
  }
}
