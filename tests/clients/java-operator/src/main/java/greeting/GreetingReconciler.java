package greeting;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Cleaner;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.DeleteControl;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import java.util.List;
import java.util.Map;

/**
 * A Greeting has a ConfigMap with its text, which its finalizer removes, because the servers of test environments collect
 * no garbage.
 */
@ControllerConfiguration
public class GreetingReconciler implements Reconciler<Greeting>, Cleaner<Greeting> {

  @Override
  public List<EventSource<?, Greeting>> prepareEventSources(EventSourceContext<Greeting> context) {
    var configuration = InformerEventSourceConfiguration.from(ConfigMap.class, Greeting.class).build();
    return List.of(new InformerEventSource<>(configuration, context));
  }

  @Override
  public UpdateControl<Greeting> reconcile(Greeting greeting, Context<Greeting> context) {
    var map = new ConfigMapBuilder()
        .withNewMetadata()
        .withName(greeting.getMetadata().getName())
        .withNamespace(greeting.getMetadata().getNamespace())
        .endMetadata()
        .withData(Map.of("text", ("Hello, " + greeting.getSpec().name + "\n").repeat(greeting.getSpec().times)))
        .build();
    map.addOwnerReference(greeting);
    context.getClient().resource(map).serverSideApply();
    var observed = greeting.getMetadata().getGeneration();
    if (greeting.getStatus() != null && observed.equals(greeting.getStatus().observedGeneration)) {
      return UpdateControl.noUpdate();
    }
    greeting.setStatus(new Greeting.Status());
    greeting.getStatus().observedGeneration = observed;
    return UpdateControl.patchStatus(greeting);
  }

  @Override
  public DeleteControl cleanup(Greeting greeting, Context<Greeting> context) {
    var metadata = greeting.getMetadata();
    context.getClient().configMaps().inNamespace(metadata.getNamespace()).withName(metadata.getName()).delete();
    return DeleteControl.defaultDelete();
  }
}
