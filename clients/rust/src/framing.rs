//! The base protocol: `Content-Length: N`, an empty line, N bytes.
//!
//! This module reads and writes bodies as bytes and knows no JSON. It is strict, because the
//! sidecar writes exactly one form: anything else on its standard output is junk, and
//! skipping junk would hide a broken installation. Only before the first frame other text
//! is allowed: the output of a wrapper that starts the sidecar.
//!
//! Existing crates do not fit: `lsp-server` accepts a header line and a body of any size,
//! so that junk could fill the host's memory, and it brings channels and a logger that
//! would see every chunk.

use std::io::{self, BufRead, Read};

/// Longer bodies are junk: this is twice the sidecar's own default limit.
pub const MAX_BODY_BYTES: usize = 64 << 20;

const HEADER: &[u8] = b"Content-Length: ";
const END: &[u8] = b"\r\n\r\n";
/// The digits of the largest 64-bit number.
const MAX_DIGITS: usize = 20;
const MAX_HEADER_BYTES: usize = HEADER.len() + MAX_DIGITS + END.len();
/// How many bytes may come before the first header.
const MAX_NOISE_BYTES: usize = 1 << 16;
/// How many bytes of junk an error shows.
const SHOWN_BYTES: usize = 200;
/// A body's buffer starts with this size and grows with the bytes that really arrive.
const FIRST_BYTES: usize = 1 << 16;

/// Returns the frame of a body, ready to be written.
#[must_use]
pub fn frame(body: &[u8]) -> Vec<u8> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body);
    frame
}

/// Reads up to the first header. `on_noise` gets the bytes before it, as they arrive. Returns
/// the bytes already read from the header on.
///
/// # Errors
///
/// `InvalidData` after more than 64 KiB without a header, and the errors of the reader.
pub fn skip_noise(
    input: &mut impl BufRead,
    mut on_noise: impl FnMut(&[u8]),
) -> io::Result<Vec<u8>> {
    let (mut held, mut skipped) = (Vec::new(), 0);
    loop {
        let count = match input.fill_buf() {
            Ok(there) => {
                held.extend_from_slice(there);
                there.len()
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        input.consume(count);
        let start = (0..held.len()).find(|at| begins_header(&held[*at..])).unwrap_or(held.len());
        let noise: Vec<_> = held.drain(..start).collect();
        if !noise.is_empty() {
            on_noise(&noise);
        }
        if count == 0 || has_header(&held) {
            return Ok(held);
        }
        skipped += noise.len();
        if skipped > MAX_NOISE_BYTES {
            return Err(junk(&noise[..noise.len().min(SHOWN_BYTES)]));
        }
    }
}

/// Reads the next body; `None` if the input ended between two frames.
///
/// # Errors
///
/// `InvalidData` for anything that is not exactly a frame, `UnexpectedEof` for an end
/// inside a frame, and the errors of the reader.
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

/// Checks every byte as it arrives, so that junk is reported before its line ends.
fn read_header(input: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut header = Vec::with_capacity(MAX_HEADER_BYTES);
    while !header.ends_with(END) {
        let there = match input.fill_buf() {
            Ok(there) => there,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let Some(byte) = there.first() else {
            let nothing = header.is_empty();
            return if nothing { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        };
        header.push(*byte);
        if !begins_header(&header) {
            header.extend(there.iter().skip(1).take(SHOWN_BYTES));
            return Err(junk(&header));
        }
        input.consume(1);
    }
    let digits = &header[HEADER.len()..header.len() - END.len()];
    let length = str::from_utf8(digits).ok().and_then(|it| it.parse().ok());
    length.filter(|it| *it <= MAX_BODY_BYTES).map(Some).ok_or_else(|| junk(&header))
}

/// Whether these bytes are a header, or the beginning of a header.
fn begins_header(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(HEADER) else { return HEADER.starts_with(bytes) };
    let digits = rest.iter().take_while(|it| it.is_ascii_digit()).count();
    let end = &rest[digits..];
    let is_end = END.starts_with(end) || end.starts_with(END);
    digits <= MAX_DIGITS && is_end && (digits > 0 || rest.is_empty())
}

/// Whether the header at the start of these bytes is complete.
fn has_header(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(MAX_HEADER_BYTES)].windows(END.len()).any(|it| it == END)
}

fn junk(header: &[u8]) -> io::Error {
    let shown = String::from_utf8_lossy(header);
    let message = format!("{:?} instead of a header", shown.trim_end());
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
    fn frames_are_read() {
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
    fn noise_before_the_first_frame_is_reported() {
        let frames = b"Content-Length: 2\r\n\r\n{}and Content-Length: 2\r\n\r\n{}";
        let noises: [&[u8]; 4] =
            [b"", b"Loading ...\n", b"Content-Length: Content-Length: 1\r\nCont", b"X: y\r\n\r\n"];
        for noise in noises {
            let bytes = [noise, frames].concat();
            for size in 1..=bytes.len() {
                let mut input = io::BufReader::with_capacity(size, &bytes[..]);
                let mut seen = Vec::new();
                let mut left = skip_noise(&mut input, |it| seen.extend_from_slice(it)).unwrap();
                input.read_to_end(&mut left).unwrap();
                assert_eq!((&seen[..], &left[..]), (noise, &frames[..]), "{size}");
            }
        }
        let mut seen = Vec::new();
        let left = skip_noise(&mut &b"Loading"[..], |it| seen.extend_from_slice(it)).unwrap();
        assert_eq!((left.len(), &seen[..]), (0, &b"Loading"[..]));
        let mut endless = io::BufReader::new(io::repeat(b'x'));
        let error = skip_noise(&mut endless, |_| {}).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn an_end_inside_a_frame_is_an_error() {
        assert_eq!(all(b"Content-Length: 4\r\n\r\n{}"), Err(io::ErrorKind::UnexpectedEof));
        assert_eq!(all(b"Content-Length: 4\r\n"), Err(io::ErrorKind::UnexpectedEof));
    }

    #[test]
    fn junk_is_reported_before_its_line_ends() {
        struct Stuck(bool);
        impl Read for Stuck {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                assert!(!std::mem::replace(&mut self.0, true), "nothing more would come");
                buffer[0] = b'L';
                Ok(1)
            }
        }
        let error = read(&mut io::BufReader::new(Stuck(false))).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn endless_junk_is_not_kept() {
        let mut endless = io::BufReader::new(io::repeat(b'x'));
        assert_eq!(read(&mut endless).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
