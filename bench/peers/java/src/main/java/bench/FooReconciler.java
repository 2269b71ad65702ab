package bench;

import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The controller of the cases reconcile and idle: a Deployment, an Event and a status for each new Foo. The framework
 * writes the status after the reconcile, so a Foo counts as finished when the framework reports its success.
 */
@ControllerConfiguration
class FooReconciler implements Reconciler<Foo>, Metrics {

  /** Calls of {@link #reconcile}. */
  final AtomicInteger reconciles = new AtomicInteger();

  private final CountDownLatch unfinished;
  /** UIDs of the Foos whose status is being written. */
  private final Set<String> finishing = ConcurrentHashMap.newKeySet();

  FooReconciler(int objects) {
    unfinished = new CountDownLatch(objects);
  }

  /** Returns when so many Foos as were expected have their three writes. */
  void untilFinished() throws InterruptedException {
    unfinished.await();
  }

  @Override
  public List<EventSource<?, Foo>> prepareEventSources(EventSourceContext<Foo> context) {
    var configuration = InformerEventSourceConfiguration.from(Deployment.class, Foo.class).build();
    return List.of(new InformerEventSource<>(configuration, context));
  }

  @Override
  public UpdateControl<Foo> reconcile(Foo foo, Context<Foo> context) {
    reconciles.incrementAndGet();
    var held = context.getSecondaryResource(Deployment.class);
    if (held.isEmpty() || !held.get().getSpec().getReplicas().equals(foo.getSpec().replicas)) {
      context.resourceOperations().serverSideApply(desiredDeployment(foo));
    }
    if (foo.getStatus() != null && foo.getStatus().availableReplicas == foo.getSpec().replicas) {
      return UpdateControl.noUpdate();
    }
    context.getClient().resource(syncedEvent(foo)).create();
    finishing.add(foo.getMetadata().getUid());
    return UpdateControl.patchStatus(desiredStatus(foo));
  }

  @Override
  public void reconciliationSucceeded(HasMetadata foo, Map<String, Object> metadata) {
    if (finishing.remove(foo.getMetadata().getUid())) unfinished.countDown();
  }

  /** Only what is to be applied, as the documentation of UpdateControl advises. */
  private static Foo desiredStatus(Foo foo) {
    var desired = new Foo();
    desired.getMetadata().setName(foo.getMetadata().getName());
    desired.getMetadata().setNamespace(foo.getMetadata().getNamespace());
    desired.setStatus(new Foo.Status(foo.getSpec().replicas));
    return desired;
  }

  private static Deployment desiredDeployment(Foo foo) {
    var labels = Map.of("app", "nginx", "controller", foo.getMetadata().getName());
    var deployment = new DeploymentBuilder()
        .withNewMetadata()
        .withName(foo.getSpec().deploymentName)
        .withNamespace(foo.getMetadata().getNamespace())
        .endMetadata()
        .withNewSpec()
        .withReplicas(foo.getSpec().replicas)
        .withNewSelector().withMatchLabels(labels).endSelector()
        .withNewTemplate()
        .withNewMetadata().withLabels(labels).endMetadata()
        .withNewSpec()
        .addNewContainer().withName("nginx").withImage("nginx:latest").endContainer()
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
    deployment.addOwnerReference(foo);
    return deployment;
  }

  /** A plain write, as in the other programs, because recorders of Events merge and drop. */
  private static io.fabric8.kubernetes.api.model.Event syncedEvent(Foo foo) {
    var metadata = foo.getMetadata();
    var now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    return new EventBuilder()
        .withNewMetadata()
        .withName(metadata.getName() + "." + metadata.getResourceVersion())
        .withNamespace(metadata.getNamespace())
        .endMetadata()
        .withNewInvolvedObject()
        .withApiVersion(foo.getApiVersion())
        .withKind(foo.getKind())
        .withName(metadata.getName())
        .withNamespace(metadata.getNamespace())
        .withUid(metadata.getUid())
        .withResourceVersion(metadata.getResourceVersion())
        .endInvolvedObject()
        .withReason("Synced")
        .withMessage("Foo synced successfully")
        .withType("Normal")
        .withNewSource().withComponent("bench").endSource()
        .withFirstTimestamp(now)
        .withLastTimestamp(now)
        .withCount(1)
        .build();
  }
}
