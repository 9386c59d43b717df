//! The Java side: it builds, its own tests pass, and it is built once.

use std::path::Path;

#[test]
fn the_bindings_own_tests_pass() {
    testkit::ycsb::test();
}

#[test]
fn it_is_built_once_and_then_found() {
    let Some(class_path) = testkit::ycsb::class_path() else { return };
    let jar = class_path.split(':').next().map(Path::new).expect("a class path");
    let built = jar.metadata().and_then(|facts| facts.modified()).expect("it was built");
    assert_eq!(testkit::ycsb::class_path(), Some(class_path.clone()));
    assert_eq!(jar.metadata().and_then(|facts| facts.modified()).expect("still there"), built);
}
