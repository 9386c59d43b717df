-- sysbench: one prepared `SELECT 1` for each event.

function thread_init()
  connection = sysbench.sql.driver():connect()
  statement = connection:prepare("SELECT 1")
end

function event()
  statement:execute()
end

function thread_done()
  statement:close()
  connection:disconnect()
end
