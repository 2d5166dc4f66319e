//! Scenarios through the Rust API.

use std::path::Path;

use annals::{
    AsOf, Direction, Expression, Id, InstanceId, ListOptions, Position, Reach, Related, RelationshipsOf,
    Repository, Result, Snapshot, TreeItem, TreePath, VISITED_MAX,
};
use annals_json::*;
use serde_json::{Value as Json, json};

use crate::{Door, Outcome, is_tree_change, tree_operation};

/// A repository of its own.
pub struct RustDoor(Repository);

impl RustDoor {
    /// Opens it.
    pub fn open(folder: &Path) -> RustDoor {
        RustDoor(Repository::open(folder.join("repository")).unwrap())
    }

    fn commit(&self, step: &Json) -> Result<Json> {
        let text = |name: &str| step[name].as_str();
        let valid_from = text("validFrom").map(str::parse).transpose()?;
        let mut transaction = self.0.transaction();
        transaction.author(text("author").unwrap_or_default()).message(text("message").unwrap_or_default());
        let mut ids = Vec::new();
        for operation in step["operations"].as_array().unwrap() {
            let added = operation_from_json(operation)?.add_to(&mut transaction, valid_from)?;
            ids.extend(added.created.map(|id| id.to_string()));
        }
        if step["dryRun"] == true {
            let snapshot = transaction.dry_run()?;
            let (entities, relationships) = (snapshot.entities_count(), snapshot.relationships_count());
            return Ok(json!({ "ids": ids, "entities": entities, "relationships": relationships }));
        }
        let receipt = transaction.commit()?;
        Ok(json!({ "ids": ids, "position": receipt.position.0, "instant": receipt.instant.to_string() }))
    }

    /// A change of a tree: the operation that is called as the step.
    fn change_tree(&self, step: &Json) -> Result<Json> {
        let operation = operation_from_json(&tree_operation(step))?;
        let (added, receipt) = self.0.transact(|t| operation.add_to(t, None))?;
        Ok(json!({ "id": added.created.map(|id| id.to_string()), "position": receipt.position.0 }))
    }

    fn read(&self, step: &Json) -> Result<Json> {
        let text = |name: &str| step[name].as_str();
        let snapshot = self.0.snapshot().as_of(AsOf {
            position: step["atPosition"].as_u64().map(Position),
            instant: text("at").map(str::parse).transpose()?,
            valid: text("validAt").map(str::parse).transpose()?,
        })?;
        match text("do").unwrap() {
            "get" => get(&snapshot, &instance(step)?),
            "version" => version(&snapshot, step),
            "history" => history(&snapshot, step),
            "difference" => {
                let number = |name: &str| u32::try_from(step[name].as_u64().unwrap()).unwrap();
                let difference = snapshot.difference(&instance(step)?, number("from"), number("to"))?;
                Ok(difference_to_json(&difference))
            }
            "changes" => {
                let position = |name: &str| Position(step[name].as_u64().unwrap());
                let changes = snapshot.changes_between(position("from"), position("to"))?;
                let items: Vec<Json> = changes.iter().map(instance_change_to_json).collect();
                Ok(json!({ "count": items.len(), "items": items }))
            }
            "neighbors" => neighbors(&snapshot, step),
            "degree" => {
                let degree = snapshot.degree(instance(step)?.id(), direction(step), text("type"))?;
                Ok(json!({ "degree": degree }))
            }
            "reach" => {
                let found = snapshot.reachable(instance(step)?.id(), &reach(step)?)?;
                let items = found.iter().map(ReachedForm::of).collect::<annals::Result<Vec<_>>>()?;
                let items = tree(&items);
                Ok(json!({ "items": items, "count": found.len(), "next": null }))
            }
            "groups" => {
                let by = field_from_text(text("groupBy").unwrap())?;
                let found = snapshot.groups(instance(step)?.id(), &reach(step)?, &by)?;
                Ok(tree(&GroupsForm::of(&found, step["limit"].as_u64().unwrap_or(100) as usize)))
            }
            "path" => path(&snapshot, step),
            "relationships" => relationships(&snapshot, step),
            "neighborhood" => {
                let found = snapshot.neighborhood(instance(step)?.id(), &near(step)?)?;
                subgraph(&found)
            }
            "related" => related(&snapshot, step),
            "linking" => {
                let (from, to) = ends(step)?;
                let found = snapshot.linking(&from, &to, &reach_along(step, "both")?)?;
                subgraph(&found)
            }
            "paths" => {
                let (from, to) = ends(step)?;
                let found = snapshot.shortest_paths(&from, &to, &reach(step)?, text("weight"))?;
                let limit = step["limit"].as_u64().unwrap_or(10) as usize;
                let items = found.take(limit).map(|path| Ok(tree(&path?))).collect::<Result<Json>>()?;
                Ok(json!({ "items": items }))
            }
            "shared" => {
                let (from, to) = ends(step)?;
                let found = snapshot.shared(&from, &to, &near(step)?)?;
                let items = found.iter().map(ReachedForm::of_shared).collect::<annals::Result<Vec<_>>>()?;
                Ok(json!({ "items": tree(&items), "count": found.len() }))
            }
            "types" => {
                let mut types = snapshot.types();
                types.retain(|known| {
                    text("typeKind").is_none_or(|kind| kind == known.kind.name())
                        && text("externalId").is_none_or(|id| known.external_id.as_deref() == Some(id))
                });
                let items: Json = types.iter().map(|known| type_to_json(known)).collect();
                Ok(json!({ "items": items }))
            }
            "verify-type" => {
                let (outcome, differences) = snapshot.verify_type(&type_from_json(&step["definition"])?);
                Ok(verification_to_json(outcome, &differences))
            }
            "find" | "count" | "explain" | "group" => find(&snapshot, step),
            verb if verb.ends_with("-tree") => tree_read(&snapshot, step),
            other => panic!("unknown step {other:?}"),
        }
    }
}

impl Door for RustDoor {
    fn perform(&mut self, step: &Json) -> Outcome {
        let result = match step["do"].as_str().unwrap() {
            "commit" => self.commit(step),
            verb if is_tree_change(verb) => self.change_tree(step),
            _ => self.read(step),
        };
        result.map_err(|error| error.kind().name().to_owned())
    }
}

fn tree_read(snapshot: &Snapshot, step: &Json) -> Result<Json> {
    let root = step["root"].as_str().map(Id::new).transpose()?;
    let path = TreePath::parse(step["path"].as_str().unwrap())?;
    let below = tree_of(snapshot, root.as_ref());
    let number = |name: &str| step[name].as_u64().map(|number| usize::try_from(number).unwrap());
    let entries = |items: Vec<TreeItem>| {
        tree(&items.into_iter().map(|item| TreeEntry::new(item).unwrap()).collect::<Vec<TreeEntry>>())
    };
    let missing = || annals::Error::new(annals::ErrorKind::NotFound, "there is nothing");
    Ok(match step["do"].as_str().unwrap() {
        "get-tree" => {
            let extent = TreeExtent { depth: number("depth"), has_ids: step["ids"] == true };
            match tree_to_json(snapshot, root.as_ref(), &path, &extent)? {
                Json::Null => Json::Null,
                found => json!({ "tree": found }),
            }
        }
        "list-tree" => {
            let options = ListOptions {
                after: step["after"].as_str().map(str::to_owned),
                limit: number("limit").unwrap_or(100),
                is_back: step["back"] == true,
                ..ListOptions::default()
            };
            let page = below.list(&path, &options)?.ok_or_else(missing)?;
            let count = below.count(&path)?.ok_or_else(missing)?;
            json!({ "items": entries(page.items), "next": page.next, "count": count })
        }
        "find-tree" => json!({ "items": entries(below.find(&path, number("limit").unwrap_or(100))?) }),
        "diff-tree" => {
            let found = below.difference(&path, time(step, "from")?, time(step, "to")?)?;
            let items: Vec<Json> = found.iter().map(tree_change_to_json).collect();
            json!({ "count": items.len(), "items": items })
        }
        "explain-tree" => json!({ "isLookUp": below.explain(&path).is_look_up }),
        other => panic!("unknown step {other:?}"),
    })
}

/// The time of a difference that members with this name tell.
fn time(step: &Json, name: &str) -> Result<AsOf> {
    let instant = |name: &str| step[name].as_str().map(str::parse).transpose();
    Ok(AsOf {
        position: step[format!("{name}Position")].as_u64().map(Position),
        instant: instant(name)?,
        valid: instant(&format!("{name}ValidAt"))?,
    })
}

fn instance(step: &Json) -> Result<InstanceId> {
    let id = Id::new(step["id"].as_str().unwrap())?;
    Ok(if step["kind"] == "relationship" { InstanceId::Relationship(id) } else { InstanceId::Entity(id) })
}

fn direction(step: &Json) -> Direction {
    if step["direction"] == "in" { Direction::In } else { Direction::Out }
}

fn reach(step: &Json) -> Result<Reach> {
    reach_along(step, "out")
}

fn reach_along(step: &Json, default: &str) -> Result<Reach> {
    let number = |name: &str| step[name].as_u64().map(|number| usize::try_from(number).unwrap());
    let condition = |name: &str| -> Result<Expression> {
        let conditions = names(step, name).into_iter().map(|text| Expression::parse(&text));
        Ok(Expression::All(conditions.collect::<Result<_>>()?))
    };
    Ok(Reach {
        directions: directions(step, default),
        types: names(step, "types").iter().map(|text| text.parse()).collect::<Result<_>>()?,
        entity_types: names(step, "entityTypes"),
        classifications: names(step, "classified"),
        entity_where: condition("entityWhere")?,
        relationship_where: condition("relationshipWhere")?,
        statuses: names(step, "statuses"),
        depth_min: number("depthMin").unwrap_or_default(),
        depth_max: number("depthMax"),
        visited_max: number("visitedMax").unwrap_or(VISITED_MAX),
    })
}

fn near(step: &Json) -> Result<Reach> {
    let reach = reach_along(step, "both")?;
    Ok(Reach { depth_max: reach.depth_max.or(Some(1)), ..reach })
}

fn names(step: &Json, name: &str) -> Vec<String> {
    let names = step[name].as_array().into_iter().flatten();
    names.map(|name| name.as_str().unwrap().to_owned()).collect()
}

fn directions(step: &Json, default: &str) -> Vec<Direction> {
    match step["direction"].as_str().unwrap_or(default) {
        "both" => vec![Direction::Out, Direction::In],
        "in" => vec![Direction::In],
        _ => vec![Direction::Out],
    }
}

fn ends(step: &Json) -> Result<(Id, Id)> {
    let id = |name: &str| Id::new(step[name].as_str().unwrap());
    Ok((id("from")?, id("to")?))
}

fn relationships(snapshot: &Snapshot, step: &Json) -> Result<Json> {
    let text = |name: &str| step[name].as_str();
    let mut of = RelationshipsOf {
        directions: directions(step, "both"),
        types: names(step, "types"),
        statuses: names(step, "statuses"),
        order: order(step)?,
        after: text("after").map(str::to_owned),
        skip: step["skip"].as_u64().unwrap_or_default() as usize,
        limit: step["limit"].as_u64().unwrap_or(100) as usize,
        ..RelationshipsOf::both()
    };
    let id = instance(step)?;
    let page = snapshot.relationships_of(id.id(), &of)?;
    let items: Json = page.items.iter().map(tree).collect();
    of.after = None;
    let count = snapshot.relationships_of_count(id.id(), &of)?;
    Ok(json!({ "items": items, "next": page.next, "count": count }))
}

fn order(step: &Json) -> Result<Vec<annals::OrderBy>> {
    let keys = match &step["orderBy"] {
        Json::Array(keys) => keys.iter().collect(),
        Json::Null => Vec::new(),
        key => vec![key],
    };
    keys.into_iter().map(|key| order_from_text(key.as_str().unwrap())).collect()
}

fn related(snapshot: &Snapshot, step: &Json) -> Result<Json> {
    let limit = step["limit"].as_u64().unwrap_or(100) as usize;
    let skip = step["after"].as_u64().unwrap_or_default() as usize;
    let related =
        Related { reach: reach_along(step, "both")?, order: order(step)?, skip, limit, is_counted: true };
    let page = snapshot.related(instance(step)?.id(), &related)?;
    let items = page.items.iter().map(ReachedForm::of).collect::<annals::Result<Vec<_>>>()?;
    Ok(json!({ "items": tree(&items), "next": page.has_more.then_some(skip + limit), "count": page.count }))
}

fn get(snapshot: &Snapshot, id: &InstanceId) -> Result<Json> {
    Ok(Seen::find(snapshot, id)?.map(|found| tree(&found)).unwrap_or_default())
}

fn version(snapshot: &Snapshot, step: &Json) -> Result<Json> {
    let number = u32::try_from(step["number"].as_u64().unwrap()).unwrap();
    let found = Seen::version(snapshot, &instance(step)?, number)?.map(|found| tree(&found));
    found.ok_or_else(|| annals::Error::new(annals::ErrorKind::NotFound, "no such version"))
}

fn history(snapshot: &Snapshot, step: &Json) -> Result<Json> {
    let id = instance(step)?;
    let instant = |name: &str| step[name].as_str().map(str::parse).transpose();
    let history = annals::History {
        from: instant("from")?,
        to: instant("to")?,
        is_oldest_first: step["oldestFirst"] == true,
        limit: step["limit"].as_u64().map_or(usize::MAX, |limit| usize::try_from(limit).unwrap()),
        ..annals::History::default()
    };
    let versions = VersionForm::history(snapshot, &id, &history, step["content"] == true)?;
    let items: Json = versions.iter().map(tree).collect();
    Ok(json!({ "items": items }))
}

fn neighbors(snapshot: &Snapshot, step: &Json) -> Result<Json> {
    let limit = step["limit"].as_u64().map_or(100, |limit| usize::try_from(limit).unwrap());
    let after = step["after"].as_str().map(Id::new).transpose()?;
    let type_name = step["type"].as_str();
    let found = snapshot.neighbors_after(instance(step)?.id(), direction(step), type_name, after.as_ref())?;
    let mut items = Vec::new();
    for neighbor in found.take(limit + 1) {
        items.push(tree(&NeighborForm { neighbor: neighbor?, direction: None }));
    }
    let has_more = items.len() > limit;
    items.truncate(limit);
    let next = has_more.then(|| items.last().unwrap()["relationship"]["id"].clone());
    Ok(json!({ "items": items, "next": next }))
}

fn path(snapshot: &Snapshot, step: &Json) -> Result<Json> {
    let id = |name: &str| Id::new(step[name].as_str().unwrap());
    let Some(path) = snapshot.shortest_path(&id("from")?, &id("to")?, &reach(step)?)? else {
        return Ok(json!({ "found": false, "start": null, "steps": [] }));
    };
    let mut json = tree(&path);
    json["found"] = true.into();
    Ok(json)
}

fn subgraph(found: &annals::Subgraph) -> Result<Json> {
    let page = SubgraphPage::of(found, 0, usize::MAX, Room::of(usize::MAX))?;
    Ok(json!({
        "entities": tree(&page.entities),
        "relationships": tree(&page.relationships),
        "entitiesCount": page.entities.len(),
        "relationshipsCount": page.relationships.len(),
    }))
}

fn find(snapshot: &Snapshot, step: &Json) -> Result<Json> {
    let fields = find::FIELDS.iter().filter_map(|name| Some(((*name).to_owned(), step.get(*name)?.clone())));
    let find = find_from_json(&fields.collect())?;
    let is_relationships = step["kind"] == "relationship";
    let group = || -> Result<Json> {
        let grouping = grouping_from_json(step.as_object().unwrap())?;
        let limit = if step["limit"].is_null() { usize::MAX } else { find.limit };
        let found = match is_relationships {
            true => snapshot.group_relationships(&find, &grouping)?,
            false => snapshot.group_entities(&find, &grouping)?,
        };
        Ok(tree(&FoundGroupsForm::of(&grouping, &found, limit)))
    };
    Ok(match (step["do"].as_str().unwrap(), is_relationships) {
        ("group", _) => group()?,
        ("count", false) => json!({ "count": snapshot.count_entities(&find)? }),
        ("count", true) => json!({ "count": snapshot.count_relationships(&find)? }),
        ("explain", false) => explanation_to_json(&snapshot.explain_entities(&find)?),
        ("explain", true) => explanation_to_json(&snapshot.explain_relationships(&find)?),
        (_, true) => {
            let page = snapshot.find_relationships(&find)?;
            json!({ "items": page.items.iter().map(tree).collect::<Json>(), "next": page.next })
        }
        (_, false) => {
            let page = snapshot.find_entities(&find)?;
            json!({ "items": page.items.iter().map(tree).collect::<Json>(), "next": page.next })
        }
    })
}

fn tree(form: &(impl Form + ?Sized)) -> Json {
    serde_json::from_slice(&json_of(form)).expect("forms write JSON")
}
