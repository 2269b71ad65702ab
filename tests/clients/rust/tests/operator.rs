//! The operator on the server of the crate envtest: what its author would run with `cargo test`.

use std::time::Duration;

use client_kube_rs::{FINALIZER, Greeting, GreetingSpec, run};
use envtest::{Environment, Server};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::config::Kubeconfig;
use kube::runtime::wait::await_condition;
use kube::{Api, Client, CustomResourceExt, ResourceExt};
use serde_json::json;

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// A server with the kind, and its client. The programs are those of KUBEBUILDER_ASSETS.
async fn environment() -> Result<(Server, Client), AnyError> {
    let mut environment = Environment::default().with_crds(Greeting::crd())?;
    environment.binary_assets_settings.download_binary_assets = false;
    let server = environment.create().await?;
    let kubeconfig: Kubeconfig = serde_json::from_str(server.as_ref())?;
    Ok((server, kubeconfig.try_into()?))
}

async fn until<K>(api: &Api<K>, name: &str, is_met: impl Fn(Option<&K>) -> bool) -> Result<Option<K>, AnyError>
where
    K: kube::Resource + Clone + std::fmt::Debug + for<'a> serde::Deserialize<'a> + Send + 'static,
{
    Ok(tokio::time::timeout(Duration::from_secs(20), await_condition(api.clone(), name, is_met)).await??)
}

fn has_text(text: &str) -> impl Fn(Option<&ConfigMap>) -> bool {
    move |map| map.and_then(|map| map.data.as_ref()).is_some_and(|data| data["text"] == text)
}

#[tokio::test]
async fn a_greeting_has_its_config_map_until_it_is_deleted() -> Result<(), AnyError> {
    let (server, client) = environment().await?;
    println!("version {}", client.apiserver_version().await?.git_version);
    let greetings: Api<Greeting> = Api::default_namespaced(client.clone());
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let operator = tokio::spawn(run(client));

    greetings.create(&PostParams::default(), &Greeting::new("one", GreetingSpec { name: "world".into() })).await?;
    let map = until(&maps, "one", has_text("Hello, world")).await?.ok_or("there is no ConfigMap")?;
    let greeting = greetings.get("one").await?;
    assert_eq!(Some(map.owner_references()[0].uid.clone()), greeting.uid());
    assert_eq!(greeting.finalizers(), [FINALIZER]);

    maps.delete("one", &DeleteParams::default()).await?;
    until(&maps, "one", move |found| found.is_some_and(|found| found.uid() != map.uid())).await?;

    let spec = Patch::Merge(json!({ "spec": { "name": "moon" } }));
    greetings.patch("one", &PatchParams::default(), &spec).await?;
    until(&maps, "one", has_text("Hello, moon")).await?;
    let observed = |found: Option<&Greeting>| {
        found.and_then(|found| found.status.as_ref()).is_some_and(|status| status.observed_generation == 2)
    };
    until(&greetings, "one", observed).await?;

    greetings.delete("one", &DeleteParams::default()).await?;
    until(&greetings, "one", |found| found.is_none()).await?;
    assert!(maps.get_opt("one").await?.is_none());
    operator.abort();
    server.destroy().await?;
    Ok(())
}

#[tokio::test]
async fn a_name_that_is_too_long_is_rejected() -> Result<(), AnyError> {
    let (server, client) = environment().await?;
    let greetings: Api<Greeting> = Api::default_namespaced(client);
    let long = Greeting::new("long", GreetingSpec { name: "a".repeat(21) });
    match greetings.create(&PostParams::default(), &long).await {
        Err(kube::Error::Api(status)) => {
            assert_eq!(status.code, 422);
            assert_eq!(status.details.as_ref().map(|details| details.causes[0].field.as_str()), Some("spec.name"));
        }
        other => panic!("it is not rejected: {other:?}"),
    }
    server.destroy().await?;
    Ok(())
}
