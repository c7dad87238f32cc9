//! Tests inside a server of what SQL alone cannot check well: `cargo pgrx test`, see scripts/test.
//! What SQL shows is in tests/pg_regress, what needs several sessions or servers in tests/t.

use pgrx::prelude::*;

#[pg_schema]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::relation_name::RelationName;
    use pgrx::PgSqlErrorCode;
    use pgrx::datum::DatumWithOid;
    use pgrx::pg_sys::panic::CaughtError;

    /// SplitMix64 (Steele, Lea, Flood), so that a failure can be repeated.
    struct Random(u64);

    impl Random {
        fn bits(&mut self, count: u32) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ z >> 31) >> (64 - count)
        }
    }

    fn bigints<'a>(query: &str, args: &[DatumWithOid<'a>]) -> Vec<i64> {
        Spi::get_one_with_args::<Vec<i64>>(query, args).unwrap().unwrap()
    }

    /// timestamptz from Unix milliseconds, in SQL's own exact arithmetic.
    const AT: &str = "CREATE FUNCTION pg_temp.at(ms bigint) RETURNS timestamptz IMMUTABLE \
        RETURN timestamptz 'epoch' + ms / 1000 * interval '1 s' + ms % 1000 * interval '1 ms'";

    #[pg_test]
    fn decode_undoes_make() {
        Spi::run(AT).unwrap();
        let mut random = Random(1);
        for _ in 0..3000 {
            let epoch = random.bits(41) as i64 - (1 << 40);
            let (elapsed, shard, sequence) =
                (random.bits(40) as i64, random.bits(13) as i32, random.bits(10) as i32);
            let made = bigints(
                "SELECT ARRAY[id, shard_id, sequence, (created_at = pg_temp.at($1 + $2))::integer] \
                   FROM make_id(pg_temp.at($1 + $2), $3, $4, pg_temp.at($1)) AS id, \
                        decode_id(id, pg_temp.at($1))",
                &[epoch.into(), elapsed.into(), shard.into(), sequence.into()],
            );
            let id = elapsed << 23 | i64::from(shard) << 10 | i64::from(sequence);
            assert_eq!(made, [id, shard.into(), sequence.into(), 1], "{epoch} {elapsed}");

            let (elapsed, datacenter, worker, sequence) = (
                random.bits(41) as i64,
                random.bits(5) as i32,
                random.bits(5) as i32,
                random.bits(12) as i32,
            );
            let made = bigints(
                "SELECT ARRAY[id, datacenter_id, worker_id, sequence, (created_at = pg_temp.at($1 + $2))::integer] \
                   FROM make_snowflake_id(pg_temp.at($1 + $2), $3, $4, $5, pg_temp.at($1)) AS id, \
                        decode_snowflake(id, pg_temp.at($1))",
                &[epoch.into(), elapsed.into(), datacenter.into(), worker.into(), sequence.into()],
            );
            let id = elapsed << 22
                | i64::from(datacenter) << 17
                | i64::from(worker) << 12
                | i64::from(sequence);
            assert_eq!(made, [id, datacenter.into(), worker.into(), sequence.into(), 1]);
        }
    }

    /// All 64 bits are read as unsigned, the sign bit as the 41st (42nd) of the time.
    #[pg_test]
    fn every_bigint_decodes() {
        Spi::run(AT).unwrap();
        let mut random = Random(2);
        for _ in 0..3000 {
            let id = random.bits(64);
            let decoded = bigints(
                "SELECT ARRAY[(id_timestamp($1) = pg_temp.at(1293840000000 + $2))::integer, \
                              id_shard($1), id_sequence($1), \
                              (snowflake_timestamp($1) = pg_temp.at(1288834974657 + $3))::integer, \
                              snowflake_datacenter($1), snowflake_worker($1), snowflake_sequence($1)]::bigint[]",
                &[(id as i64).into(), ((id >> 23) as i64).into(), ((id >> 22) as i64).into()],
            );
            let field = |shift: u32, bits: u32| (id >> shift & ((1 << bits) - 1)) as i64;
            let expected =
                [1, field(10, 13), field(0, 10), 1, field(17, 5), field(12, 5), field(0, 12)];
            assert_eq!(decoded, expected, "{id}");
        }
    }

    /// One of each. A new error fails to compile here until it is added.
    fn every_error() -> Vec<Error> {
        use Error::*;
        let relation = RelationName(pg_sys::RelationRelationId);
        let all = vec![
            OutOfRange { name: "shard_id", value: -1, max: 8191 },
            Unset { name: "worker_id" },
            EpochInfinite,
            EpochFraction,
            EpochInFuture { epoch: 2, now: 1 },
            InstantInfinite,
            InstantBeforeEpoch { instant: 0, epoch: 1 },
            InstantPastLast { instant: 0, last: 1 },
            Undecodable { id: 1 },
            Exhausted { last: 1 },
            ClockBehind { ms: 2, now: 1, tolerated: 0 },
            NegativeId { id: -1 },
            AdvanceTooFar { ms: 2, now: 1, tolerated: 0 },
            ClockJumped { now: 2, expected: 1, tolerated: 0 },
            ClockPastMark { now: 2, mark: 1, tolerated: 0 },
            MarkMissing,
            MarkDamaged,
            MarkUnlogged,
            Unconfirmed { what: "ticket" },
            NotASequence { relation },
            SequenceUnlogged { sequence: relation },
            SequenceCycles { sequence: relation },
            SequenceDamaged { sequence: relation },
            SequenceAtEnd { sequence: relation, count: 2, left: 1 },
            TooManyDatabases,
            NotPreloaded,
            Recovery { function: "next_id()" },
            NoWorkerId,
            LeaseRanOut { until: 1, ms: 2, now: 2 },
            NotLeased,
            ReleaseUnconfirmed,
            UserInEndpoints,
        ];
        for error in &all {
            match error {
                OutOfRange { .. } | Unset { .. } | EpochInfinite | EpochFraction => {}
                EpochInFuture { .. } | InstantInfinite | InstantBeforeEpoch { .. } => {}
                InstantPastLast { .. } | Undecodable { .. } | Exhausted { .. } => {}
                ClockBehind { .. } | NegativeId { .. } | AdvanceTooFar { .. } => {}
                ClockJumped { .. }
                | ClockPastMark { .. }
                | MarkMissing
                | MarkDamaged
                | MarkUnlogged => {}
                NotASequence { .. } | SequenceUnlogged { .. } | SequenceCycles { .. } => {}
                SequenceDamaged { .. } | SequenceAtEnd { .. } => {}
                Unconfirmed { .. } | TooManyDatabases | NotPreloaded | Recovery { .. } => {}
                NoWorkerId | LeaseRanOut { .. } | NotLeased | ReleaseUnconfirmed => {}
                UserInEndpoints => {}
            }
        }
        all
    }

    /// The manner of PostgreSQL's documentation, "Error Message Style Guide".
    #[pg_test]
    fn every_error_is_in_the_manner_of_postgres() {
        for error in every_error() {
            let report = error.report();
            let message = report.message();
            let first = message.split(' ').next().unwrap();
            assert!(
                first == "ID" || !first.starts_with(char::is_uppercase),
                "starts in lower case: {message}"
            );
            assert!(
                !message.ends_with('.') && !message.contains('\n'),
                "is no sentence: {message}"
            );
            for sentences in [report.detail(), report.hint()].into_iter().flatten() {
                assert!(
                    sentences.starts_with(char::is_uppercase) && sentences.ends_with('.'),
                    "is a sentence: {sentences}"
                );
            }
        }
    }

    /// None is an internal error, and each arrives with its texts whole.
    #[pg_test]
    fn every_error_has_a_sqlstate() {
        for error in every_error() {
            let (message, detail, hint) = {
                let report = error.report();
                let own = |text: Option<&str>| text.map(str::to_owned);
                (report.message().to_owned(), own(report.detail()), own(report.hint()))
            };
            PgTryBuilder::new(|| error.report().report(PgLogLevel::ERROR))
                .catch_others(|caught| {
                    let (CaughtError::PostgresError(report)
                    | CaughtError::ErrorReport(report)
                    | CaughtError::RustPanic { ereport: report, .. }) = caught;
                    assert_ne!(report.sql_error_code(), PgSqlErrorCode::ERRCODE_INTERNAL_ERROR);
                    assert_eq!(report.message(), message);
                    assert_eq!(report.detail(), detail.as_deref());
                    assert_eq!(report.hint(), hint.as_deref());
                })
                .execute();
        }
    }

    /// An error raised below SQL functions and PL/pgSQL keeps its SQLSTATE, so that it can be caught.
    #[pg_test]
    fn an_error_can_be_caught_in_plpgsql() {
        Spi::run(
            "DO $$ BEGIN PERFORM next_id(8192); RAISE 'not refused';
                   EXCEPTION WHEN invalid_parameter_value THEN END $$;
             DO $$ BEGIN PERFORM next_id(1, '1990-01-01+00'); RAISE 'not refused';
                   EXCEPTION WHEN sequence_generator_limit_exceeded THEN END $$;
             DO $$ BEGIN PERFORM snowflake_id(); RAISE 'not refused';
                   EXCEPTION WHEN object_not_in_prerequisite_state THEN END $$;
             DO $$ BEGIN PERFORM make_id('infinity', 1); RAISE 'not refused';
                   EXCEPTION WHEN datetime_field_overflow THEN END $$;",
        )
        .unwrap();
        // The session goes on.
        assert!(Spi::get_one::<i64>("SELECT next_id(1)").unwrap().unwrap() > 0);
    }
}
