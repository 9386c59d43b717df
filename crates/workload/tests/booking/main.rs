//! SEATS, Epinions, SmallBank and TATP against real databases.

mod damage;
mod mariadb;
mod moving;
mod parts;
mod planning;
mod postgres;
mod support;

use testkit::alloc::CountingAlloc;

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;
