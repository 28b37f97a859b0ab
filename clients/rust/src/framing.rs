//! The base protocol: `Content-Length: N`, an empty line, N bytes.
//!
//! Takes and gives bodies as bytes and knows nothing of JSON. It is strict, because the
//! sidecar writes exactly one form: anything else on its standard output is junk, and
//! reading over junk would hide a broken installation.
//!
//! The kept crates do not fit: `lsp-server` reads a header line and a body of any size
//! that is claimed, so that junk takes the host's memory, and brings channels and a
//! logger that would see every chunk.

use std::io::{self, BufRead, Read};

/// Bodies beyond this are junk: twice what the sidecar accepts itself by default.
pub const MAX_BODY_BYTES: usize = 64 << 20;

const HEADER: &[u8] = b"Content-Length: ";
/// The header, 20 digits at most, and two line ends.
const MAX_HEADER_BYTES: u64 = HEADER.len() as u64 + 24;
/// A body's buffer grows with what really comes, beginning with this.
const FIRST_BYTES: usize = 1 << 16;

/// A body with its frame, ready to be written.
#[must_use]
pub fn frame(body: &[u8]) -> Vec<u8> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body);
    frame
}

/// The next body, or `None` where the input ended between two frames.
///
/// # Errors
///
/// `InvalidData` for anything that is not exactly a frame, `UnexpectedEof` for an end
/// inside of one, and what the reader says.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let Some(length) = read_header(input)? else {
        return Ok(None);
    };
    let mut body = Vec::with_capacity(length.min(FIRST_BYTES));
    input.take(length as u64).read_to_end(&mut body)?;
    if body.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(body))
}

fn read_header(input: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut header = Vec::with_capacity(64);
    for _ in 0..2 {
        let room = MAX_HEADER_BYTES - header.len() as u64;
        let read = input.by_ref().take(room).read_until(b'\n', &mut header)?;
        if header.is_empty() {
            return Ok(None);
        }
        if read == 0 {
            break;
        }
    }
    length(&header).map(Some).ok_or_else(|| junk(&header))
}

fn length(header: &[u8]) -> Option<usize> {
    let digits = header.strip_prefix(HEADER)?.strip_suffix(b"\r\n\r\n")?;
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let length = str::from_utf8(digits).ok()?.parse().ok()?;
    (length <= MAX_BODY_BYTES).then_some(length)
}

fn junk(header: &[u8]) -> io::Error {
    let shown = String::from_utf8_lossy(header);
    let message = format!("{:?} where a header was expected", shown.trim_end());
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut input: &[u8]) -> Result<Vec<Vec<u8>>, io::ErrorKind> {
        let mut bodies = Vec::new();
        while let Some(body) = read(&mut input).map_err(|it| it.kind())? {
            bodies.push(body);
        }
        Ok(bodies)
    }

    #[test]
    fn what_is_framed_is_read() {
        let bodies = [b"{}".to_vec(), Vec::new(), vec![b'x'; 200_000]];
        let written: Vec<u8> = bodies.iter().flat_map(|it| frame(it)).collect();
        assert_eq!(all(&written).unwrap(), bodies);
    }

    #[test]
    fn anything_else_is_junk() {
        let junk: [&[u8]; 9] = [
            b"Traceback (most recent call last):\n",
            b"hello, and no line end",
            b"content-length: 2\r\n\r\n{}",
            b"Content-Length: 2\n\n{}",
            b"Content-Length: +2\r\n\r\n{}",
            b"Content-Length: \r\n\r\n{}",
            b"Content-Length: 2\r\nX: y\r\n\r\n{}",
            b"Content-Length: 99999999999\r\n\r\n{}",
            b"Content-Length: 99999999999999999999999999\r\n\r\n{}",
        ];
        for each in junk {
            assert_eq!(all(each), Err(io::ErrorKind::InvalidData), "{each:?}");
        }
    }

    #[test]
    fn an_end_inside_a_frame_is_no_end() {
        assert_eq!(all(b"Content-Length: 4\r\n\r\n{}"), Err(io::ErrorKind::UnexpectedEof));
        assert_eq!(all(b"Content-Length: 4\r\n"), Err(io::ErrorKind::InvalidData));
    }

    #[test]
    fn endless_junk_is_not_kept() {
        let mut endless = io::BufReader::new(io::repeat(b'x'));
        assert_eq!(read(&mut endless).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
