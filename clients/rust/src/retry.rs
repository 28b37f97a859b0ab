//! Requests that depend on nothing that was asked before: what is lost with one process
//! is asked again in the next one, but not for ever.

use std::sync::Arc;

use crate::{
    connection::Connection,
    error::{Error, Failure},
    supervisor::Supervisor,
};

/// Makes `attempt` in one process after the other until it is not lost. The supervisor
/// bounds how many there are in a time, and this how many there are at all, for a request
/// that ends each of them slowly.
pub(crate) async fn until_answered<T, F>(
    supervisor: &Supervisor,
    mut attempt: impl FnMut(Arc<Connection>) -> F,
) -> Result<T, Error>
where
    F: Future<Output = Result<T, Failure>>,
{
    let mut losses = 0;
    let mut last = Error::ShutDown;
    loop {
        let connection = supervisor.connection().await?;
        if losses > supervisor.config.restarts {
            return Err(last);
        }
        match attempt(connection).await {
            Ok(answer) => return Ok(answer),
            Err(Failure::Failed(error)) => return Err(error),
            Err(Failure::Lost(error) | Failure::Hung(error)) => last = error,
        }
        losses += 1;
    }
}
