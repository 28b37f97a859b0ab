//! A pool: a stream stays in its process, and a killed process is replaced alone.

#![cfg(unix)] // killing needs signals

mod support;

use std::collections::HashSet;

use futures_executor::block_on;
use futures_util::future::{join_all, try_join_all};
use stream_sidecar::{
    Error, OpenParams, Sidecar, SidecarPool, SidecarState, StreamHandle,
    protocol::{CloseResult, Wire},
};
use support::{builder, relay::signal};

fn text(stream_id: &str) -> OpenParams {
    let stream_id = Some(stream_id.into());
    OpenParams { stream_id, wire: Some(Wire::Text), ..OpenParams::default() }
}

/// The index of each stream's sidecar.
fn places(pool: &SidecarPool, ids: &[impl AsRef<str>]) -> Vec<usize> {
    let place = |sidecar| pool.sidecars().iter().position(|it| std::ptr::eq(it, sidecar));
    ids.iter().map(|id| place(pool.of(id.as_ref())).unwrap()).collect()
}

fn processes(pool: &SidecarPool) -> Vec<u32> {
    pool.sidecars().iter().map(|it| it.process_id().unwrap()).collect()
}

#[test]
fn an_id_has_one_sidecar_and_many_ids_use_all_sidecars() {
    let pool = SidecarPool::create(3, &builder()).unwrap();
    // The same as in the TypeScript client.
    assert_eq!(places(&pool, &["a", "stream-1", "stream-2", "zwölf"]), [1, 1, 0, 1]);
    let many: Vec<String> = (0..300).map(|it| format!("id of {it}")).collect();
    let many = places(&pool, &many);
    for place in 0..3 {
        assert!(many.iter().filter(|it| **it == place).count() > 50);
    }
    assert!(pool.sidecars().iter().all(|it| it.process_id().is_none()), "none is needed");
}

#[test]
fn a_pool_has_a_process() {
    let error = SidecarPool::create(0, &Sidecar::builder()).unwrap_err();
    assert_eq!(error.to_string(), "the option workers must be at least 1, not 0");
}

const IDS: [&str; 4] = ["stream-1", "stream-2", "stream-3", "stream-4"];

async fn opened(pool: &SidecarPool) -> Vec<StreamHandle> {
    let opened = try_join_all(IDS.map(|id| pool.open(text(id)))).await.unwrap();
    assert_eq!(opened.iter().map(StreamHandle::id).collect::<Vec<_>>(), IDS);
    opened
}

/// Pushes the rest of a started text, and closes the stream.
async fn ended(mut stream: StreamHandle) -> CloseResult {
    stream.push("two</think>Four.").await.unwrap();
    stream.close().await.unwrap()
}

/// Runs `meanwhile` between the two pushes of each stream; no stream notices it.
fn nobody_sees(meanwhile: &impl AsyncFn(&SidecarPool)) {
    let pool = SidecarPool::create(2, &builder()).unwrap();
    assert_eq!(places(&pool, &IDS).into_iter().collect::<HashSet<_>>().len(), 2);
    block_on(async {
        let mut streams = opened(&pool).await;
        let pushed = join_all(streams.iter_mut().map(|it| it.push("<think>two and "))).await;
        assert!(pushed.iter().all(|it| it.as_ref().unwrap().len() == 1), "{pushed:?}");
        let [first, second] = processes(&pool)[..] else { panic!("both are there") };
        meanwhile(&pool).await;
        for closed in join_all(streams.into_iter().map(ended)).await {
            let (text, reasoning) = (closed.message.text.unwrap(), closed.message.reasoning);
            assert_eq!((text.as_str(), reasoning.unwrap().as_str()), ("Four.", "two and two"));
            assert_eq!(closed.stats.pushes, 2, "a replay is no push of the host");
        }
        let after = processes(&pool);
        assert_eq!((after[0] == first, after[1] == second), (false, true));
    });
    let restarts = pool.sidecars().iter().map(Sidecar::restarts);
    assert_eq!(restarts.collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn streams_continue_if_one_process_is_killed_and_the_other_stays() {
    nobody_sees(&async |pool: &SidecarPool| signal("-KILL", &processes(pool)[0].to_string()));
}

#[test]
fn one_process_is_restarted_without_the_others() {
    nobody_sees(&async |pool: &SidecarPool| pool.sidecars()[0].restart().await.unwrap());
}

#[test]
fn a_stream_gets_an_id_and_a_pool_after_shutdown_has_no_process() {
    let pool = SidecarPool::create(2, &builder()).unwrap();
    block_on(async {
        let named = async || pool.open(OpenParams { stream_id: None, ..text("") }).await.unwrap();
        let (stream, other) = (named().await, named().await);
        assert_ne!(stream.id(), other.id());
        assert_eq!(pool.of(stream.id()).state(), SidecarState::Running);
        pool.shutdown().await.unwrap();
        assert!(pool.sidecars().iter().all(|it| it.process_id().is_none()));
        assert!(matches!(pool.open(text("a")).await.err(), Some(Error::ShutDown)));
        let states = pool.sidecars().iter().map(Sidecar::state);
        assert!(states.eq([SidecarState::Lost, SidecarState::Lost]));
    });
}
