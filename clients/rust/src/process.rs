//! The process of a sidecar: how its command is found, where it runs, and why it did not start.
//! These modules know no JSON.

pub(crate) mod child;
pub(crate) mod child_place;
pub(crate) mod locate;
pub(crate) mod python;
