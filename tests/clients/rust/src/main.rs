//! Unmodified kube-rs on the server of $KUBECONFIG: a CRD from a Rust type, a watcher, a reflector, apply and its conflicts,
//! patches of the status, optimistic locking, lists, finalizers, deletion with preconditions, and validation.
//!
//! The program prints a line for each successful check, and exits with 1 at the first failed check.

use std::time::Duration;

use futures::{StreamExt, TryStream, TryStreamExt};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Api, Client, CustomResource, CustomResourceExt, ResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

type AnyError = Box<dyn std::error::Error + Send + Sync>;

#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[kube(group = "rust.pintle.dev", version = "v1", kind = "Crate", namespaced, status = "CrateStatus")]
struct CrateSpec {
    #[schemars(range(min = 0, max = 10))]
    replicas: i32,
    #[serde(default)]
    note: Option<String>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
struct CrateStatus {
    ready: bool,
}

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    let client = Client::try_default().await?;
    let version = client.apiserver_version().await?;
    check(&format!("version {}.{}", version.major, version.minor), !version.major.is_empty())?;
    definition(client.clone()).await?;
    tokio::time::timeout(Duration::from_secs(20), watch(client.clone())).await??;
    tokio::time::timeout(Duration::from_secs(20), store(client.clone())).await??;
    conflicts(client.clone()).await?;
    deletions(client.clone()).await?;
    workloads(client.clone()).await?;
    rejections(client).await
}

fn check(name: &str, is_true: bool) -> Result<(), AnyError> {
    if !is_true {
        return Err(format!("Cannot confirm that {name}").into());
    }
    println!("{name}");
    Ok(())
}

async fn definition(client: Client) -> Result<(), AnyError> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client);
    let name = Crate::crd_name();
    definitions.patch(name, &PatchParams::apply("rust"), &Patch::Apply(Crate::crd())).await?;
    let established = await_condition(definitions, name, conditions::is_crd_established());
    tokio::time::timeout(Duration::from_secs(10), established).await??;
    check("the definition is established", true)
}

/// A watcher delivers the changes of apply, patch_status and delete in this order.
async fn watch(client: Client) -> Result<(), AnyError> {
    let crates: Api<Crate> = Api::default_namespaced(client);
    let mut events = watcher(crates.clone(), watcher::Config::default().streaming_lists()).default_backoff().boxed();
    while !matches!(events.try_next().await?, Some(watcher::Event::InitDone) | None) {}
    check("a streaming list ends", true)?;
    let desired = Crate::new("one", CrateSpec { replicas: 1, note: None });
    let applied = crates.patch("one", &PatchParams::apply("rust").force(), &Patch::Apply(&desired)).await?;
    check("apply creates", applied.metadata.generation == Some(1) && applied.metadata.managed_fields.is_some())?;
    let same = crates.patch("one", &PatchParams::apply("rust"), &Patch::Apply(&desired)).await?;
    check("apply twice changes nothing", same.resource_version() == applied.resource_version())?;
    let status = json!({ "status": { "ready": true } });
    let ready = crates.patch_status("one", &PatchParams::default(), &Patch::Merge(status)).await?;
    check("a status is patched", ready.status.is_some_and(|status| status.ready))?;
    check("a status patch keeps the generation", ready.metadata.generation == Some(1))?;
    crates.delete("one", &DeleteParams::default()).await?;
    let mut seen = Vec::new();
    while seen.len() < 3 {
        match events.try_next().await? {
            Some(watcher::Event::Apply(one)) => seen.push(format!("ready {}", one.status.is_some())),
            Some(watcher::Event::Delete(_)) => seen.push("deleted".to_string()),
            Some(_) => {}
            None => return Err("Cannot watch: the stream has ended".into()),
        }
    }
    check("a watcher delivers each change in order", seen == ["ready false", "ready true", "deleted"])
}

/// The store of a reflector has the objects of its selector, and follows their changes.
async fn store(client: Client) -> Result<(), AnyError> {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let map = |name: &str, role: &str| -> Result<ConfigMap, serde_json::Error> {
        serde_json::from_value(json!({ "metadata": { "name": name, "labels": { "role": role } } }))
    };
    for (name, role) in [("first", "kept"), ("other", "left-out")] {
        maps.create(&PostParams::default(), &map(name, role)?).await?;
    }
    let (reader, writer) = reflector::store();
    let selected = watcher::Config::default().labels("role=kept");
    let mut changes = watcher(maps.clone(), selected).default_backoff().reflect(writer).boxed();
    has_names(&reader, &mut changes, &["first"]).await?;
    check("a reflector has the selected objects", true)?;
    maps.create(&PostParams::default(), &map("second", "kept")?).await?;
    has_names(&reader, &mut changes, &["first", "second"]).await?;
    check("a reflector follows a create", true)?;
    let unlabelled = json!({ "metadata": { "labels": { "role": null } } });
    maps.patch("first", &PatchParams::default(), &Patch::Merge(unlabelled)).await?;
    has_names(&reader, &mut changes, &["second"]).await?;
    check("a reflector forgets an object that its selector no longer matches", true)
}

/// Follows the changes until the store has these objects, and no others.
async fn has_names(
    store: &reflector::Store<ConfigMap>,
    changes: &mut (impl TryStream<Error = watcher::Error> + Unpin),
    wanted: &[&str],
) -> Result<(), AnyError> {
    loop {
        let mut names: Vec<String> = store.state().iter().map(|one| one.name_any()).collect();
        names.sort();
        if names == wanted {
            return Ok(());
        }
        changes.try_next().await?.ok_or("Cannot watch: the stream has ended")?;
    }
}

/// Two managers apply the same field; two clients replace the same version.
async fn conflicts(client: Client) -> Result<(), AnyError> {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let map = |value: &str| {
        let metadata = json!({ "name": "shared" });
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": { "key": value } })
    };
    maps.patch("shared", &PatchParams::apply("left"), &Patch::Apply(map("left"))).await?;
    let rejected = maps.patch("shared", &PatchParams::apply("right"), &Patch::Apply(map("right"))).await;
    let is_conflict = matches!(&rejected, Err(kube::Error::Api(status)) if status.code == 409);
    check("apply of another manager's field is a conflict", is_conflict)?;
    let forced = maps.patch("shared", &PatchParams::apply("right").force(), &Patch::Apply(map("right"))).await?;
    check("a forced apply takes over the field", forced.data.is_some_and(|data| data["key"] == "right"))?;
    let mut stale = maps.get("shared").await?;
    maps.patch("shared", &PatchParams::default(), &Patch::Merge(json!({ "data": { "key": "new" } }))).await?;
    stale.data = None;
    let rejected = maps.replace("shared", &PostParams::default(), &stale).await;
    let is_conflict = matches!(&rejected, Err(kube::Error::Api(status)) if status.reason == "Conflict");
    check("a replace of an old version is a conflict", is_conflict)?;
    maps.delete("shared", &DeleteParams::default()).await?;
    check("a deleted object is not found", maps.get_opt("shared").await?.is_none())
}

/// A finalizer keeps an object; preconditions protect another object of the same name.
async fn deletions(client: Client) -> Result<(), AnyError> {
    let crates: Api<Crate> = Api::default_namespaced(client);
    let mut held = Crate::new("held", CrateSpec { replicas: 1, note: None });
    held.finalizers_mut().push("rust.pintle.dev/hold".to_string());
    let held = crates.create(&PostParams::default(), &held).await?;
    let preconditions = |uid: Option<String>, resource_version: Option<String>| DeleteParams {
        preconditions: Some(Preconditions { uid, resource_version }),
        ..DeleteParams::default()
    };
    let is_conflict =
        |answer: Result<_, kube::Error>| matches!(answer, Err(kube::Error::Api(status)) if status.code == 409);
    let other = preconditions(Some("00000000-0000-0000-0000-000000000000".to_string()), None);
    check("a delete of another UID is a conflict", is_conflict(crates.delete("held", &other).await))?;
    let noted = Patch::Merge(json!({ "spec": { "note": "new" } }));
    let newer = crates.patch("held", &PatchParams::default(), &noted).await?;
    let old = preconditions(held.uid(), held.resource_version());
    check("a delete of an old version is a conflict", is_conflict(crates.delete("held", &old).await))?;
    let answer = crates.delete("held", &preconditions(newer.uid(), newer.resource_version())).await?;
    let kept = answer.left().ok_or("the object is gone")?;
    check("a finalizer keeps a deleted object", kept.metadata.deletion_timestamp.is_some())?;
    let released = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    crates.patch("held", &PatchParams::default(), &released).await?;
    check("an object without finalizers is gone", crates.get_opt("held").await?.is_none())
}

async fn workloads(client: Client) -> Result<(), AnyError> {
    let deployments: Api<Deployment> = Api::default_namespaced(client);
    let desired = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" },
        "spec": {
            "replicas": 2, "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": { "containers": [{ "name": "main", "image": "example.invalid/web" }] },
            },
        },
    });
    deployments.patch("web", &PatchParams::apply("rust"), &Patch::Apply(desired)).await?;
    let three = Patch::Merge(json!({ "spec": { "replicas": 3 } }));
    let scaled = deployments.patch_scale("web", &PatchParams::default(), &three).await?;
    check("a scale is patched", scaled.spec.is_some_and(|spec| spec.replicas == Some(3)))?;
    let side = json!([{ "name": "side", "image": "example.invalid/side" }]);
    let strategic = json!({ "spec": { "template": { "spec": { "containers": side } } } });
    let merged = deployments.patch("web", &PatchParams::default(), &Patch::Strategic(strategic)).await?;
    let containers = merged.spec.template.spec.map_or(0, |pod| pod.containers.len());
    check("a strategic merge keeps the other container", containers == 2)?;
    let page = deployments.list(&ListParams::default().limit(1)).await?;
    check("a list has pages", page.items.len() == 1)?;
    let names = deployments.list_metadata(&ListParams::default()).await?;
    check("a list can contain only metadata", names.items.iter().any(|one| one.name_any() == "web"))?;
    deployments.delete("web", &DeleteParams::foreground()).await?;
    let gone = await_condition(deployments, "web", |one: Option<&Deployment>| one.is_none());
    tokio::time::timeout(Duration::from_secs(20), gone).await??;
    check("a foreground deletion ends", true)
}

/// The server rejects invalid values with 422 and causes, and a dry run stores nothing.
async fn rejections(client: Client) -> Result<(), AnyError> {
    let crates: Api<Crate> = Api::default_namespaced(client);
    let invalid = Crate::new("wrong", CrateSpec { replicas: 99, note: None });
    let rejected = crates.create(&PostParams::default(), &invalid).await;
    let field = match rejected {
        Err(kube::Error::Api(status)) if status.code == 422 => {
            status.details.as_ref().and_then(|details| details.causes.first().map(|cause| cause.field.clone()))
        }
        _ => None,
    };
    check("a value that is too large is rejected with its path", field.as_deref() == Some("spec.replicas"))?;
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    crates.create(&dry, &Crate::new("dry", CrateSpec { replicas: 1, note: None })).await?;
    check("a dry run stores nothing", crates.get_opt("dry").await?.is_none())
}
