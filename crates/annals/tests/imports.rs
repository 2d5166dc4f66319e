//! Checks which source files import which: no circle goes through two folders, and none through three files; and rooms
//! import in one direction.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::Visit;

/// Which file imports from which, and what.
type Arrows<'w> = BTreeMap<&'w str, BTreeMap<&'w str, BTreeSet<&'w str>>>;

/// How many re-exports lead from a name to where it is defined, at most.
const REEXPORTS_MAX: usize = 16;

/// The rooms of folders. Shape: a folder, and the folders in it, in order: a file of one imports files of those before it
/// only. The files beside them belong to no room.
const ROOMS: [(&str, &[&str]); 4] = [
    ("crates/annals/src/graph/", &["structures", "instance", "index", "integrity", "actions"]),
    ("crates/annals/src/read/", &["past", "operators", "sight", "find", "walk", "tree", "logged"]),
    ("crates/annals/src/write/", &["commit", "takeover", "build", "limited", "tree", "undo", "candidate"]),
    (
        "crates/annals-server/src/",
        &[
            "protocol",
            "bounds",
            "reporting",
            "access",
            "connection",
            "request",
            "answer",
            "content",
            "wire",
            "description",
            "layers",
            "ldp",
            "endpoints",
            "serving",
            "tests",
        ],
    ),
];

/// A source file as a module: what it defines, and what it names of other files.
#[derive(Default)]
struct Module {
    /// Relative to the root, with slashes.
    file: String,
    /// The items it defines itself, macros too.
    items: BTreeSet<String>,
    /// The names it imports, with their paths.
    imports: BTreeMap<String, Vec<String>>,
    /// The paths of what it imports whole.
    globs: Vec<Vec<String>>,
    /// The paths it names, imports that are only handed on (`pub use`) left out.
    paths: BTreeSet<Vec<String>>,
}

/// All modules of the workspace. Shape: path with the name of the crate first.
struct Workspace {
    modules: BTreeMap<Vec<String>, Module>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the root is there")
}

impl Workspace {
    fn read() -> Workspace {
        let mut modules = BTreeMap::new();
        for entry in fs::read_dir(root().join("crates")).expect("crates").flatten() {
            let name = entry.file_name().to_string_lossy().replace('-', "_");
            read_folder(&entry.path().join("src"), &[name], &mut modules);
        }
        Workspace { modules }
    }

    /// The file that defines what `path` names in the module `from`; `None` for what is in no file of the workspace.
    fn definition(&self, from: &[String], path: &[String], left: usize) -> Option<&str> {
        let left = left.checked_sub(1)?;
        let module = self.modules.get(from)?;
        let (first, rest) = path.split_first()?;
        let child = [from, std::slice::from_ref(first)].concat();
        let (at, rest) = match first.as_str() {
            "crate" => (from[..1].to_vec(), rest),
            "self" => (from.to_vec(), rest),
            "super" => (from[..from.len().checked_sub(1)?].to_vec(), rest),
            _ if self.modules.contains_key(&child) => (child, rest),
            _ if module.items.contains(first) => return Some(&module.file),
            _ => {
                if let Some(import) = module.imports.get(first) {
                    let whole = [import, rest].concat();
                    // An import named like a crate is that crate.
                    if whole != path {
                        return self.definition(from, &whole, left);
                    }
                }
                if let Some(found) = module.globs.iter().find_map(|glob| {
                    self.definition(from, &[glob, path].concat(), left).filter(|_| glob != path)
                }) {
                    return Some(found);
                }
                if !self.modules.contains_key(&path[..1]) {
                    return None;
                }
                (path[..1].to_vec(), rest)
            }
        };
        if rest.is_empty() {
            return self.modules.get(&at).map(|module| module.file.as_str());
        }
        self.definition(&at, rest, left)
    }

    /// The files that each file imports from, with the names that it imports.
    fn arrows(&self) -> Arrows<'_> {
        let mut arrows = Arrows::new();
        for (at, module) in &self.modules {
            let to = arrows.entry(&module.file).or_default();
            for path in &module.paths {
                if let Some(file) =
                    self.definition(at, path, REEXPORTS_MAX).filter(|file| *file != module.file)
                {
                    to.entry(file).or_default().insert(path.last().expect("a name"));
                }
            }
        }
        arrows
    }
}

/// Reads the modules of a folder, files that only tests compile left out.
fn read_folder(folder: &Path, path: &[String], modules: &mut BTreeMap<Vec<String>, Module>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let file = entry.path();
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        if name == "tests" || name == "shuttle_tests" {
            continue;
        }
        let child = [path, std::slice::from_ref(&name)].concat();
        if file.is_dir() {
            read_folder(&file, &child, modules);
        } else if file.extension().is_some_and(|extension| extension == "rs") {
            let at = if matches!(name.as_str(), "lib" | "main" | "mod") { path.to_vec() } else { child };
            let mut module = Module { file: relative(&file), ..Module::default() };
            let text = fs::read_to_string(&file).expect("a source file");
            module.visit_file(&syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", module.file)));
            modules.insert(at, module);
        }
    }
}

fn relative(file: &Path) -> String {
    file.strip_prefix(root()).expect("below the root").to_string_lossy().replace('\\', "/")
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string().contains("test"))
    })
}

impl Module {
    fn import(&mut self, tree: &syn::UseTree, before: &[String], is_handed_on: bool) {
        let mut take = |name: &str, import: Vec<String>| {
            if !is_handed_on {
                self.paths.insert(import.clone());
            }
            self.imports.insert(name.to_owned(), import);
        };
        match tree {
            syn::UseTree::Path(path) => {
                let before = [before, &[path.ident.to_string()]].concat();
                self.import(&path.tree, &before, is_handed_on);
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.import(tree, before, is_handed_on));
            }
            syn::UseTree::Name(name) if name.ident == "self" => {
                take(before.last().expect("self comes behind a path"), before.to_vec());
            }
            syn::UseTree::Name(name) => {
                let name = name.ident.to_string();
                take(&name, [before, std::slice::from_ref(&name)].concat());
            }
            syn::UseTree::Rename(rename) => {
                take(&rename.rename.to_string(), [before, &[rename.ident.to_string()]].concat());
            }
            syn::UseTree::Glob(_) => {
                if !is_handed_on {
                    self.paths.insert(before.to_vec());
                }
                self.globs.push(before.to_vec());
            }
        }
    }
}

impl Module {
    /// The list of actions defines `Action`, and hands on and holds what it names: `update::Update`.
    fn read_actions(&mut self, list: &str) {
        self.items.insert("Action".to_owned());
        let list = list.replace(" :: ", "::");
        for path in list.split_whitespace().filter(|word| word.contains("::") && !word.contains('"')) {
            let path: Vec<String> = path.trim_end_matches(',').split("::").map(str::to_owned).collect();
            self.imports.insert(path.last().expect("a name").clone(), path.clone());
            self.paths.insert(path);
        }
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let (attributes, name) = match item {
            syn::Item::Const(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
            syn::Item::Impl(item) => (&item.attrs, None),
            syn::Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
            syn::Item::Mod(item) => (&item.attrs, item.content.is_some().then_some(&item.ident)),
            syn::Item::Static(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Type(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Use(item) => (&item.attrs, None),
            _ => return syn::visit::visit_item(self, item),
        };
        if is_for_tests(attributes) {
            return;
        }
        self.items.extend(name.map(ToString::to_string));
        if let syn::Item::Mod(item) = item
            && item.content.is_none()
        {}
        if let syn::Item::Macro(item) = item
            && item.mac.path.is_ident("actions")
        {
            self.read_actions(&item.mac.tokens.to_string());
        }
        if let syn::Item::Use(item) = item {
            let is_handed_on = !matches!(item.vis, syn::Visibility::Inherited);
            self.import(&item.tree, &[], is_handed_on);
        }
        syn::visit::visit_item(self, item);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            self.paths.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

/// True if two files lie in one folder, or one is the head of the folder in which the other lies (`a.rs` and `a/b.rs`).
fn are_together(one: &str, other: &str) -> bool {
    let folder = |file: &str| file.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let head = |file: &str| Some(file.trim_end_matches(".rs").to_owned());
    let (own, others) = (folder(one), folder(other));
    own == others || own == head(other) || head(one) == others
}

/// The groups of files that import each other, directly or not.
fn circles<'w>(arrows: &Arrows<'w>) -> Vec<Vec<&'w str>> {
    let reached = |from: &'w str| {
        let mut seen = BTreeSet::new();
        let mut next = vec![from];
        while let Some(file) = next.pop() {
            next.extend(arrows.get(file).into_iter().flat_map(BTreeMap::keys).filter(|to| seen.insert(**to)));
        }
        seen
    };
    let all: BTreeMap<&str, BTreeSet<&str>> = arrows.keys().map(|file| (*file, reached(file))).collect();
    let mut groups: Vec<Vec<&str>> = Vec::new();
    for (file, to) in &all {
        if to.contains(file) && !groups.iter().any(|group| group.contains(file)) {
            groups.push(
                all.keys().copied().filter(|other| to.contains(other) && all[other].contains(file)).collect(),
            );
        }
    }
    groups
}

#[test]
fn files_import_each_other_only_in_pairs_of_one_folder() {
    let workspace = Workspace::read();
    let arrows = workspace.arrows();
    let mut found = Vec::new();
    for group in circles(&arrows) {
        if group.len() == 2 && are_together(group[0], group[1]) {
            continue;
        }
        let mut lines = vec![format!("{} files", group.len())];
        for file in &group {
            for (to, names) in arrows[file].iter().filter(|(to, _)| group.contains(to)) {
                lines.push(format!("    {file} -> {to}: {names:?}"));
            }
        }
        found.push(lines.join("\n"));
    }
    assert!(found.is_empty(), "{} circles of imports:\n  {}", found.len(), found.join("\n  "));
}

#[test]
fn rooms_import_only_the_rooms_before_them() {
    let workspace = Workspace::read();
    let arrows = workspace.arrows();
    let mut found = Vec::new();
    for (folder, rooms) in ROOMS {
        let room = |file: &str| {
            let (room, _) = file.strip_prefix(folder)?.split_once('/')?;
            rooms.iter().position(|known| *known == room)
        };
        for (file, to) in &arrows {
            let Some(own) = room(file) else { continue };
            let later = to.iter().filter(|(to, _)| room(to).is_some_and(|other| other > own));
            found.extend(later.map(|(to, names)| format!("{file} -> {to}: {names:?}")));
        }
        // A folder beside the file that is its head, such as `table/` beside `table.rs`, is no room.
        for entry in fs::read_dir(root().join(folder)).expect("a folder").flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_dir() && !path.with_extension("rs").exists() && !rooms.contains(&&*name) {
                found.push(format!("{folder}{name}: expected it among the rooms"));
            }
        }
    }
    assert!(found.is_empty(), "rooms import those before them only:\n  {}", found.join("\n  "));
}

#[test]
fn circles_are_found_also_through_names_that_are_handed_on() {
    let workspace = Workspace::read();
    let arrows = workspace.arrows();
    let has =
        |from: &str, to: &str| assert!(arrows[from].contains_key(to), "{from} -> {to}: {:?}", arrows[from]);
    // Named by its own module, and by the crate that hands it on.
    has("crates/annals/src/write/commit/leader.rs", "crates/annals/src/write/commit/ticket.rs");
    has("crates/annals-cli/src/context.rs", "crates/annals/src/repository.rs");
    let circle = circles(&BTreeMap::from([
        ("a", BTreeMap::from([("b", BTreeSet::new())])),
        ("b", BTreeMap::from([("c", BTreeSet::new())])),
        ("c", BTreeMap::from([("a", BTreeSet::new()), ("d", BTreeSet::new())])),
        ("d", BTreeMap::new()),
    ]));
    assert_eq!(circle, [["a", "b", "c"]]);
    assert!(are_together("x/a.rs", "x/a/b.rs") && are_together("x/a.rs", "x/b.rs"));
    assert!(!are_together("x/a.rs", "y/a.rs") && !are_together("x/a.rs", "x/b/c.rs"));
}
