//! RESP as clients see it: exact answers, the same as a real Redis's, however the bytes are cut.

mod answers;
mod commands;
mod differential;
mod faults;
mod pieces;
mod store_of_one;
mod truth;
