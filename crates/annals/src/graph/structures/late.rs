//! A value that is made when it is first asked for: what a table of a checkpoint derives from its rows.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

type Make<T> = Box<dyn FnOnce() -> T + Send>;

/// A value, there or to be made. A clone shares what is made.
#[derive(Clone)]
pub(crate) enum Late<T> {
    /// It is there.
    Made(T),
    /// It is made once.
    Waiting(Arc<Waiting<T>>),
}

/// A value to be made.
pub(crate) struct Waiting<T> {
    made: OnceLock<T>,
    make: Mutex<Option<Make<T>>>,
}

impl<T> Waiting<T> {
    #[expect(clippy::expect_used, reason = "it is taken by the one call that makes the value")]
    fn get(&self) -> &T {
        self.made.get_or_init(|| {
            let make = self.make.lock().unwrap_or_else(PoisonError::into_inner).take();
            make.expect("a value is made once")()
        })
    }
}

impl<T> Late<T> {
    /// A value that `make` makes.
    pub(crate) fn waiting(make: impl FnOnce() -> T + Send + 'static) -> Late<T> {
        Late::Waiting(Arc::new(Waiting { made: OnceLock::new(), make: Mutex::new(Some(Box::new(make))) }))
    }

    /// The value, if it is made already.
    pub(crate) fn made(&self) -> Option<&T> {
        match self {
            Late::Made(made) => Some(made),
            Late::Waiting(waiting) => waiting.made.get(),
        }
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
            Late::Waiting(waiting) => waiting.get(),
        }
    }
}

impl<T: Clone> DerefMut for Late<T> {
    fn deref_mut(&mut self) -> &mut T {
        if let Late::Waiting(waiting) = self {
            *self = Late::Made(waiting.get().clone());
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
        assert_eq!(late.made(), None);
        let mut changed = late.clone();
        changed.push(2);
        assert_eq!((&*changed, &*late), (&vec![1, 2], &vec![1]));
        assert_eq!(late.made(), Some(&vec![1]));
        assert_eq!(*Late::<Vec<u8>>::default(), []);
    }
}
