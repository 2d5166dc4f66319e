//! Has only tests: walks are what recursive queries in SQLite find.
