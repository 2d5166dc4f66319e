//! Turns one release of Debian into changes of the graph: what is new is created, what differs updated, what is gone
//! deleted. A second release on top of a first one becomes true history.
//!
//! | Entity | Id | Properties |
//! |---|---|---|
//! | `package` | `package:bash` | name, version, architecture, section, priority, summary, homepage, sizes |
//! | `virtual-package` | `virtual:awk` | name; whatever is named and has no package of its own |
//! | `source`, `maintainer`, `section`, `tag` | `source:bash`, … | name, and email, facet |
//!
//! The id of a relationship is `FROM/TYPE/TO` without the prefix of FROM (`bash/depends/package:libc6`), with `/2`
//! behind it for the second relation of one type between the same two.

use annals::action;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use annals::{
    Action, AttributeDefinition, ClassificationContent, Direction, Entity, ErrorKind, Find, Id, InstanceId,
    Instant, NewEntity, NewRelationship, Patch, PatchStep, Repository, Result, Snapshot, TypeDefinition,
    TypeKind, Value, ValueType,
};
use annals_exchange::Outcome;
use annals_exchange::import::{Loader, Operation, Place, Refused, last_version};

use crate::packages::{Package, Relation, RelationKind};
use crate::plan::Mark;
use crate::survey::{Names, Survey, each_stanza};

/// Entities of these types belong to the release as a whole: what it does not name is gone.
const ENTITY_TYPES: [&str; 6] = ["package", "virtual-package", "source", "maintainer", "section", "tag"];
/// Types of relationships besides those of [`RelationKind`].
const OTHER_TYPES: [&str; 5] = ["provides", "built-from", "maintained-by", "in-section", "tagged"];
/// Page size of the search for what is gone.
const GONE_PAGE: usize = 10_000;
/// Longest id of a relationship that is readable; longer ones are UUIDs made from it. Units: bytes.
const READABLE_ID_BYTES_MAX: usize = 200;

/// Loads a `Packages` file, which was read once and is read twice more: for the entities and the relationships.
/// Of a release that was not read as a whole nothing is deleted.
pub fn load_debian(
    loader: &mut Loader,
    repository: &Repository,
    path: &Path,
    valid_from: Option<Instant>,
    survey: Survey,
    is_begun: bool,
) -> Outcome {
    let refused_before = loader.report().summary.refused_count;
    tell_survey(loader, &survey)?;
    let date = valid_from.unwrap_or_else(Instant::now);
    let mut mark = Mark { date, content: survey.content, finished: None };
    if !is_begun {
        loader.mark(&mark.message(loader.message()))?;
    }
    define_types(loader, &repository.snapshot(), valid_from)?;
    let mut release = Release {
        snapshot: repository.snapshot(),
        names: survey.names,
        is_whole: survey.refused_count == 0,
        seen: HashSet::new(),
        valid_from,
    };
    each_package(loader, path, Pass::Entities, |loader, package| {
        if release.is_kept(&package) {
            let actions = release.entities(&package);
            release.add(loader, package.line, actions)?;
        }
        Ok(())
    })?;
    // Relationships are looked up in a snapshot that has the entities.
    loader.finish()?;
    release.snapshot = repository.snapshot();
    each_package(loader, path, Pass::Relationships, |loader, package| {
        if release.is_kept(&package) {
            let actions = release.relationships(&package);
            release.add(loader, package.line, actions)?;
        }
        Ok(())
    })?;
    loader.finish()?;
    release.snapshot = repository.snapshot();
    let refused_count = loader.report().summary.refused_count - refused_before;
    if refused_count == 0 {
        release.delete_gone(loader)?;
        loader.finish()?;
    } else {
        let text = format!(
            "{}: {refused_count} refused, so nothing that this release does not name is deleted",
            path.display()
        );
        loader.report().remark(text);
    }
    mark.finished = Some(loader.report().summary.refused_count - refused_before);
    loader.mark(&mark.message(loader.message()))
}

/// Tells what the first reading found.
fn tell_survey(loader: &mut Loader, survey: &Survey) -> Outcome {
    for refused in &survey.refused {
        loader.refuse(refused)?;
    }
    let report = loader.report();
    report.summary.refused_count += survey.refused_count - survey.refused.len() as u64;
    for remark in &survey.remarks {
        report.remark(remark);
    }
    report.summary.skipped_count += survey.remarks.len() as u64;
    Ok(())
}

/// The purpose of a reading of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    Entities,
    Relationships,
}

/// Number of [`Pass`]es.
const PASSES: u64 = 2;

/// Reads the packages of the whole file once; what is refused has been told by the survey.
fn each_package(
    loader: &mut Loader,
    path: &Path,
    pass: Pass,
    mut work: impl FnMut(&mut Loader, Package) -> Outcome,
) -> Outcome {
    let progress = loader.report().progress.clone();
    let tell = |bytes: u64, total: Option<u64>| {
        let before = total.unwrap_or_default() * pass as u64;
        progress.set(before + bytes, total.map(|total| total * PASSES));
    };
    each_stanza(path, tell, |stanza| stanza.map_or(Ok(()), |package| work(loader, package))).map(drop)
}

/// One release on its way into the graph.
struct Release {
    /// The state before this release.
    snapshot: Snapshot,
    names: Names,
    /// False if stanzas were refused, so that it may have more packages than it names.
    is_whole: bool,
    /// Entities that the release has.
    seen: HashSet<Id>,
    valid_from: Option<Instant>,
}

/// An entity as the release has it.
struct Wanted {
    id: Id,
    type_name: &'static str,
    properties: Vec<(Arc<str>, Value)>,
    classifications: Vec<&'static str>,
}

impl Release {
    fn is_kept(&self, package: &Package) -> bool {
        self.names.get(&*package.name).is_some_and(|(_, line)| *line == package.line)
    }

    fn add(&self, loader: &mut Loader, line: u64, actions: Result<Vec<Action>>) -> Outcome {
        match actions {
            Ok(actions) => {
                let operation = |action| Operation::new(action, self.valid_from);
                let bytes = actions.len() * 128;
                loader.add(Place::unsummed(line, bytes), actions.into_iter().map(operation).collect())
            }
            Err(error) if error.kind() == ErrorKind::InvalidArgument => {
                loader.refuse(&Refused::new(line, error.to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The entity that a name stands for in this release.
    fn resolve(&self, name: &str) -> Result<(Id, &'static str)> {
        let package = Id::new(&format!("package:{name}"))?;
        let is_package =
            self.names.contains_key(name) || (!self.is_whole && self.snapshot.entity(&package)?.is_some());
        if is_package {
            Ok((package, "package"))
        } else {
            Ok((Id::new(&format!("virtual:{name}"))?, "virtual-package"))
        }
    }

    /// Changes that give the release's entities around a package.
    fn entities(&mut self, package: &Package) -> Result<Vec<Action>> {
        let mut actions = Vec::new();
        self.want(package_entity(package)?, &mut actions)?;
        let named = |type_name, prefix: &str, name: &str| -> Result<Wanted> {
            let id = Id::new(&format!("{prefix}:{name}"))?;
            Ok(Wanted { id, type_name, properties: vec![text("name", name)], classifications: vec![] })
        };
        self.want(named("source", "source", &package.source.name)?, &mut actions)?;
        if let Some(section) = &package.section {
            self.want(named("section", "section", section)?, &mut actions)?;
        }
        for maintainer in &package.maintainers {
            let key = maintainer.email.as_ref().unwrap_or(&maintainer.name);
            let mut wanted = named("maintainer", "maintainer", key)?;
            wanted.properties = vec![text("name", &maintainer.name)];
            wanted.properties.extend(maintainer.email.as_deref().map(|email| text("email", email)));
            self.want(wanted, &mut actions)?;
        }
        for tag in &package.tags {
            let mut wanted = named("tag", "tag", &format!("{}::{}", tag.facet, tag.tag))?;
            wanted.properties = vec![text("facet", &tag.facet), text("name", &tag.tag)];
            self.want(wanted, &mut actions)?;
        }
        let others = package.relations.iter().map(|relation| &relation.to.name);
        for name in others.chain(package.provides.iter().map(|provided| &provided.name)) {
            let (id, type_name) = self.resolve(name)?;
            if type_name == "virtual-package" && !self.seen.contains(&id) {
                let properties = vec![text("name", name)];
                self.want(Wanted { id, type_name, properties, classifications: vec![] }, &mut actions)?;
            }
        }
        Ok(actions)
    }

    /// Adds the changes that make an entity what it is in this release. Of several spellings the first counts.
    fn want(&mut self, wanted: Wanted, actions: &mut Vec<Action>) -> Result<()> {
        if !self.seen.insert(wanted.id.clone()) {
            return Ok(());
        }
        let instance = InstanceId::Entity(wanted.id.clone());
        if let Some(entity) = self.snapshot.entity(&wanted.id)? {
            actions.extend(entity_change(&entity, wanted));
        } else if let Some(version) = last_version(&self.snapshot, &instance)? {
            actions.push(Action::Restore(action::Restore { instance, with_relationships: false }));
            let deleted = self.snapshot.entity_version(&wanted.id, version)?;
            actions.extend(deleted.and_then(|deleted| entity_change(&deleted, wanted)));
        } else {
            let classifications = wanted.classifications.iter().copied();
            actions.push(Action::CreateEntity(NewEntity {
                id: wanted.id,
                type_name: wanted.type_name.into(),
                properties: wanted.properties,
                classifications: classifications.map(ClassificationContent::new).collect(),
                status: None,
                provenance: None,
            }));
        }
        Ok(())
    }

    /// Changes that give the release's relationships of a package.
    fn relationships(&self, package: &Package) -> Result<Vec<Action>> {
        let from = Id::new(&format!("package:{}", package.name))?;
        let mut live = HashMap::new();
        for neighbor in self.snapshot.neighbors(&from, Direction::Out, None)? {
            let relationship = neighbor?.relationship;
            if is_ours(relationship.type_name()) {
                live.insert(relationship.id().clone(), relationship);
            }
        }
        let mut actions = Vec::new();
        for new in self.wanted_relationships(package, &from)? {
            let instance = InstanceId::Relationship(new.id.clone());
            if let Some(relationship) = live.remove(&new.id) {
                let steps = patch_steps(
                    |name| relationship.property(name),
                    relationship.properties(),
                    &new.properties,
                );
                actions.extend(update(instance, steps));
            } else if let Some(version) = last_version(&self.snapshot, &instance)? {
                actions.push(Action::Restore(action::Restore {
                    instance: instance.clone(),
                    with_relationships: false,
                }));
                if let Some(deleted) = self.snapshot.relationship_version(&new.id, version)? {
                    let steps =
                        patch_steps(|name| deleted.property(name), deleted.properties(), &new.properties);
                    actions.extend(update(instance, steps));
                }
            } else {
                actions.push(Action::CreateRelationship(new));
            }
        }
        let mut gone: Vec<Id> = live.into_keys().collect();
        gone.sort_unstable();
        actions.extend(
            gone.into_iter()
                .map(|id| Action::Delete(action::Delete { instance: InstanceId::Relationship(id) })),
        );
        Ok(actions)
    }

    fn wanted_relationships(&self, package: &Package, from: &Id) -> Result<Vec<NewRelationship>> {
        let mut wanted = Wishes { package: &package.name, from, counts: HashMap::new(), wanted: Vec::new() };
        let firsts = first_alternatives(&package.relations);
        for relation in &package.relations {
            let (to, _) = self.resolve(&relation.to.name)?;
            let mut properties = Vec::new();
            if let Some(constraint) = &relation.to.constraint {
                properties
                    .push(text("constraint", &format!("{} {}", constraint.operator, constraint.version)));
            }
            properties.extend(relation.to.architecture.as_deref().map(|name| text("architecture", name)));
            if let Some(first) = firsts.get(&(relation.kind, relation.group)) {
                properties.push(text("group", first));
                properties.push(("alternative".into(), Value::Integer(relation.alternative.into())));
            }
            wanted.add(relation_type(relation.kind), to, properties)?;
        }
        for provided in &package.provides {
            let (to, _) = self.resolve(&provided.name)?;
            let version = provided.version.as_deref().map(|version| text("version", version));
            wanted.add("provides", to, version.into_iter().collect())?;
        }
        // Most packages have the version of their source; saying so would make a second version of each.
        let version =
            (package.source.version != package.version).then(|| text("version", &package.source.version));
        let source = Id::new(&format!("source:{}", package.source.name))?;
        wanted.add("built-from", source, version.into_iter().collect())?;
        for maintainer in &package.maintainers {
            let key = maintainer.email.as_ref().unwrap_or(&maintainer.name);
            wanted.add("maintained-by", Id::new(&format!("maintainer:{key}"))?, Vec::new())?;
        }
        if let Some(section) = &package.section {
            wanted.add("in-section", Id::new(&format!("section:{section}"))?, Vec::new())?;
        }
        for tag in &package.tags {
            wanted.add("tagged", Id::new(&format!("tag:{}::{}", tag.facet, tag.tag))?, Vec::new())?;
        }
        Ok(wanted.wanted)
    }

    /// Deletes what the release does not have, with its relationships.
    fn delete_gone(&self, loader: &mut Loader) -> Outcome {
        for type_name in ENTITY_TYPES {
            let mut find = Find::of(type_name).limit(GONE_PAGE);
            loop {
                let page = match self.snapshot.find_entities(&find) {
                    // Nothing was ever of the type.
                    Err(error) if error.kind() == ErrorKind::NotFound => break,
                    page => page?,
                };
                for entity in page.items.iter().filter(|entity| !self.seen.contains(entity.id())) {
                    self.add(
                        loader,
                        0,
                        Ok(vec![Action::Delete(action::Delete { instance: entity.instance_id() })]),
                    )?;
                }
                match page.next {
                    Some(next) => find.after = Some(next),
                    None => break,
                }
            }
        }
        Ok(())
    }
}

/// The relationships that one package is to have.
struct Wishes<'p> {
    package: &'p str,
    from: &'p Id,
    /// How many of one type lead to one entity so far.
    counts: HashMap<(&'static str, Id), u32>,
    wanted: Vec<NewRelationship>,
}

impl Wishes<'_> {
    fn add(&mut self, type_name: &'static str, to: Id, properties: Vec<(Arc<str>, Value)>) -> Result<()> {
        let count = self.counts.entry((type_name, to.clone())).or_insert(0);
        *count += 1;
        let mut id = format!("{}/{type_name}/{to}", self.package);
        if *count > 1 {
            id += &format!("/{count}");
        }
        let id = if id.len() <= READABLE_ID_BYTES_MAX {
            Id::new(&id)?
        } else {
            Id::from(uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_URL, id.as_bytes()))
        };
        let from = self.from.clone();
        self.wanted.push(NewRelationship { id, properties, ..NewRelationship::new(type_name, from, to) });
        Ok(())
    }
}

fn package_entity(package: &Package) -> Result<Wanted> {
    let number = |name: &str, number: Option<u64>| -> Option<(Arc<str>, Value)> {
        number
            .and_then(|number| i64::try_from(number).ok())
            .map(|number| (name.into(), Value::Integer(number)))
    };
    let optional = |name: &str, value: &Option<String>| value.as_deref().map(|value| text(name, value));
    let mut properties = vec![
        text("name", &package.name),
        text("version", &package.version),
        text("architecture", &package.architecture),
    ];
    properties.extend(optional("multi_arch", &package.multi_arch));
    properties.extend(optional("section", &package.section));
    properties.extend(optional("priority", &package.priority));
    properties.extend(optional("homepage", &package.homepage));
    properties.extend(optional("summary", &package.summary));
    properties.extend(number("installed_size_kib", package.installed_size_kib));
    properties.extend(number("size_bytes", package.size_bytes));
    let mut classifications = Vec::new();
    if package.is_essential {
        classifications.push("essential");
    }
    classifications.extend(PRIORITIES.into_iter().find(|known| package.priority.as_deref() == Some(known)));
    Ok(Wanted {
        id: Id::new(&format!("package:{}", package.name))?,
        type_name: "package",
        properties,
        classifications,
    })
}

fn text(name: &str, value: &str) -> (Arc<str>, Value) {
    (name.into(), Value::from(value))
}

/// The one change that makes an entity what is wanted: one new version, holding only what differs.
fn entity_change(entity: &Entity, wanted: Wanted) -> Option<Action> {
    let instance = entity.instance_id();
    let mut held: Vec<&str> = entity.classifications().map(|known| known.name()).collect();
    let mut names = wanted.classifications.clone();
    held.sort_unstable();
    names.sort_unstable();
    if held != names {
        let contents = wanted.classifications.into_iter().map(ClassificationContent::new).collect();
        return Some(Action::Replace(action::Replace {
            instance,
            properties: wanted.properties,
            classifications: Some(contents),
            provenance: None,
        }));
    }
    update(instance, patch_steps(|name| entity.property(name), entity.properties(), &wanted.properties))
}

fn update(instance: InstanceId, steps: Vec<PatchStep>) -> Option<Action> {
    (!steps.is_empty()).then_some(Action::Update(action::Update {
        instance,
        patch: Patch { steps },
        provenance: None,
    }))
}

fn patch_steps<'v>(
    held: impl Fn(&str) -> Option<Value>,
    all: impl Iterator<Item = (&'v str, Value)>,
    wanted: &[(Arc<str>, Value)],
) -> Vec<PatchStep> {
    let changed = wanted.iter().filter(|(name, value)| held(name).as_ref() != Some(value));
    let set = changed.map(|(name, value)| PatchStep::Set(Arc::clone(name), value.clone()));
    let is_gone = |name: &str| !wanted.iter().any(|(wanted, _)| &**wanted == name);
    let unset = all.filter(|(name, _)| is_gone(name)).map(|(name, _)| PatchStep::Unset(name.into()));
    set.chain(unset).collect()
}

/// The first names of the groups that offer a choice.
fn first_alternatives(relations: &[Relation]) -> HashMap<(RelationKind, u32), &str> {
    let choices: HashSet<_> = relations
        .iter()
        .filter(|relation| relation.alternative > 0)
        .map(|relation| (relation.kind, relation.group))
        .collect();
    relations
        .iter()
        .filter(|relation| relation.alternative == 0 && choices.contains(&(relation.kind, relation.group)))
        .map(|relation| ((relation.kind, relation.group), &*relation.to.name))
        .collect()
}

fn relation_type(kind: RelationKind) -> &'static str {
    match kind {
        RelationKind::Depends => "depends",
        RelationKind::PreDepends => "pre-depends",
        RelationKind::Recommends => "recommends",
        RelationKind::Suggests => "suggests",
        RelationKind::Breaks => "breaks",
        RelationKind::Conflicts => "conflicts",
        RelationKind::Replaces => "replaces",
        RelationKind::Enhances => "enhances",
    }
}

fn is_ours(type_name: &str) -> bool {
    OTHER_TYPES.contains(&type_name) || RelationKind::ALL.iter().any(|kind| relation_type(*kind) == type_name)
}

const PRIORITIES: [&str; 5] = ["required", "important", "standard", "optional", "extra"];

/// Declares the types that are not declared yet.
fn define_types(loader: &mut Loader, snapshot: &Snapshot, valid_from: Option<Instant>) -> Outcome {
    let unindexed = |name: &str, value_type| AttributeDefinition::new(name, value_type).unindexed();
    let mut types = vec![
        TypeDefinition::entity("package")
            .attribute(AttributeDefinition::new("name", ValueType::String).required())
            .attribute(AttributeDefinition::new("version", ValueType::String).required())
            .attribute(unindexed("homepage", ValueType::String))
            .attribute(unindexed("summary", ValueType::String)),
        TypeDefinition::relationship("relation")
            .attribute(unindexed("constraint", ValueType::String))
            .attribute(unindexed("architecture", ValueType::String))
            .attribute(unindexed("group", ValueType::String))
            .attribute(unindexed("alternative", ValueType::Integer)),
        TypeDefinition::relationship("dependency").supertype("relation"),
        TypeDefinition::relationship("provides").attribute(unindexed("version", ValueType::String)),
        TypeDefinition::relationship("built-from").attribute(unindexed("version", ValueType::String)),
        TypeDefinition::classification("essential").applicable_to("package"),
        TypeDefinition::classification("priority").applicable_to("package"),
    ];
    for kind in RelationKind::ALL {
        let is_dependency = matches!(kind, RelationKind::Depends | RelationKind::PreDepends);
        let supertype = if is_dependency { "dependency" } else { "relation" };
        types.push(TypeDefinition::relationship(relation_type(kind)).supertype(supertype));
    }
    types.extend(PRIORITIES.map(|name| TypeDefinition::classification(name).supertype("priority")));
    let declared = snapshot.types();
    let is_declared =
        |kind: TypeKind, name: &str| declared.iter().any(|known| known.kind == kind && &*known.name == name);
    types.retain(|definition| !is_declared(definition.kind, &definition.name));
    let definitions = types.into_iter().map(|definition| Action::DefineType(Box::new(definition)));
    let operations = definitions.map(|definition| Operation::new(definition, valid_from));
    loader.add(Place::unsummed(1, 0), operations.collect())
}
