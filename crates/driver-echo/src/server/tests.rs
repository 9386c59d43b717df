//! The server, turn by turn on the test's own thread: what it answers, whom it refuses, and that it costs nothing.

use super::*;
use crate::frame::{self, HEADER, LIMIT, Lengths, REFUSAL};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use testkit::alloc::{CountingAlloc, counted};
use testkit::syscalls::{Violation, only_syscalls};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

/// A server of at most so many clients at a free port.
fn server(most: usize) -> (Server, std::net::SocketAddr) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    (Server::new(vec![Listener::Tcp(listener)], most).unwrap(), address)
}

/// Turns until the server has had nothing to do for a moment.
fn settle(server: &mut Server) {
    let mut idle = 0;
    while idle < 2 {
        let before = server.totals;
        server.turn(5).unwrap();
        idle = if server.totals == before { idle + 1 } else { 0 };
    }
}

fn connect(server: &mut Server, address: std::net::SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    settle(server);
    stream
}

fn request(payload: &[u8], wanted: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame::request(payload, wanted, &mut bytes);
    bytes
}

#[test]
fn many_clients_are_answered_over_tcp_and_unix() {
    let path = std::env::temp_dir().join(format!("truetail-echo-turns-{}", std::process::id()));
    let _ = std::fs::remove_file(&path); // of an earlier test with the same process id
    let tcp = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = tcp.local_addr().unwrap();
    let listeners = vec![Listener::Tcp(tcp), Listener::Unix(UnixListener::bind(&path).unwrap())];
    let mut server = Server::new(listeners, 1000).unwrap();
    let mut tcp: Vec<TcpStream> = (0..40).map(|_| connect(&mut server, address)).collect();
    let mut unix: Vec<UnixStream> = (0..40).map(|_| UnixStream::connect(&path).unwrap()).collect();
    for (number, stream) in tcp.iter_mut().enumerate() {
        stream.write_all(&request(&[number as u8; 5], 7)).unwrap();
    }
    for (number, stream) in unix.iter_mut().enumerate() {
        stream.write_all(&request(&[number as u8; 5], 7)).unwrap();
    }
    settle(&mut server);
    let check = |number: usize, stream: &mut dyn Read| {
        let mut answer = [0; HEADER + 7];
        stream.read_exact(&mut answer).unwrap();
        let n = number as u8;
        assert_eq!(answer, [0, 0, 0, 7, 0, 0, 0, 5, n, n, n, n, n, 0, 0]);
    };
    tcp.iter_mut().enumerate().for_each(|(number, stream)| check(number, stream));
    unix.iter_mut().enumerate().for_each(|(number, stream)| check(number, stream));
    assert_eq!((server.totals.connections, server.totals.answered), (80, 80));
    drop((tcp, unix));
    std::fs::remove_file(&path).unwrap();
    settle(&mut server);
    assert_eq!(server.free.len(), server.clients.len(), "who has gone leaves nothing behind");
}

#[test]
fn a_bad_length_is_an_error_to_that_client_alone() {
    let (mut server, address) = server(1000);
    let (mut good, mut bad) = (connect(&mut server, address), connect(&mut server, address));
    let mut bytes = request(b"fine", 4);
    bytes.extend(Lengths { payload: 4_000_000_000, other: 1 }.bytes());
    bytes.extend([7; 5000]);
    bad.write_all(&bytes).unwrap();
    settle(&mut server);
    let mut said = Vec::new();
    bad.read_to_end(&mut said).unwrap();
    let (answer, refusal) = said.split_at(HEADER + 4);
    assert_eq!(answer, request(b"fine", 4), "what came before was answered");
    assert_eq!(Lengths::read(refusal).map(|lengths| lengths.payload), Some(REFUSAL));
    let words = String::from_utf8_lossy(&refusal[HEADER..]);
    assert!(words.starts_with("request of 4000000000 bytes: at most 65536"), "{words}");
    good.write_all(&request(b"x", 1)).unwrap();
    settle(&mut server);
    let mut answer = [0; HEADER + 1];
    good.read_exact(&mut answer).unwrap();
    drop(bad);
    settle(&mut server);
    assert_eq!((server.totals.answered, server.totals.broken, server.free.len()), (2, 1, 1));
}

/// Who goes on sending behind a bad request is cut off after a while.
#[test]
fn a_client_that_never_stops_is_cut_off() {
    let (mut server, address) = server(10);
    let mut bad = connect(&mut server, address);
    bad.set_nonblocking(true).unwrap();
    bad.write_all(&Lengths { payload: 1, other: LIMIT + 1 }.bytes()).unwrap();
    let mut sent = 0;
    while server.free.is_empty() {
        assert!(sent < 64 << 20, "still there after {sent} bytes");
        sent += bad.write(&[9; 1 << 16]).unwrap_or(0);
        server.turn(1).unwrap();
    }
}

/// A client that asks for much and reads nothing costs the server a bounded amount, and gets all once it reads.
#[test]
fn answers_wait_for_a_client_that_does_not_read() {
    const COUNT: usize = 300;
    let (mut server, address) = server(10);
    let mut client = connect(&mut server, address);
    let asked: Vec<u8> = (0..COUNT).flat_map(|n| request(&[n as u8], LIMIT)).collect();
    client.write_all(&asked).unwrap();
    settle(&mut server);
    let held = server.clients[0].as_ref().unwrap();
    assert!(held.is_blocked() && server.totals.answered < COUNT as u64);
    let mut reader = client.try_clone().unwrap();
    let read = std::thread::spawn(move || {
        let mut answer = vec![0; HEADER + LIMIT as usize];
        (0..COUNT).all(|n| reader.read_exact(&mut answer).is_ok() && answer[HEADER] == n as u8)
    });
    while !read.is_finished() {
        server.turn(5).unwrap();
    }
    assert!(read.join().unwrap());
    assert_eq!(server.totals.answered, COUNT as u64);
    assert!(!server.clients[0].as_ref().unwrap().is_blocked());
}

#[test]
fn requests_that_come_in_pieces_are_answered_whole() {
    let (mut server, address) = server(10);
    let mut client = connect(&mut server, address);
    let asked = request(&[5; LIMIT as usize], LIMIT);
    let mut answer = vec![0; asked.len()];
    let mut read = client.try_clone().unwrap();
    let expected = asked.clone();
    let thread = std::thread::spawn(move || {
        read.read_exact(&mut answer).unwrap();
        answer == expected
    });
    for piece in asked.chunks(1000) {
        client.write_all(piece).unwrap();
        server.turn(1).unwrap();
    }
    while !thread.is_finished() {
        server.turn(5).unwrap();
    }
    assert!(thread.join().unwrap());
    assert_eq!(server.totals.answered, 1);
}

#[test]
fn one_too_many_is_turned_away() {
    let (mut server, address) = server(2);
    let first = connect(&mut server, address);
    let _second = connect(&mut server, address);
    let mut third = connect(&mut server, address);
    assert_eq!(third.read(&mut [0; 1]).unwrap(), 0);
    assert_eq!((server.totals.connections, server.totals.refused), (2, 1));
    drop(first);
    settle(&mut server);
    connect(&mut server, address);
    assert_eq!((server.totals.connections, server.totals.refused), (3, 1));
}

/// Rounds of a client on the same thread.
fn rounds(server: &mut Server, clients: &mut [TcpStream], asked: &[u8], answer: &mut [u8]) {
    for _ in 0..500 {
        for client in clients.iter_mut() {
            client.write_all(asked).unwrap();
        }
        let wanted = server.totals.answered + clients.len() as u64;
        while server.totals.answered < wanted {
            server.turn(100).unwrap();
        }
        for client in clients.iter_mut() {
            client.read_exact(answer).unwrap();
        }
    }
}

#[test]
fn a_request_allocates_nothing_and_is_one_read_and_one_write() {
    let (mut server, address) = server(10);
    let mut clients: Vec<TcpStream> = (0..3).map(|_| connect(&mut server, address)).collect();
    let asked = request(&[3; 500], 2000);
    let mut answer = vec![0; HEADER + 2000];
    rounds(&mut server, &mut clients, &asked, &mut answer);
    let ((), counts) = counted(|| rounds(&mut server, &mut clients, &asked, &mut answer));
    assert_eq!(counts.total(), 0);
    // The client's own `write` and `read` are `sendto` and `recvfrom`, too.
    let calls = [libc::SYS_epoll_wait, libc::SYS_sendto, libc::SYS_recvfrom];
    let ended = only_syscalls(&calls, || rounds(&mut server, &mut clients, &asked, &mut answer));
    assert_eq!(ended, Ok(()));
    let canary = only_syscalls(&calls[1..], || rounds(&mut server, &mut clients, &asked, &mut answer));
    assert_eq!(canary, Err(Violation::Syscall(libc::SYS_epoll_wait)));
}
