package bench;

import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.source.Cache;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import java.util.List;

/** Every Foo into the cache of a controller that is called for none of them: see the filter in {@link Main}. */
@ControllerConfiguration
class SyncReconciler implements Reconciler<Foo> {

  private Cache<Foo> foos;

  @Override
  public List<EventSource<?, Foo>> prepareEventSources(EventSourceContext<Foo> context) {
    foos = context.getPrimaryCache();
    return List.of();
  }

  @Override
  public UpdateControl<Foo> reconcile(Foo foo, Context<Foo> context) {
    return UpdateControl.noUpdate();
  }

  /** The number of Foos in the cache. */
  long cached() {
    return foos.keys().count();
  }
}
