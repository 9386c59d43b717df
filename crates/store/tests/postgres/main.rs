//! PostgreSQL's protocol, message by message: no sockets but those of the differential test.

mod conversation;
mod differential;
mod extended;
mod faults;
mod fuzz;
mod login;
mod pieces;
mod simple;
mod statements;
mod timing;
mod truth;
mod wire;
