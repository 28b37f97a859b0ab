//! A model's server that replays recorded bodies, one for each request.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, mpsc},
    thread,
};

use serde_json::Value;

/// A server, which ends with the process.
pub struct Server {
    pub url: String,
    asked: Arc<Mutex<Vec<Vec<u8>>>>,
}

/// The answer to a request.
pub struct Answer {
    pub status: &'static str,
    pub fields: Vec<&'static str>,
    pub body: Vec<u8>,
    pub end: End,
}

/// What happens after the body.
pub enum End {
    Whole,
    /// The connection breaks off.
    Broken,
    /// Nothing more is sent; the sender reports when the client has disconnected.
    Hanging(mpsc::Sender<()>),
}

impl Answer {
    pub fn ok(content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: "200 OK", fields: vec![content_type], body: body.into(), end: End::Whole }
    }

    pub fn events(body: impl Into<Vec<u8>>) -> Self {
        Self::ok("Content-Type: text/event-stream", body)
    }
}

impl Server {
    /// A server that answers its requests with `bodies` in turn, in slices that cut words and
    /// characters. It answers any further request with an error.
    pub fn start(bodies: Vec<Vec<u8>>) -> Self {
        Self::answering(bodies.into_iter().map(Answer::events).collect())
    }

    pub fn answering(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let requests = Arc::clone(&asked);
        thread::spawn(move || {
            let mut answers = answers.into_iter();
            for connection in listener.incoming() {
                let refusal =
                    || Answer { status: "500 Internal Server Error", ..Answer::events(Vec::new()) };
                serve(connection.unwrap(), &requests, answers.next().unwrap_or_else(refusal));
            }
        });
        Self { url, asked }
    }

    /// The bodies of the requests so far.
    pub fn asked(&self) -> Vec<Value> {
        self.bytes().iter().map(|it| serde_json::from_slice(it).unwrap_or_default()).collect()
    }

    /// The same bodies, as bytes.
    pub fn bytes(&self) -> Vec<Vec<u8>> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(mut connection: TcpStream, requests: &Mutex<Vec<Vec<u8>>>, answer: Answer) {
    let asked = read(&connection);
    requests.lock().unwrap().push(asked);
    let Answer { status, mut fields, body, end } = answer;
    fields.extend(["Transfer-Encoding: chunked", "Connection: close"]);
    write!(connection, "HTTP/1.1 {status}\r\n{}\r\n\r\n", fields.join("\r\n")).unwrap();
    for slice in body.chunks(61) {
        write!(connection, "{:x}\r\n", slice.len()).unwrap();
        connection.write_all(slice).unwrap();
        connection.write_all(b"\r\n").unwrap();
    }
    match end {
        End::Whole => connection.write_all(b"0\r\n\r\n").unwrap(),
        End::Broken => {}
        End::Hanging(gone) => {
            let _ = connection.read(&mut [0]); // no byte, or an error: the client has disconnected
            gone.send(()).unwrap();
        }
    }
}

/// The body of a request, whose length is in its headers.
fn read(connection: &TcpStream) -> Vec<u8> {
    let mut input = BufReader::new(connection);
    let mut length = 0;
    loop {
        let mut line = String::new();
        input.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).unwrap();
    body
}
