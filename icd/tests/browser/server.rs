//! A server with two pages, for one browser on this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

const PAGE: &str = include_str!("page.html");

/// Serves the page and `/launches`. Returns the address to open, and a receiver for the body that the page sends to
/// `/outcomes`.
pub fn serve(launches: String) -> std::io::Result<(String, Receiver<String>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}/", listener.local_addr()?);
    let (sender, receiver) = channel();
    let launches = Arc::new(launches);
    std::thread::spawn(move || {
        // Each connection has its own thread, because browsers open connections that they do not use.
        for stream in listener.incoming().flatten() {
            let (launches, sender) = (Arc::clone(&launches), sender.clone());
            std::thread::spawn(move || answer(&stream, &launches, &sender));
        }
    });
    Ok((address, receiver))
}

/// Answers one request. Ignores a connection that ends early.
fn answer(mut stream: &TcpStream, launches: &str, sender: &Sender<String>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut request, mut length) = (String::new(), 0);
    reader.read_line(&mut request)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.trim().parse().unwrap_or(0),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let path = request.split(' ').nth(1).unwrap_or_default();
    let (status, kind, text) = match path {
        "/" => ("200 OK", "text/html", PAGE),
        "/launches" => ("200 OK", "application/json", launches),
        "/outcomes" => ("200 OK", "text/plain", ""),
        _ => ("404 Not Found", "text/plain", ""),
    };
    write!(stream, "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}", text.len())?;
    if path == "/outcomes" {
        // Sending fails if the receiver was dropped after a timeout.
        let _ = sender.send(String::from_utf8_lossy(&body).into_owned());
    }
    Ok(())
}
