//! What a host does wrong is an error where it was done; what happens beside a call is said once;
//! callbacks that panic affect nothing else.

#![cfg(unix)]

mod support;

use std::{
    env,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::{StreamExt, stream};
use serde_json::json;
use stream_sidecar::{
    Builder, Error, OpenParams, Sidecar, SidecarState,
    protocol::{Dialects, LimitsPatch, PolicyPatch, Wire},
};
use support::{builder, relay::signal};

fn text() -> OpenParams {
    OpenParams { wire: Some(Wire::Text), ..OpenParams::default() }
}

fn kill(sidecar: &Sidecar) {
    signal("-KILL", &sidecar.process_id().expect("it runs").to_string());
}

fn policy(json: serde_json::Value) -> PolicyPatch {
    serde_json::from_value(json).unwrap()
}

type Change = fn(Builder) -> Builder;

#[tokio::test]
async fn options_are_checked_where_they_are_given() {
    const NONE: Duration = Duration::ZERO;
    let limits = LimitsPatch { max_streams: Some(0), ..LimitsPatch::default() };
    let wrong: [(Change, &str); 12] = [
        (|it| it.command([""]), "command names no program"),
        (|it| it.command(Vec::<String>::new()), "command names no program"),
        (|it| it.request_timeout(NONE), "request_timeout must be more than 0"),
        (|it| it.batch_timeout(NONE), "batch_timeout must be more than 0"),
        (|it| it.start_timeout(NONE), "start_timeout must be more than 0"),
        (|it| it.shutdown_timeout(NONE), "shutdown_timeout must be more than 0"),
        (|it| it.max_concurrent_requests(0), "max_concurrent_requests must be at least 1, not 0"),
        (|it| it.max_concurrent_bytes(0), "max_concurrent_bytes must be at least 1, not 0"),
        (|it| it.log_level("loud"), r#"log_level must be one of ["error", "#),
        (
            |it| it.policy(policy(json!({"toolResults": {"mode": "kep"}}))),
            r#"policy.tool_results.mode must be one of ["strip", "report", "keep"], not "kep""#,
        ),
        (
            |it| it.policy(policy(json!({"reasoning": {"asAnswer": "x"}}))),
            "policy.reasoning.as_answer must be one of",
        ),
        (
            |it| {
                it.policy(PolicyPatch {
                    dialects: Some(Dialects::Word("hermes".into())),
                    ..PolicyPatch::default()
                })
            },
            "policy.dialects must be one of",
        ),
    ];
    for (change, expected) in wrong {
        let error = change(builder()).build().unwrap_err();
        assert_eq!((error.kind(), error.retryable()), ("invalid-option", false));
        assert!(error.to_string().contains(expected), "{error}");
        assert!(matches!(change(builder()).spawn().await, Err(Error::Option { .. })));
    }
    let error = builder().limits(limits).build().unwrap_err();
    assert_eq!(error.to_string(), "the option limits.max_streams must be at least 1, not 0");
}

#[test]
fn a_misspelt_member_of_options_in_json_is_an_error() {
    let misspelt = [
        ("toolResult", json!({"toolResult": {"mode": "keep"}})),
        ("scop", json!({"reasoning": {"scop": "any"}})),
        ("marker", json!({"echo": {"marker": []}})),
    ];
    for (name, json) in misspelt {
        let error = serde_json::from_value::<PolicyPatch>(json).unwrap_err();
        assert!(error.to_string().contains(&format!("unknown field `{name}`")), "{error}");
    }
    let error = serde_json::from_value::<LimitsPatch>(json!({"maxStream": 1})).unwrap_err();
    assert!(error.to_string().contains("unknown field `maxStream`"), "{error}");
}

#[tokio::test]
async fn the_longest_time_is_no_limit() {
    const NO_LIMIT: Duration = Duration::MAX;
    let sidecar = builder()
        .start_timeout(NO_LIMIT)
        .request_timeout(NO_LIMIT)
        .batch_timeout(NO_LIMIT)
        .shutdown_timeout(NO_LIMIT)
        .restarts(usize::MAX, NO_LIMIT)
        .restart_pause(NO_LIMIT)
        .max_concurrent_bytes(usize::MAX)
        .build()
        .unwrap();
    let mut stream = sidecar.open(text()).await.unwrap();
    stream.push("<think>why</think>Because.").await.unwrap();
    assert_eq!(stream.close().await.unwrap().message.text.as_deref(), Some("Because."));
    sidecar.shutdown().await.unwrap();
}

#[tokio::test]
async fn callbacks_that_panic_affect_nothing_else() {
    let sidecar = builder()
        .restart_pause(Duration::ZERO)
        .log_level("debug")
        .on_state(|_| panic!("on_state"))
        .on_lost(|_| panic!("on_lost"))
        .on_stderr(|_| panic!("on_stderr"))
        .build()
        .unwrap();
    let _subscription = sidecar.on_state(|_| panic!("later"));
    let mut stream = sidecar.open(text()).await.unwrap();
    stream.push("<think>a").await.unwrap();
    kill(&sidecar);
    assert_eq!(stream.push("</think>b").await.unwrap().len(), 2);
    stream.close().await.unwrap();
    let stream = sidecar.open(text()).await.unwrap();
    let pipe = stream.pipe(stream::iter(["Hi."])).on_event(|_| panic!("on_event"));
    assert!(pipe.filter(|it| std::future::ready(it.is_ok())).count().await > 0);
    sidecar.shutdown().await.unwrap();
}

/// The function that reads the text panics at each chunk.
#[tokio::test]
async fn without_a_sidecar_streams_pass_with_one_warning() {
    let warnings: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&warnings);
    let sidecar = Sidecar::builder()
        .command(["/does/not/exist"])
        .pass_through_with(|_, _| panic!("pass_through_with"))
        .on_warning(move |text| kept.lock().unwrap().push(text.into()))
        .build()
        .unwrap();
    for _ in 0..2 {
        let mut stream = sidecar.open(text()).await.unwrap();
        stream.push("Four").await.unwrap();
        stream.push(json!({"a": 1})).await.unwrap();
        let message = stream.close().await.unwrap().message;
        assert_eq!(message.text.as_deref(), Some(r#"Four{"a":1}"#));
    }
    let warnings = warnings.lock().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("answers pass uncleaned, because"), "{warnings:?}");
}

#[tokio::test]
async fn states_are_listened_to_from_any_moment_on_until_they_are_not_wanted() {
    let states: Arc<Mutex<Vec<SidecarState>>> = Arc::default();
    let keep = || {
        let states = Arc::clone(&states);
        move |state: &SidecarState| states.lock().unwrap().push(*state)
    };
    let sidecar = builder().spawn().await.unwrap();
    let subscription = sidecar.on_state(keep());
    sidecar.restart().await.unwrap();
    drop(subscription);
    sidecar.restart().await.unwrap();
    let _subscription = sidecar.on_state(keep());
    sidecar.shutdown().await.unwrap();
    let expected = [SidecarState::Restarting, SidecarState::Running, SidecarState::Lost];
    assert_eq!(*states.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_restart_by_hand_always_starts() {
    let day = Duration::from_secs(86_400);
    let sidecar = builder().restarts(1, day).restart_pause(Duration::ZERO).build().unwrap();
    sidecar.start().await.unwrap();
    for round in 0..2 {
        kill(&sidecar);
        while sidecar.state() == SidecarState::Running {
            tokio::task::yield_now().await;
        }
        if round == 0 {
            sidecar.stats().await.unwrap();
        }
    }
    let error = sidecar.stats().await.unwrap_err();
    assert!(error.to_string().contains("the next start is in 86"), "{error}");
    assert!(error.to_string().contains("unless restart() is called"), "{error}");
    let Error::GaveUp { retry_after: Some(after), .. } = error else { panic!("{error:?}") };
    assert!(after <= day && after > Duration::ZERO);
    sidecar.restart().await.unwrap();
    assert_eq!(sidecar.stats().await.unwrap().streams.open, 0);

    let never = builder().restarts(0, day).build().unwrap();
    never.start().await.unwrap();
    kill(&never);
    while never.state() == SidecarState::Running {
        tokio::task::yield_now().await;
    }
    let error = never.stats().await.unwrap_err();
    assert!(matches!(error, Error::GaveUp { retry_after: None, .. }), "{error:?}");
    never.restart().await.unwrap();
    never.stats().await.unwrap();
}

#[tokio::test]
async fn a_missing_directory_is_named() {
    let gone = env::temp_dir().join("sidecar-no-such-folder");
    let error = builder().current_dir(&gone).spawn().await.unwrap_err();
    let expected = format!("current_dir names no folder: {}", gone.display());
    assert!(error.is_start() && error.to_string().contains(&expected), "{error}");
}

#[tokio::test]
async fn handles_and_pipes_can_be_shown() {
    let sidecar = builder().build().unwrap();
    let stream = sidecar.open(OpenParams { stream_id: Some("a".into()), ..text() }).await.unwrap();
    let shown = r#"StreamHandle { id: "a", is_pass_through: false, .. }"#;
    assert_eq!(format!("{stream:?}"), shown);
    let pipe = stream.pipe(stream::iter(["Hi."]));
    assert_eq!(format!("{pipe:?}"), r#"Pipe { id: "a", is_closed: false, .. }"#);
}
