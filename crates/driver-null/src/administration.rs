//! Set-up of nothing.

use driver::{Administration, BulkRows, ConnectError, TargetFacts};

/// Accepts everything and finds nothing.
pub(crate) struct NullAdministration;

impl Administration for NullAdministration {
    fn facts(&mut self) -> Result<TargetFacts, ConnectError> {
        Ok(TargetFacts {
            product: "null".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            address: "null:".to_owned(),
            transport: "in-process".to_owned(),
            settings: Vec::new(),
            native: true,
            kernel_stamps: false,
            server_pids: Vec::new(),
        })
    }

    fn script(&mut self, _sql: &str) -> Result<(), ConnectError> {
        Ok(())
    }

    fn query(&mut self, _sql: &str) -> Result<Vec<Vec<Option<String>>>, ConnectError> {
        Ok(Vec::new())
    }

    fn table_exists(&mut self, _table: &str) -> Result<bool, ConnectError> {
        Ok(false)
    }

    fn bulk(
        &mut self,
        _table: &str,
        _columns: &[&str],
        rows: &mut BulkRows<'_>,
    ) -> Result<u64, ConnectError> {
        let mut count = 0;
        while rows(&mut |_| count += 1) {}
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use driver::Value;

    #[test]
    fn bulk_counts_what_it_swallows() {
        let mut left = 3;
        let count = NullAdministration
            .bulk("t", &["a"], &mut |push| {
                if left > 0 {
                    push(&[Value::Int(left)]);
                    left -= 1;
                }
                left > 0
            })
            .unwrap();
        assert_eq!(count, 3);
        assert_eq!(NullAdministration.query("SELECT 1").unwrap(), Vec::<Vec<Option<String>>>::new());
        assert!(NullAdministration.facts().unwrap().native);
    }
}
