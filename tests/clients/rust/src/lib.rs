//! An operator as users of kube-rs write it: a Greeting has a ConfigMap with its text, reports in its status, and removes
//! the ConfigMap through a finalizer, because the servers of test environments collect no garbage.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::runtime::controller::Action;
use kube::runtime::finalizer::{self, Event, finalizer};
use kube::runtime::{Controller, watcher};
use kube::{Api, Client, CustomResource, Resource, ResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[kube(group = "rust.pintle.dev", version = "v1", kind = "Greeting", namespaced, status = "GreetingStatus")]
pub struct GreetingSpec {
    #[schemars(length(min = 1, max = 20))]
    pub name: String,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GreetingStatus {
    pub observed_generation: i64,
}

pub const FINALIZER: &str = "rust.pintle.dev/text";

pub type Error = finalizer::Error<kube::Error>;

/// Runs the controller until its task is dropped.
pub async fn run(client: Client) {
    Controller::new(Api::<Greeting>::all(client.clone()), watcher::Config::default())
        .owns(Api::<ConfigMap>::all(client.clone()), watcher::Config::default())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_millis(200)), Arc::new(client))
        .for_each(|_| futures::future::ready(()))
        .await;
}

async fn reconcile(greeting: Arc<Greeting>, client: Arc<Client>) -> Result<Action, Error> {
    let namespace = greeting.namespace().unwrap_or_default();
    let greetings: Api<Greeting> = Api::namespaced(client.as_ref().clone(), &namespace);
    let maps: Api<ConfigMap> = Api::namespaced(client.as_ref().clone(), &namespace);
    finalizer(&greetings, FINALIZER, greeting, |event| async {
        match event {
            Event::Apply(greeting) => write_text(&greeting, &greetings, &maps).await,
            Event::Cleanup(greeting) => match maps.delete(&greeting.name_any(), &DeleteParams::default()).await {
                Err(kube::Error::Api(status)) if status.code == 404 => Ok(Action::await_change()),
                answer => answer.map(|_| Action::await_change()),
            },
        }
    })
    .await
}

async fn write_text(
    greeting: &Greeting,
    greetings: &Api<Greeting>,
    maps: &Api<ConfigMap>,
) -> Result<Action, kube::Error> {
    let (name, apply) = (greeting.name_any(), PatchParams::apply("greeter").force());
    let text = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": name, "ownerReferences": greeting.controller_owner_ref(&()).into_iter().collect::<Vec<_>>() },
        "data": { "text": format!("Hello, {}", greeting.spec.name) },
    });
    maps.patch(&name, &apply, &Patch::Apply(text)).await?;
    let status = json!({
        "apiVersion": Greeting::api_version(&()),
        "kind": Greeting::kind(&()),
        "status": { "observedGeneration": greeting.metadata.generation },
    });
    greetings.patch_status(&name, &apply, &Patch::Apply(status)).await?;
    Ok(Action::await_change())
}
