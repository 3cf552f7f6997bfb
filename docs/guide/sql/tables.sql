SET 'execution.runtime-mode' = 'batch';
SET 'sql-client.execution.result-mode' = 'tableau';
SET 'sql-client.display.print-time-cost' = 'false';

CREATE TABLE trips (
  id INT, driver STRING, pickup TIMESTAMP(0), fare DECIMAL(8, 2), tip DECIMAL(8, 2), note STRING
) WITH ('connector' = 'filesystem', 'path' = 'trips.csv', 'format' = 'csv', 'csv.header' = 'true');

CREATE TABLE events (
  `at` TIMESTAMP_LTZ(0), trip INT, kind STRING, car ROW<plate STRING, seats INT>, tags ARRAY<STRING>
) WITH ('connector' = 'filesystem', 'path' = 'events.jsonl', 'format' = 'json');

CREATE TABLE archive (
  id INT, driver STRING, pickup TIMESTAMP(0), fare DECIMAL(8, 2)
) WITH ('connector' = 'filesystem', 'path' = 'archive', 'format' = 'parquet');
