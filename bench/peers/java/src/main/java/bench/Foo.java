package bench;

import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;

/** Foo as Java sees it, typed. */
@Group("samplecontroller.k8s.io")
@Version("v1alpha1")
@Plural("foos")
public class Foo extends CustomResource<Foo.Spec, Foo.Status> implements Namespaced {

  public static class Spec {
    public String deploymentName;
    public int replicas;
  }

  public static class Status {
    public int availableReplicas;

    public Status() {}

    Status(int availableReplicas) {
      this.availableReplicas = availableReplicas;
    }
  }
}
