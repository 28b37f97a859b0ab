//! Memory is bounded, whatever the host does or does not do. The tests count the bytes that this
//! program has allocated.

mod support;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering},
};

use futures_executor::block_on;
use futures_util::{FutureExt, StreamExt, stream};
use stream_sidecar::{Chunk, Event, OpenParams, protocol::Wire};
use support::builder;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MEGABYTE: usize = 1 << 20;
const CHUNK: usize = 10_000;

fn text() -> OpenParams {
    OpenParams { wire: Some(Wire::Text), ..OpenParams::default() }
}

/// The peak of `run`, minus the bytes allocated before it.
fn growth(run: impl FnOnce()) -> usize {
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    run();
    PEAK.load(Ordering::Relaxed) - before
}

/// One test, because the counter is for the whole program.
#[test]
fn memory_is_bounded() {
    readers_that_stop_pull_no_more_chunks();
    a_long_stream_keeps_only_its_limit();
    stopped_tasks_delay_no_others();
}

/// 20 endless responses with chunks of 10 kB; each reader reads one event and stops.
fn readers_that_stop_pull_no_more_chunks() {
    let sidecar = builder().build().unwrap();
    let taken = AtomicUsize::new(0);
    let grown = growth(|| {
        let mut pipes = Vec::new();
        for _ in 0..20 {
            let endless = stream::repeat_with(|| {
                taken.fetch_add(1, Ordering::Relaxed);
                Chunk::text(&"a".repeat(CHUNK))
            });
            let stream = block_on(sidecar.open(text())).unwrap();
            let mut pipe = stream.pipe(endless);
            block_on(pipe.next()).unwrap().unwrap();
            pipes.push(pipe);
        }
        // Its answer arrives after the answers to all earlier requests.
        block_on(sidecar.stats()).unwrap();
    });
    let each = taken.load(Ordering::Relaxed) / 20;
    assert!(each <= 64 * 2, "{each} chunks were taken for one reader");
    assert!(grown < 20 * 2 * MEGABYTE, "{grown} bytes for 20 readers");
}

/// 40 MB through a stream that may keep 1 MB.
fn a_long_stream_keeps_only_its_limit() {
    let sidecar = builder().replay_bytes(MEGABYTE).build().unwrap();
    block_on(sidecar.start()).unwrap();
    let policy = serde_json::from_str(r#"{"message": {"parts": false}}"#).unwrap();
    let params = OpenParams { policy: Some(policy), ..text() };
    let grown = growth(|| {
        let stream = block_on(sidecar.open(params)).unwrap();
        let chunk = || Chunk::text(&"a".repeat(CHUNK));
        let pipe = stream.pipe(stream::repeat_with(chunk).take(40 * MEGABYTE / CHUNK));
        let events = block_on(pipe.fold(0, async |count, event| count + event.map(|_| 1).unwrap()));
        assert!(events > 1000);
    });
    assert!(grown < 5 * MEGABYTE, "{grown} bytes for a long stream");
}

/// More started pushes than the queue has room for, which are never polled again.
fn stopped_tasks_delay_no_others() {
    let sidecar =
        builder().max_concurrent_requests(2).max_concurrent_bytes(MEGABYTE).build().unwrap();
    let mut streams: Vec<_> = (0..20).map(|_| block_on(sidecar.open(text())).unwrap()).collect();
    let mut last = streams.pop().unwrap();
    let begun = streams.iter_mut().map(|it| Box::pin(it.push("a".repeat(CHUNK))));
    let mut still = Vec::new();
    for mut push in begun {
        match (&mut push).now_or_never() {
            Some(events) => assert_eq!(shown(&events.unwrap()), CHUNK, "answered at once"),
            None => still.push(push),
        }
    }
    assert_eq!(block_on(last.push("b")).unwrap().len(), 1);
    for push in still {
        assert_eq!(shown(&block_on(push).unwrap()), CHUNK, "nothing was lost");
    }
}

/// The length of the answer in these events.
fn shown(events: &[Event]) -> usize {
    let sizes = events.iter().map(|it| match it {
        Event::TextDelta(delta) => delta.text.len(),
        _ => 0,
    });
    sizes.sum()
}
