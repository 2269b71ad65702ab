//! The kube-rs peer of the benchmark: every Foo into a reflector's store.
//!
//! `sync --streaming` asks for a streaming list, with `--drop-managed-fields` as kube's guide on optimization advises;
//! `sync --paged` for pages of 500, kube's default. `idle` is the leanest of them on an empty cluster, with a second
//! reflector for Deployments, as a Foo controller has. All of them speak the protocol of bench/protocol.ts: one JSON
//! line when synced, then they stay until stdin ends.

use std::fmt::Debug;
use std::hash::Hash;

use futures::StreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use kube::runtime::reflector::{self, Store};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, CustomResource, Resource, ResourceExt};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt;

type AnyError = Box<dyn std::error::Error + Send + Sync>;

#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[kube(group = "samplecontroller.k8s.io", version = "v1alpha1", kind = "Foo", namespaced, status = "FooStatus")]
#[serde(rename_all = "camelCase")]
struct FooSpec {
    deployment_name: String,
    replicas: i32,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FooStatus {
    available_replicas: i32,
}

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let client = Client::try_default().await?;
    let streaming = watcher::Config::default().streaming_lists();
    match words.as_slice() {
        ["sync", "--streaming"] => sync(client, streaming, false).await,
        ["sync", "--streaming", "--drop-managed-fields"] => sync(client, streaming, true).await,
        ["sync", "--paged"] => sync(client, watcher::Config::default(), false).await,
        ["idle"] => idle(client, streaming).await,
        _ => Err("usage: peer-kube-rs idle, sync --paged, or sync --streaming [--drop-managed-fields]".into()),
    }
}

async fn sync(client: Client, config: watcher::Config, drops: bool) -> Result<(), AnyError> {
    let foos = reflect::<Foo>(client, config, drops);
    foos.wait_until_ready().await?;
    report_and_stay(foos.len()).await
}

async fn idle(client: Client, config: watcher::Config) -> Result<(), AnyError> {
    let foos = reflect::<Foo>(client.clone(), config.clone(), true);
    let deployments = reflect::<Deployment>(client, config, true);
    foos.wait_until_ready().await?;
    deployments.wait_until_ready().await?;
    report_and_stay(foos.len()).await
}

/// Keeps a store in step with the cluster, in a task of its own, for the program's life.
fn reflect<K>(client: Client, config: watcher::Config, drops_managed_fields: bool) -> Store<K>
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + Sync + 'static,
    K::DynamicType: Default + Eq + Hash + Clone + Send + Sync,
{
    let (reader, writer) = reflector::store();
    let stream = watcher(Api::<K>::all(client), config)
        .default_backoff()
        .modify(move |object| {
            if drops_managed_fields {
                object.managed_fields_mut().clear();
            }
        })
        .reflect(writer);
    tokio::spawn(stream.for_each(|event| async {
        if let Err(error) = event {
            eprintln!("watch: {error}");
        }
    }));
    reader
}

async fn report_and_stay(objects: usize) -> Result<(), AnyError> {
    println!("{}", serde_json::json!({ "kind": "synced", "objects": objects }));
    let mut rest = Vec::new();
    tokio::io::stdin().read_to_end(&mut rest).await?;
    Ok(())
}
