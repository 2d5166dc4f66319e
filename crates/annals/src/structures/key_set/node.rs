//! The inner nodes and leaves of a key set, and how they are shared.

use std::sync::Arc;

use super::leaf::fit_together;
use super::run::Run;
use super::set_key::Key;
use super::signature::Known;

/// Children of a branch. With 16, look-ups cost a tenth more, because the tree has one more level.
pub(super) const FAN: usize = 32;
// With more, more replaced children would stay alive; with fewer, branches would be copied more often.
const PATCHES_MAX: usize = 4;

const FILLED: &str = "a branch has a child beside each separator";

const OWN: &str = "it was made its own for the change";

#[derive(Clone)]
pub(super) enum Node {
    Branch(Arc<Branch>),
    Leaf(Run),
    Patched(Arc<Patched>),
}

// Invariant: there is one more child than separators; the child before a separator has only smaller keys, the child
// after it has none that are smaller.
#[derive(Clone)]
pub(super) struct Branch {
    pub(super) separators: Run,
    pub(super) children: [Option<Node>; FAN],
    // Number of keys below it.
    keys_count: usize,
    known: Known,
}

/// A shared branch, with replacements for some children.
///
/// A copy of a branch touches the reference count of each child, in as many places of memory. For a commit that changes
/// one child under each of many branches, this would be most of the time; so it stores the child beside the branch.
#[derive(Clone)]
pub(super) struct Patched {
    base: Arc<Branch>,
    // Bit `n` is set when child `n` is replaced.
    places: u32,
    // The replacements, in order.
    children: [Option<Node>; PATCHES_MAX],
    // Number of keys below it.
    keys_count: usize,
    known: Known,
}

/// A node that a split made to the right of another, and the separator between the two.
pub(super) struct Split {
    pub(super) separator: Vec<u8>,
    pub(super) right: Node,
}

impl Patched {
    fn over(base: Arc<Branch>) -> Patched {
        let keys_count = base.keys_count;
        Patched {
            base,
            places: 0,
            children: [const { None }; PATCHES_MAX],
            keys_count,
            known: Known::default(),
        }
    }

    // The number of patches before that of child `index`.
    #[inline]
    fn rank(&self, index: usize) -> usize {
        (self.places & ((1 << index) - 1)).count_ones() as usize
    }

    #[inline]
    fn has(&self, index: usize) -> bool {
        self.places >> index & 1 == 1
    }

    pub(super) fn patches_count(&self) -> usize {
        self.places.count_ones() as usize
    }

    fn has_room_for(&self, index: usize) -> bool {
        self.has(index) || self.patches_count() < self.base.patches_max()
    }

    // The child at `index`, mutable. There must be room.
    fn child_mut(&mut self, index: usize) -> &mut Node {
        let rank = self.rank(index);
        if !self.has(index) {
            self.children[rank..].rotate_right(1);
            self.children[rank].clone_from(&self.base.children[index]);
            self.places |= 1 << index;
        }
        self.children[rank].as_mut().expect(FILLED)
    }

    // The branch with its replacements.
    fn to_branch(&self) -> Branch {
        let mut branch = Branch::clone(&self.base);
        branch.keys_count = self.keys_count;
        for index in (0..FAN).filter(|index| self.has(*index)) {
            branch.children[index].clone_from(&self.children[self.rank(index)]);
        }
        branch
    }
}

impl Node {
    pub(super) fn is_inner(&self) -> bool {
        !matches!(self, Node::Leaf(_))
    }

    /// Number of keys in it, or below it.
    #[inline]
    pub(super) fn keys_count(&self) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.len(),
            Node::Branch(branch) => branch.keys_count,
            Node::Patched(patched) => patched.keys_count,
        }
    }

    /// Adjusts the count of keys below an inner node that is not shared.
    pub(super) fn count(&mut self, change: isize) {
        let count = match self {
            Node::Branch(branch) => &mut Arc::get_mut(branch).expect(OWN).keys_count,
            Node::Patched(patched) => &mut Arc::get_mut(patched).expect(OWN).keys_count,
            Node::Leaf(_) => return,
        };
        *count = count.checked_add_signed(change).expect("a set has as many keys as it counts");
    }

    /// The separators of an inner node. Its children are those of [`Node::child`].
    #[inline]
    pub(super) fn branch(&self) -> &Branch {
        match self {
            Node::Branch(branch) => branch,
            Node::Patched(patched) => &patched.base,
            Node::Leaf(_) => unreachable!("a leaf has no children"),
        }
    }

    /// The signature of the texts below an inner node.
    pub(super) fn known(&self) -> &Known {
        match self {
            Node::Patched(patched) => &patched.known,
            inner => &inner.branch().known,
        }
    }

    fn shared_child(&self, index: usize) -> Option<&Node> {
        match self {
            Node::Patched(patched) if patched.has(index) => patched.children[patched.rank(index)].as_ref(),
            inner => inner.branch().children[index].as_ref(),
        }
    }

    /// The child of an inner node.
    #[inline]
    pub(super) fn child(&self, index: usize) -> &Node {
        self.shared_child(index).expect(FILLED)
    }

    /// The first child of an inner node that has at most one.
    pub(super) fn only_child(&self) -> Option<Node> {
        self.shared_child(0).cloned()
    }

    /// The child of an inner node, mutable. Copies as little as possible of shared nodes.
    pub(super) fn child_mut(&mut self, index: usize) -> &mut Node {
        let renewed = match self {
            Node::Patched(patched) if !patched.has_room_for(index) => {
                Some(Node::Branch(Arc::new(patched.to_branch())))
            }
            Node::Branch(branch) if Arc::strong_count(branch) > 1 => Some(match branch.patches_max() {
                0 => Node::Branch(Arc::new(Branch::clone(branch))),
                _ => Node::Patched(Arc::new(Patched::over(Arc::clone(branch)))),
            }),
            _ => None,
        };
        if let Some(renewed) = renewed {
            *self = renewed;
        }
        match self {
            Node::Branch(branch) => {
                let branch = Arc::get_mut(branch).expect(OWN);
                branch.known.forget();
                branch.child_mut(index)
            }
            Node::Patched(patched) => {
                let patched = Arc::make_mut(patched);
                patched.known.forget();
                patched.child_mut(index)
            }
            Node::Leaf(_) => unreachable!("a leaf has no children"),
        }
    }

    /// An inner node as a branch, to change its list of children.
    pub(super) fn branch_mut(&mut self) -> &mut Branch {
        if let Node::Patched(patched) = self {
            *self = Node::Branch(Arc::new(patched.to_branch()));
        }
        match self {
            Node::Branch(branch) => {
                let branch = Arc::make_mut(branch);
                branch.known.forget();
                branch
            }
            _ => unreachable!("only inner nodes have children"),
        }
    }

    pub(super) fn leaf_mut(&mut self) -> &mut Run {
        match self {
            Node::Leaf(leaf) => leaf,
            _ => unreachable!("paths end at leaves"),
        }
    }

    /// Inserts what came to the right of children of an inner node, whose count of keys is right already; divides it if it
    /// has no room, and returns what came to its right. `is_last` means that it is at the right end of the tree.
    ///
    /// Shape: indexes of children, ascending; what came to the right of each, ascending.
    pub(super) fn insert_splits(&mut self, splits: Vec<(usize, Vec<Split>)>, is_last: bool) -> Vec<Split> {
        let children_len = self.branch().children_len();
        let count = children_len + splits.iter().map(|(_, right)| right.len()).sum::<usize>();
        if count <= FAN {
            let branch = self.branch_mut();
            for (index, right) in splits.into_iter().rev() {
                right.into_iter().rev().for_each(|split| branch.insert(index, split));
            }
            return Vec::new();
        }
        // For keys that arrive in order, the left branches stay full.
        let is_behind = is_last && splits.iter().all(|(index, _)| index + 1 == children_len);
        let len = if is_behind { FAN } else { count.div_ceil(count.div_ceil(FAN)) };
        let mut level = Vec::with_capacity(count);
        let mut splits = splits.into_iter().peekable();
        for index in 0..children_len {
            let separator = match index.checked_sub(1) {
                None => Vec::new(),
                Some(before) => self.branch().separators.keys().get(before).to_vec(),
            };
            level.push(Split { separator, right: self.child(index).clone() });
            if let Some((_, right)) = splits.next_if(|(at, _)| *at == index) {
                level.extend(right);
            }
        }
        let mut above = branches_over(level, len);
        *self = above.remove(0).right;
        above
    }

    /// True if a removal below the child at `index` left it empty, or so small that it must be merged with a neighbour.
    pub(super) fn is_worn(&self, index: usize) -> bool {
        let child = self.child(index);
        child.is_empty()
            || (index + 1 < self.branch().children_len() && child.fits_with(self.child(index + 1)))
            || (index > 0 && self.child(index - 1).fits_with(child))
    }

    fn is_empty(&self) -> bool {
        match self {
            Node::Leaf(leaf) => leaf.len() == 0,
            inner => inner.branch().children_len() == 0,
        }
    }

    fn fits_with(&self, right: &Node) -> bool {
        match (self, right) {
            (Node::Leaf(left), Node::Leaf(right)) => fit_together(left, right),
            // Neighbours have the same height.
            (left, right) => left.branch().children_len() + right.branch().children_len() <= FAN / 2,
        }
    }
}

impl Branch {
    pub(super) fn empty() -> Branch {
        Branch {
            separators: Run::new(),
            children: [const { None }; FAN],
            keys_count: 0,
            known: Known::default(),
        }
    }

    fn recount(&mut self) {
        self.keys_count = self.children.iter().flatten().map(Node::keys_count).sum();
    }

    // The replaced children stay alive with it: of few children a smaller number, otherwise a root would hold two trees.
    fn patches_max(&self) -> usize {
        self.children_len() * PATCHES_MAX / FAN
    }

    // Zero only for a moment, during a removal.
    pub(super) fn children_len(&self) -> usize {
        if self.children[0].is_none() { 0 } else { self.separators.len() + 1 }
    }

    #[inline]
    pub(super) fn child_index(&self, key: &[u8]) -> usize {
        match self.separators.keys().search(key) {
            Ok(index) => index + 1,
            Err(index) => index,
        }
    }

    #[inline]
    fn child(&self, index: usize) -> &Node {
        self.children[index].as_ref().expect(FILLED)
    }

    fn child_mut(&mut self, index: usize) -> &mut Node {
        self.children[index].as_mut().expect(FILLED)
    }

    // Inserts the right half of a split after the child at `index`. There must be room.
    fn insert(&mut self, index: usize, split: Split) {
        let children_len = self.children_len();
        self.separators.insert(index, &split.separator);
        self.children[children_len] = Some(split.right);
        self.children[index + 1..=children_len].rotate_right(1);
    }

    // Restores the fill of the child at `index` after a removal below it: removes an empty child, and merges a child
    // with a neighbour if both fit into half a node.
    pub(super) fn refill(&mut self, index: usize) {
        let children_len = self.children_len();
        if self.child(index).is_empty() {
            self.children[index] = None;
            self.children[index..children_len].rotate_left(1);
            if children_len > 1 {
                self.separators.remove_all(&[index.saturating_sub(1)]);
            }
        } else if index + 1 < children_len && self.child(index).fits_with(self.child(index + 1)) {
            self.merge(index);
        } else if index > 0 && self.child(index - 1).fits_with(self.child(index)) {
            self.merge(index - 1);
        }
    }

    // Merges the child at `index` with the next one.
    fn merge(&mut self, index: usize) {
        let children_len = self.children_len();
        let right = self.children[index + 1].take().expect(FILLED);
        self.children[index + 1..children_len].rotate_left(1);
        let separator = self.separators.keys().get(index).to_vec();
        self.separators.remove_all(&[index]);
        // Neighbours have the same height.
        match (self.child_mut(index), right) {
            (Node::Leaf(left), Node::Leaf(right)) => {
                *left = Run::of(left.keys().iter().chain(right.keys().iter()));
            }
            (left, Node::Patched(right)) => left.branch_mut().append(&separator, &right.to_branch()),
            (left, right) => left.branch_mut().append(&separator, right.branch()),
        }
    }

    fn append(&mut self, separator: &[u8], right: &Branch) {
        let children_len = self.children_len();
        let own = self.separators.keys();
        let between = std::iter::once(Key::from(separator));
        self.separators = Run::of(own.iter().chain(between).chain(right.separators.keys().iter()));
        self.children[children_len..][..right.children_len()]
            .clone_from_slice(&right.children[..right.children_len()]);
        self.recount();
    }
}

// Even after many removals a branch has eight children on average, and 8^12 leaves fit no memory.
pub(super) const HEIGHT_MAX: usize = 12;

// The level above `level`, in which each node but the last has `len` children.
pub(super) fn branches_over(level: Vec<Split>, len: usize) -> Vec<Split> {
    let mut above: Vec<Split> = Vec::with_capacity(level.len().div_ceil(len));
    let mut level = level.into_iter();
    while let Some(first) = level.next() {
        let mut branch = Branch::empty();
        branch.children[0] = Some(first.right);
        let mut separators: Vec<Vec<u8>> = Vec::with_capacity(FAN - 1);
        for (place, child) in branch.children[1..len].iter_mut().zip(&mut level) {
            *place = Some(child.right);
            separators.push(child.separator);
        }
        branch.separators = Run::of(separators.iter().map(|separator| Key::from(&separator[..])));
        branch.recount();
        above.push(Split { separator: first.separator, right: Node::Branch(Arc::new(branch)) });
    }
    above
}
