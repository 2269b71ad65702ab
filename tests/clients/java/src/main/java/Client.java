/** fabric8 on the server of $KUBECONFIG. Prints a line for each step; tests/clients/steps.ts has them. */

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.ConfigMapList;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.authentication.SelfSubjectReview;
import io.fabric8.kubernetes.api.model.authentication.SelfSubjectReviewBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

public class Client {
  static final String NAMESPACE = "java-client";
  static final String GROUP = "clients.pintle.dev";

  static final String DEFINITION = """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: beans.clients.pintle.dev}
      spec:
        group: clients.pintle.dev
        scope: Namespaced
        names: {plural: beans, kind: Bean}
        versions:
        - name: v1
          served: true
          storage: true
          subresources: {status: {}}
          schema:
            openAPIV3Schema:
              type: object
              properties:
                spec: {type: object, properties: {size: {type: integer, default: 1, maximum: 9}}}
                status: {type: object, properties: {ready: {type: boolean}}}
      """;

  public static void main(String[] args) throws Exception {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      client.namespaces().resource(new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build())
          .create();
      define(client);
      customObjects(client);
      objects(client);
      workloads(client);
      token(client);
    }
  }

  static void step(String name, Object value) {
    System.out.println(name + ": " + value);
  }

  /** The code and the reason of an error that the server must answer. */
  static String refused(Runnable call) {
    try {
      call.run();
    } catch (RuntimeException thrown) {
      var error = (KubernetesClientException) (thrown instanceof KubernetesClientException ? thrown : thrown.getCause());
      return error.getCode() + " " + error.getStatus().getReason();
    }
    return "accepted";
  }

  static void define(KubernetesClient client) {
    CustomResourceDefinition definition = (CustomResourceDefinition) client.resource(DEFINITION).create();
    client.resource(definition).waitUntilCondition(found -> found != null && found.getStatus() != null
        && found.getStatus().getConditions().stream()
            .anyMatch(one -> "Established".equals(one.getType()) && "True".equals(one.getStatus())),
        60, TimeUnit.SECONDS);
    step("definition", "Established");
  }

  static GenericKubernetesResource bean(Integer size) {
    GenericKubernetesResource bean = new GenericKubernetesResource();
    bean.setApiVersion(GROUP + "/v1");
    bean.setKind("Bean");
    bean.setMetadata(new io.fabric8.kubernetes.api.model.ObjectMetaBuilder().withName("one").build());
    bean.setAdditionalProperty("spec", size == null ? Map.of() : Map.of("size", size));
    return bean;
  }

  static void customObjects(KubernetesClient client) {
    var beans = client.genericKubernetesResources(GROUP + "/v1", "Bean").inNamespace(NAMESPACE);
    GenericKubernetesResource created = beans.resource(bean(null)).create();
    step("default", created.<Object>get("spec", "size"));
    step("invalid", refused(() -> beans.resource(bean(10)).create()));
    GenericKubernetesResource patched = beans.withName("one").subresource("status")
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\":{\"ready\":true}}");
    step("status", patched.<Object>get("status", "ready") + " generation " + patched.getMetadata().getGeneration());
  }

  static ConfigMap configMap(String name, String value) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).withNamespace(NAMESPACE).addToLabels("of", "pages")
        .endMetadata().addToData("key", value).build();
  }

  static void objects(KubernetesClient client) throws Exception {
    var maps = client.configMaps().inNamespace(NAMESPACE);
    step("apply", maps.resource(configMap("applied", "1")).fieldManager("left").serverSideApply().getData().get("key"));
    step("apply of another manager",
        refused(() -> maps.resource(configMap("applied", "2")).fieldManager("right").serverSideApply()));
    for (int index = 0; index < 4; index++) maps.resource(configMap("page-" + index, "1")).create();
    ConfigMap stale = maps.withName("page-0").get();
    ConfigMap merged = maps.withName("page-0").patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\":{\"more\":\"ü\"}}");
    step("patch", merged.getData().get("key") + " " + merged.getData().get("more"));
    step("stale replace", refused(() -> maps.resource(stale).update()));
    List<String> sizes = new ArrayList<>();
    String next = null;
    do {
      ConfigMapList page = maps.withLabel("of", "pages")
          .list(new ListOptionsBuilder().withLimit(2L).withContinue(next).build());
      sizes.add(String.valueOf(page.getItems().size()));
      next = page.getMetadata().getContinue();
    } while (next != null && !next.isEmpty());
    step("pages", String.join(" ", sizes));
    watch(client);
    step("deleted", refused(() -> maps.withName("watched").require()));
  }

  static void watch(KubernetesClient client) throws Exception {
    var maps = client.configMaps().inNamespace(NAMESPACE);
    List<String> events = new ArrayList<>();
    CountDownLatch seen = new CountDownLatch(3);
    Watcher<ConfigMap> watcher = new Watcher<>() {
      @Override
      public void eventReceived(Action action, ConfigMap map) {
        if (action == Action.BOOKMARK) return;
        events.add(action + " " + map.getData().get("key"));
        seen.countDown();
      }

      @Override
      public void onClose(WatcherException cause) {
        throw new IllegalStateException("the watch ended", cause);
      }
    };
    try (var watching = maps.withName("watched").watch(watcher)) {
      maps.resource(configMap("watched", "1")).create();
      maps.withName("watched").patch(PatchContext.of(PatchType.JSON_MERGE), "{\"data\":{\"key\":\"2\"}}");
      maps.withName("watched").delete();
      if (!seen.await(60, TimeUnit.SECONDS)) throw new IllegalStateException("only these events came: " + events);
    }
    step("watch", String.join(" ", events));
  }

  static void workloads(KubernetesClient client) {
    Map<String, String> labels = Map.of("app", "web");
    var web = client.apps().deployments().inNamespace(NAMESPACE).withName("web");
    client.apps().deployments().inNamespace(NAMESPACE).resource(new DeploymentBuilder()
        .withNewMetadata().withName("web").endMetadata()
        .withNewSpec().withReplicas(1).withNewSelector().withMatchLabels(labels).endSelector()
        .withNewTemplate().withNewMetadata().withLabels(labels).endMetadata()
        .withNewSpec().addNewContainer().withName("main").withImage("example.invalid/web:1").endContainer().endSpec()
        .endTemplate().endSpec().build()).create();
    var scale = web.scale();
    scale.getSpec().setReplicas(2);
    step("scale", web.scale(scale).getSpec().getReplicas());
    web.waitUntilCondition(found -> found != null && found.getStatus() != null
        && Integer.valueOf(2).equals(found.getStatus().getReadyReplicas()), 60, TimeUnit.SECONDS);
    String name = client.pods().inNamespace(NAMESPACE).withLabels(labels).list().getItems().get(0).getMetadata().getName();
    var pod = client.pods().inNamespace(NAMESPACE).withName(name);
    step("logs", pod.getLog() == null ? "no text" : "text");
    boolean isEvicted = pod.evict();
    pod.waitUntilCondition(found -> found == null || found.getMetadata().getDeletionTimestamp() != null, 60,
        TimeUnit.SECONDS);
    step("eviction", isEvicted ? "evicted" : "refused");
  }

  static void token(KubernetesClient client) {
    var robots = client.serviceAccounts().inNamespace(NAMESPACE);
    robots.resource(new ServiceAccountBuilder().withNewMetadata().withName("robot").endMetadata().build()).create();
    var request = new TokenRequestBuilder().withNewSpec().withExpirationSeconds(3600L).endSpec().build();
    String token = robots.withName("robot").tokenRequest(request).getStatus().getToken();
    var config = new ConfigBuilder(client.getConfiguration()).withOauthToken(token).withAutoOAuthToken(null)
        .withClientCertData(null).withClientKeyData(null).withClientCertFile(null).withClientKeyFile(null).build();
    try (KubernetesClient robot = new KubernetesClientBuilder().withConfig(config).build()) {
      SelfSubjectReview review = robot.resource(new SelfSubjectReviewBuilder().build()).create();
      step("token", review.getStatus().getUserInfo().getUsername().replace(NAMESPACE, "NAMESPACE"));
      step("forbidden", refused(() -> robot.secrets().inNamespace(NAMESPACE).list()));
    }
  }
}
