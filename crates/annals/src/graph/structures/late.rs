//! A value that is made when it is first asked for: what a table of a checkpoint derives from its rows.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock};

type Make<T> = Box<dyn FnOnce() -> T + Send>;

/// A value, there or to be made. A clone shares what is made.
#[derive(Clone)]
pub(crate) enum Late<T> {
    /// It is there.
    Made(T),
    /// It is made once.
    Waiting(Arc<LazyLock<T, Make<T>>>),
}

impl<T> Late<T> {
    /// A value that `make` makes.
    pub(crate) fn waiting(make: impl FnOnce() -> T + Send + 'static) -> Late<T> {
        Late::Waiting(Arc::new(LazyLock::new(Box::new(make))))
    }
}

impl<T: Default> Default for Late<T> {
    fn default() -> Late<T> {
        Late::Made(T::default())
    }
}

impl<T> Deref for Late<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            Late::Made(made) => made,
            Late::Waiting(made) => made,
        }
    }
}

impl<T: Clone> DerefMut for Late<T> {
    fn deref_mut(&mut self) -> &mut T {
        if let Late::Waiting(made) = self {
            *self = Late::Made(T::clone(made));
        }
        match self {
            Late::Made(made) => made,
            Late::Waiting(_) => unreachable!("it was made above"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_one_clone_is_none_of_the_others() {
        let late = Late::waiting(|| vec![1]);
        let mut changed = late.clone();
        changed.push(2);
        assert_eq!((&*changed, &*late), (&vec![1, 2], &vec![1]));
        assert_eq!(*Late::<Vec<u8>>::default(), []);
    }
}
