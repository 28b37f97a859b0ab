//! The requests to one process after another: from the handshake to the loss of a process, and on
//! in the next. These modules know no streams.

pub(crate) mod gate;
pub(crate) mod handshake;
pub(crate) mod link;
pub(crate) mod message;
pub(crate) mod message_connection;
pub(crate) mod retry;
pub(crate) mod supervisor;
