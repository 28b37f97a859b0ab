//! Requests that do not depend on earlier requests: if the process ends, the request is made
//! again in the next process, a limited number of times.

use std::sync::Arc;

use crate::{
    connection::{link::Connection, supervisor::Supervisor},
    error::{Error, Failure},
};

/// Makes `attempt` in one process after the other until it is answered, at most `again` times
/// after the first. The supervisor limits how many processes are started within a period;
/// `again` limits how many processes one request may end.
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
    supervisor.connection().await?; // this may be `Error::GaveUp`
    Err(lost.unwrap_or(Error::ShutDown))
}
