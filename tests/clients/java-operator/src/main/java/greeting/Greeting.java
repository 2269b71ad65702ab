package greeting;

import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Required;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;

/** The kind of the operator; its CRD is generated from this class. */
@Group("java.pintle.dev")
@Version("v1")
public class Greeting extends CustomResource<Greeting.Spec, Greeting.Status> implements Namespaced {

  public static class Spec {
    @Required
    public String name;
    @Min(1)
    @Max(5)
    public int times = 1;
  }

  public static class Status {
    public Long observedGeneration;
  }
}
