//! What the seams demand of a double and its test does not care for. Each macro stands inside of an `impl`, which
//! says the rest itself.

/// In `impl Target`, all but `connect`: sessions of this type, no dialect to speak of, nothing to administer.
macro_rules! bare_target {
    ($session:ty, $execution:expr) => {
        type Session = $session;
        fn execution(&self) -> driver::Execution {
            $execution
        }
        fn dialect(&self) -> driver::Dialect {
            driver::Dialect::Null
        }
        fn administer(&self) -> Result<Box<dyn driver::Administration>, driver::ConnectError> {
            Err(driver::ConnectError::permanent("nothing to administer"))
        }
    };
}

/// In `impl Session`: replies that hold nothing, errors without words; `in_place`, every command is taken, too, and
/// no descriptor waited for.
macro_rules! bare_session {
    (in_place) => {
        bare_session!();
        fn descriptor(&self) -> Option<std::os::fd::RawFd> {
            None
        }
        fn stage(&mut self, _command: driver::Command<'_>) -> Result<(), driver::OpError> {
            Ok(())
        }
    };
    () => {
        fn reply(&self, _command: usize) -> driver::Reply {
            driver::Reply::default()
        }
        fn value(&self, _command: usize, _row: usize, _column: usize) -> Option<driver::ValueRef<'_>> {
            None
        }
        fn last_error(&self) -> Option<String> {
            None
        }
    };
}

/// In `impl Workload`, all but `run`: operations of these names, equally frequent; a request's plan is its number.
macro_rules! numbered_requests {
    ($($operation:literal),+) => {
        type Plan = u64;
        fn facts(&self) -> workload::WorkloadFacts {
            workload::WorkloadFacts { name: "numbered requests".into(), scale: 1.0, parameters: vec![] }
        }
        fn operations(&self) -> Vec<workload::Operation> {
            vec![$(workload::Operation { name: $operation, weight: 1.0 }),+]
        }
        fn statements(&self, _dialect: driver::Dialect) -> Result<Vec<driver::StatementSpec>, String> {
            Ok(vec![])
        }
        fn tickets(&self) -> Box<dyn workload::Tickets> {
            Box::new(workload::NoTickets)
        }
        fn new_plan(&self) -> u64 {
            0
        }
        fn plan(&self, request: workload::Request, plan: &mut u64) {
            *plan = request.seq;
        }
        fn dataset(&self) -> Option<&dyn workload::dataset::DataSet> {
            None
        }
        fn observe(&mut self, _administration: &mut dyn driver::Administration) -> Result<(), String> {
            Ok(())
        }
    };
}

pub(crate) use {bare_session, bare_target, numbered_requests};
