#![doc = include_str!("../README.md")]
mod budget; mod connection; mod error; pub mod framing; mod locate; mod open; mod process; pub mod protocol;
pub use error::*;
