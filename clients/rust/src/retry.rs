//! Requests that depend on nothing that was asked before: what is lost with one process
//! is asked again in the next one, but not for ever.

use std::sync::Arc;

use crate::{
    connection::Connection,
    error::{Error, Failure},
    supervisor::Supervisor,
};

/// Makes `attempt` in one process after the other until it is not lost, `again` times at
/// most behind the first. The supervisor bounds how many processes there are in a time, and
/// this how many there are at all, for a request that ends each of them.
pub(crate) async fn until_answered<T, F>(
    supervisor: &Supervisor,
    again: usize,
    mut attempt: impl FnMut(Arc<Connection>) -> F,
) -> Result<T, Error>
where
    F: Future<Output = Result<T, Failure>>,
{
    let mut lost = None;
    for _ in 0..=again {
        let connection = supervisor.connection().await?;
        match attempt(connection).await {
            Ok(answer) => return Ok(answer),
            Err(Failure::Failed(error)) => return Err(error),
            Err(Failure::Lost(error) | Failure::Hung(error)) => lost = Some(error),
        }
    }
    supervisor.connection().await?; // which may say that there were too many
    Err(lost.unwrap_or(Error::ShutDown))
}
