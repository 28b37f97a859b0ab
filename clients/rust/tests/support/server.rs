//! A server of a model that replays recorded bodies, one for each request.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::Value;

/// Ends with the process.
pub struct Server {
    pub url: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    /// Answers its requests with `bodies` in turn, in slices that cut words and characters;
    /// any further one with an error.
    pub fn start(bodies: Vec<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        thread::spawn(move || {
            let mut bodies = bodies.into_iter();
            for connection in listener.incoming() {
                serve(connection.unwrap(), &heard, bodies.next());
            }
        });
        Self { url, asked }
    }

    /// The bodies of the requests so far.
    pub fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(mut connection: TcpStream, heard: &Mutex<Vec<Value>>, body: Option<Vec<u8>>) {
    let asked = read(&connection);
    heard.lock().unwrap().push(asked);
    let status = if body.is_some() { "200 OK" } else { "500 Internal Server Error" };
    let fields =
        ["Content-Type: text/event-stream", "Transfer-Encoding: chunked", "Connection: close"];
    write!(connection, "HTTP/1.1 {status}\r\n{}\r\n\r\n", fields.join("\r\n")).unwrap();
    for slice in body.unwrap_or_default().chunks(61) {
        write!(connection, "{:x}\r\n", slice.len()).unwrap();
        connection.write_all(slice).unwrap();
        connection.write_all(b"\r\n").unwrap();
    }
    connection.write_all(b"0\r\n\r\n").unwrap();
}

/// The body of a request, which is JSON of a told length.
fn read(connection: &TcpStream) -> Value {
    let mut input = BufReader::new(connection);
    let mut length = 0;
    loop {
        let mut line = String::new();
        input.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(told) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = told.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap_or_default()
}
