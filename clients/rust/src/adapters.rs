//! A stream in the form of others: of editors, of OpenTelemetry, of HTTP clients.

#[cfg(feature = "acp")]
pub mod acp;
pub(crate) mod passage;
pub mod telemetry;
#[cfg(feature = "tower")]
pub mod tower;
#[cfg(feature = "acp")]
pub(crate) mod turn;
