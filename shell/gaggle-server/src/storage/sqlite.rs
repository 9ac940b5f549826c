//! Storage in a SQLite database: one file in the data folder, with a write-ahead log, so that
//! neither a killed process nor a power failure loses what was confirmed.
//!
//! The storage thread calls it. Absent: queueing (`storage.rs`).

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use gaggle_kit::PeerId;
use gaggle_lobby::message::server::{Leaderboard, LeaderboardEntry, MatchSummary, MyStats};
use gaggle_lobby::view::{RatingChange, Verdict};
use gaggle_lobby::{DisplayName, Label, MatchRecord, PlayerId, PlayerScore, RoomId};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::ratings::{Rating, after_match};
use super::{Outcome, Storage, StorageError};

/// Migrations, each from one version of the database to the next. Append only.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE matches (
        room BLOB NOT NULL, round INTEGER NOT NULL, game TEXT NOT NULL, mode TEXT NOT NULL,
        verdict TEXT NOT NULL, level INTEGER, digest TEXT, born INTEGER NOT NULL, ended INTEGER NOT NULL,
        PRIMARY KEY (room, round)
    ) WITHOUT ROWID;
    CREATE TABLE scores (
        room BLOB NOT NULL, round INTEGER NOT NULL, slot INTEGER NOT NULL, player BLOB NOT NULL,
        name TEXT NOT NULL, score INTEGER NOT NULL, place INTEGER NOT NULL, ended INTEGER NOT NULL,
        PRIMARY KEY (room, round, slot)
    ) WITHOUT ROWID;
    CREATE INDEX scores_by_player ON scores (player, ended);
    CREATE TABLE best (
        game TEXT NOT NULL, mode TEXT NOT NULL, player BLOB NOT NULL, verified INTEGER NOT NULL,
        score INTEGER NOT NULL, level INTEGER, name TEXT NOT NULL, at INTEGER NOT NULL,
        PRIMARY KEY (game, mode, player, verified)
    ) WITHOUT ROWID;
    CREATE INDEX best_by_score ON best (game, mode, score DESC);
    CREATE TABLE ratings (
        game TEXT NOT NULL, mode TEXT NOT NULL, player BLOB NOT NULL,
        mean REAL NOT NULL, deviation REAL NOT NULL, matches INTEGER NOT NULL,
        PRIMARY KEY (game, mode, player)
    ) WITHOUT ROWID;
",
    "
    DROP INDEX best_by_score;
    CREATE INDEX best_by_rank ON best (game, mode, verified, score DESC, at);
    ALTER TABLE scores ADD COLUMN game TEXT NOT NULL DEFAULT '';
    ALTER TABLE scores ADD COLUMN mode TEXT NOT NULL DEFAULT '';
    UPDATE scores SET (game, mode) =
        (SELECT m.game, m.mode FROM matches m WHERE m.room = scores.room AND m.round = scores.round);
    DROP INDEX scores_by_player;
    CREATE INDEX scores_by_player ON scores (player, game, mode, ended);
",
    "
    ALTER TABLE scores ADD COLUMN peer BLOB;
    ALTER TABLE scores ADD COLUMN rating_before INTEGER;
    ALTER TABLE scores ADD COLUMN rating_after INTEGER;
",
    "
    ALTER TABLE scores ADD COLUMN signed_in INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE scores ADD COLUMN claimed INTEGER NOT NULL DEFAULT 0;
    UPDATE matches SET verdict = 'agreed' WHERE verdict = 'accepted';
    UPDATE matches SET verdict = 'claimed' WHERE verdict = 'unverified';
",
];

/// Verdicts as numbers in the column `verified`.
const KINDS: [Verdict; 3] = [Verdict::Claimed, Verdict::Agreed, Verdict::Refereed];

/// Best results of one kind, in index order.
const TOP: &str = "SELECT player, name, score, level, verified, at FROM best
    WHERE game = ?1 AND mode = ?2 AND verified = ?3 ORDER BY score DESC, at LIMIT ?4";
/// Last matches of one player, in index order.
const PAST_MATCHES: &str = "SELECT s.room, s.round, s.score, s.place, m.verdict, s.ended,
        (SELECT count(*) FROM scores o WHERE o.room = s.room AND o.round = s.round)
    FROM scores s JOIN matches m ON m.room = s.room AND m.round = s.round
    WHERE s.player = ?1 AND s.game = ?2 AND s.mode = ?3 ORDER BY s.ended DESC LIMIT ?4";

/// Opponents of a player's last rated matches since a time, with the number of matches.
const OPPONENTS: &str = "SELECT o.player, count(*) FROM (
        SELECT room, round FROM scores
        WHERE player = ?1 AND game = ?2 AND mode = ?3 AND ended > ?4 AND rating_after NOT NULL
        ORDER BY ended DESC LIMIT 500
    ) s JOIN scores o ON o.room = s.room AND o.round = s.round
    WHERE o.player != ?1 AND o.rating_after NOT NULL GROUP BY o.player";
/// Matches per day in which two players change each other's rating. Without it, two accounts could
/// raise a third without bound.
const RATED_PER_PAIR_MAX: u32 = 5;
const DAY_MS: u64 = 86_400_000;

/// How long to wait for another process that writes to the file.
const BUSY: Duration = Duration::from_secs(10);
const PAST_MATCHES_MAX: u8 = 20;

impl From<rusqlite::Error> for StorageError {
    fn from(error: rusqlite::Error) -> StorageError {
        StorageError(error.to_string())
    }
}

/// Result storage in a SQLite database.
#[derive(Debug)]
pub struct SqliteStorage {
    database: Connection,
    /// Weakest verdict that counts on leaderboards and for ratings.
    counted: Verdict,
}

impl SqliteStorage {
    /// Opens the database, creating or migrating it if needed.
    ///
    /// # Errors
    /// If it cannot be opened, or was written by a later version of the server.
    pub fn open(path: &Path) -> Result<SqliteStorage, StorageError> {
        SqliteStorage::prepare(Connection::open(path)?)
    }

    /// Sets the weakest verdict that counts on leaderboards and for ratings; by default
    /// [`Verdict::Agreed`].
    #[must_use]
    pub fn counting(self, counted: Verdict) -> SqliteStorage {
        SqliteStorage { counted, ..self }
    }

    fn prepare(mut database: Connection) -> Result<SqliteStorage, StorageError> {
        database.busy_timeout(BUSY)?;
        check_whole(&database)?;
        database.pragma_update(None, "journal_mode", "WAL")?;
        // With a write-ahead log, each commit is on disk before it returns.
        database.pragma_update(None, "synchronous", "FULL")?;
        migrate(&mut database)?;
        Ok(SqliteStorage { database, counted: Verdict::Agreed })
    }
}

/// Checks that the whole file is readable. A damaged one would fail at some requests, and new
/// results may be lost in it.
fn check_whole(database: &Connection) -> Result<(), StorageError> {
    let found = database.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    let damage = match found {
        Ok(found) if found == "ok" => return Ok(()),
        Ok(found) => found.lines().last().unwrap_or_default().to_string(),
        Err(rusqlite::Error::SqliteFailure(error, text))
            if matches!(error.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) =>
        {
            text.unwrap_or_else(|| error.to_string())
        }
        Err(error) => return Err(error.into()),
    };
    Err(StorageError(format!(
        "it is damaged ({damage}); restore a copy, or repair it: sqlite3 OLD .recover | sqlite3 NEW, \
         or move it away to start with an empty one"
    )))
}

impl Storage for SqliteStorage {
    fn store(&mut self, records: &[MatchRecord]) -> Result<Vec<Outcome>, StorageError> {
        let transaction = self.database.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let outcomes = records
            .iter()
            .map(|record| store_one(&transaction, record, self.counted))
            .collect::<Result<_, _>>()?;
        transaction.commit()?;
        Ok(outcomes)
    }

    fn top(
        &mut self,
        game: &Label,
        mode: &Label,
        verified: bool,
        count: u8,
    ) -> Result<Leaderboard, StorageError> {
        // No player appears twice in one kind, so the best of each kind contain the best of all.
        let counted = if verified { self.counted.max(Verdict::Agreed) } else { self.counted };
        let mut entries: Vec<LeaderboardEntry> = Vec::new();
        let mut statement = self.database.prepare_cached(TOP)?;
        for kind in (0..KINDS.len()).rev().filter(|kind| KINDS[*kind] >= counted) {
            let key = params![game.as_str(), mode.as_str(), kind as i64, count];
            for entry in statement.query_map(key, read_entry)? {
                entries.push(entry?);
            }
        }
        entries.sort_by_key(|entry| (Reverse(entry.score), entry.at));
        let mut seen = BTreeSet::new();
        entries.retain(|entry| seen.insert(entry.player));
        entries.truncate(usize::from(count));
        Ok(Leaderboard { game: game.clone(), mode: mode.clone(), entries })
    }

    fn mine(&mut self, player: PlayerId, game: &Label, mode: &Label) -> Result<MyStats, StorageError> {
        let key = params![game.as_str(), mode.as_str(), player.as_bytes()];
        let best = self
            .database
            .prepare_cached(
                "SELECT player, name, score, level, verified, at FROM best
                 WHERE game = ?1 AND mode = ?2 AND player = ?3 ORDER BY score DESC LIMIT 1",
            )?
            .query_row(key, read_entry)
            .optional()?;
        let rating = read_rating(&self.database, game, mode, player)?.map(Rating::shown);
        let mut statement = self.database.prepare_cached(PAST_MATCHES)?;
        let key = params![player.as_bytes(), game.as_str(), mode.as_str(), PAST_MATCHES_MAX];
        let matches = statement.query_map(key, read_match)?.collect::<Result<_, _>>()?;
        Ok(MyStats { game: game.clone(), mode: mode.clone(), best, rating, matches })
    }
}

fn migrate(database: &mut Connection) -> Result<(), StorageError> {
    let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: u32 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let Some(pending) = MIGRATIONS.get(version as usize..) else {
        let known = MIGRATIONS.len();
        return Err(StorageError(format!(
            "the database has version {version}, this server supports {known}: use a later server"
        )));
    };
    for migration in pending {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", MIGRATIONS.len() as u32)?;
    transaction.commit()?;
    Ok(())
}

/// Stores a match and its consequences, unless it was stored before: then that counts.
fn store_one(
    transaction: &Transaction<'_>,
    record: &MatchRecord,
    counted: Verdict,
) -> Result<Outcome, StorageError> {
    let MatchRecord { room, round, game, mode, verdict, scores, level, digest, match_started_at, ended } =
        record;
    let is_new = transaction
        .prepare_cached("INSERT OR IGNORE INTO matches VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?
        .execute(params![
            room.as_bytes(),
            round,
            game.as_str(),
            mode.as_str(),
            verdict.as_str(),
            level,
            digest,
            *match_started_at as i64,
            *ended as i64
        ])?;
    if is_new == 0 {
        return read_outcome(transaction, *room, *round);
    }
    for line in scores {
        let PlayerScore { peer, player, name, slot, score, place, signed_in, claimed } = line;
        let found = if *claimed { Verdict::Claimed } else { *verdict };
        let kind = KINDS.iter().position(|kind| *kind == found).unwrap_or(0);
        transaction
            .prepare_cached(
                "INSERT INTO scores VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, NULL, NULL,
                     ?12, ?13)",
            )?
            .execute(params![
                room.as_bytes(),
                round,
                slot.number(),
                player.as_bytes(),
                name.as_str(),
                score,
                place,
                *ended as i64,
                game.as_str(),
                mode.as_str(),
                peer.as_bytes(),
                signed_in,
                claimed
            ])?;
        transaction
            .prepare_cached(
                "INSERT INTO best VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                 ON CONFLICT DO UPDATE SET score = excluded.score, level = excluded.level,
                     name = excluded.name, at = excluded.at
                 WHERE excluded.score > score",
            )?
            .execute(params![
                game.as_str(),
                mode.as_str(),
                player.as_bytes(),
                kind as i64,
                score,
                level,
                name.as_str(),
                *ended as i64
            ])?;
    }
    let is_counted = *verdict >= counted && *verdict > Verdict::Disputed;
    let ratings = if is_counted { rate(transaction, record)? } else { Vec::new() };
    Ok(Outcome { verdict: *verdict, ratings })
}

/// Effect of a match that was stored earlier.
fn read_outcome(transaction: &Transaction<'_>, room: RoomId, round: u32) -> Result<Outcome, StorageError> {
    let key = params![room.as_bytes(), round];
    let verdict: String = transaction
        .prepare_cached("SELECT verdict FROM matches WHERE room = ?1 AND round = ?2")?
        .query_row(key, |row| row.get(0))?;
    let mut statement = transaction.prepare_cached(
        "SELECT peer, rating_before, rating_after FROM scores
         WHERE room = ?1 AND round = ?2 AND peer NOT NULL AND rating_after NOT NULL ORDER BY slot",
    )?;
    let ratings = statement.query_map(key, |row| {
        Ok(RatingChange { peer: PeerId::from_bytes(row.get(0)?), before: row.get(1)?, after: row.get(2)? })
    })?;
    Ok(Outcome { verdict: read_verdict(&verdict), ratings: ratings.collect::<Result<_, _>>()? })
}

/// Updates the ratings of the players. A player with two slots counts with the first. Guests change
/// only guests' ratings: a key is free, and beating a hundred guests proves nothing.
fn rate(transaction: &Transaction<'_>, record: &MatchRecord) -> Result<Vec<RatingChange>, StorageError> {
    let mut changes = Vec::new();
    for signed_in in [true, false] {
        let mut seen = BTreeSet::new();
        let kind = record.scores.iter().filter(|line| line.signed_in == signed_in && !line.claimed);
        let people: Vec<&PlayerScore> = kind.filter(|line| seen.insert(line.player)).collect();
        if people.len() > 1 {
            changes.extend(rate_kind(transaction, record, &people)?);
        }
    }
    Ok(changes)
}

fn rate_kind(
    transaction: &Transaction<'_>,
    record: &MatchRecord,
    people: &[&PlayerScore],
) -> Result<Vec<RatingChange>, StorageError> {
    let MatchRecord { game, mode, .. } = record;
    let mut ratings = Vec::new();
    for line in people {
        let rating = read_rating(transaction, game, mode, line.player)?.unwrap_or_default();
        ratings.push((line.player, (rating, line.place)));
    }
    let mut moves = Vec::new();
    for (line, (player, before)) in people.iter().zip(&ratings) {
        let known = read_known(transaction, record, *player)?;
        // The player itself and the opponents that may still change its rating.
        let others = ratings.iter().filter(|(other, _)| other != player && !known.contains(other));
        let part: Vec<(Rating, u8)> =
            [*before].into_iter().chain(others.map(|(_, rating)| *rating)).collect();
        if part.len() > 1 {
            moves.push((line, before.0, after_match(&part)[0]));
        }
    }
    let mut changes = Vec::new();
    for (line, before, after) in moves {
        transaction
            .prepare_cached(
                "INSERT INTO ratings VALUES (?1, ?2, ?3, ?4, ?5, 1)
                 ON CONFLICT DO UPDATE SET mean = excluded.mean, deviation = excluded.deviation,
                     matches = matches + 1",
            )?
            .execute(params![
                game.as_str(),
                mode.as_str(),
                line.player.as_bytes(),
                after.mean,
                after.deviation
            ])?;
        let change = RatingChange { peer: line.peer, before: before.shown(), after: after.shown() };
        transaction
            .prepare_cached(
                "UPDATE scores SET rating_before = ?4, rating_after = ?5
                 WHERE room = ?1 AND round = ?2 AND slot = ?3",
            )?
            .execute(params![
                record.room.as_bytes(),
                record.round,
                line.slot.number(),
                change.before,
                change.after
            ])?;
        changes.push(change);
    }
    Ok(changes)
}

/// Opponents that a player met in so many rated matches of the last day that they no longer count.
fn read_known(
    transaction: &Transaction<'_>,
    record: &MatchRecord,
    player: PlayerId,
) -> Result<BTreeSet<PlayerId>, StorageError> {
    let MatchRecord { game, mode, ended, .. } = record;
    let since = ended.saturating_sub(DAY_MS) as i64;
    let mut statement = transaction.prepare_cached(OPPONENTS)?;
    let key = params![player.as_bytes(), game.as_str(), mode.as_str(), since];
    let met = statement.query_map(key, |row| Ok((PlayerId::from_bytes(row.get(0)?), row.get(1)?)))?;
    let met: Vec<(PlayerId, u32)> = met.collect::<Result<_, _>>()?;
    Ok(met.into_iter().filter(|(_, count)| *count >= RATED_PER_PAIR_MAX).map(|(player, _)| player).collect())
}

fn read_rating(
    database: &Connection,
    game: &Label,
    mode: &Label,
    player: PlayerId,
) -> Result<Option<Rating>, StorageError> {
    let rating = database
        .prepare_cached("SELECT mean, deviation FROM ratings WHERE game = ?1 AND mode = ?2 AND player = ?3")?
        .query_row(params![game.as_str(), mode.as_str(), player.as_bytes()], |row| {
            Ok(Rating { mean: row.get(0)?, deviation: row.get(1)? })
        })
        .optional()?;
    Ok(rating)
}

fn read_entry(row: &Row<'_>) -> rusqlite::Result<LeaderboardEntry> {
    Ok(LeaderboardEntry {
        player: PlayerId::from_bytes(row.get(0)?),
        name: read_name(row, 1)?,
        score: row.get(2)?,
        level: row.get(3)?,
        verdict: KINDS[usize::from(row.get::<_, u8>(4)?).min(KINDS.len() - 1)],
        at: row.get::<_, i64>(5)? as u64,
    })
}

fn read_match(row: &Row<'_>) -> rusqlite::Result<MatchSummary> {
    let verdict: String = row.get(4)?;
    Ok(MatchSummary {
        room: RoomId::from_bytes(row.get(0)?),
        round: row.get(1)?,
        score: row.get(2)?,
        place: row.get(3)?,
        verdict: read_verdict(&verdict),
        at: row.get::<_, i64>(5)? as u64,
        players: row.get(6)?,
    })
}

fn read_verdict(word: &str) -> Verdict {
    Verdict::from_word(word).unwrap_or(Verdict::Disputed)
}

/// A name that is no longer valid must not make a list unreadable.
fn read_name(row: &Row<'_>, column: usize) -> rusqlite::Result<DisplayName> {
    let name: String = row.get(column)?;
    Ok(name.parse().unwrap_or_else(|_| "?".parse().expect("a valid name")))
}

#[cfg(test)]
mod tests {
    use gaggle_kit::Slot;

    use super::*;

    #[test]
    fn match_counts_once_however_often_it_is_stored() {
        let mut storage = memory();
        let record = record(1, Verdict::Agreed, &[(1, 300), (2, 100)]);
        let first = storage.store(std::slice::from_ref(&record)).unwrap();
        let ratings = &first[0].ratings;
        assert_eq!(ratings.len(), 2);
        assert!(ratings[0].after > 1_500 && ratings[1].after < 1_500);
        // Also if players who returned after a crash report something else.
        let other = MatchRecord { verdict: Verdict::Disputed, scores: Vec::new(), ..record.clone() };
        let again = storage.store(&[record, other]).unwrap();
        assert_eq!(again, [first[0].clone(), first[0].clone()], "the same answer as before");
        let mine = storage.mine(player(1), &label("gander"), &label("team")).unwrap();
        assert_eq!(mine.rating, Some(ratings[0].after));
        assert_eq!(mine.matches.len(), 1);
        assert_eq!((mine.matches[0].score, mine.matches[0].place, mine.matches[0].players), (300, 1, 2));
    }

    #[test]
    fn leaderboard_has_each_player_once_with_best_score() {
        let mut storage = memory().counting(Verdict::Claimed);
        let matches = [
            record(1, Verdict::Agreed, &[(1, 300), (2, 500)]),
            record(2, Verdict::Agreed, &[(1, 400), (2, 100)]),
            record(3, Verdict::Claimed, &[(1, 9_000)]),
        ];
        storage.store(&matches).unwrap();
        let mut top = |verified| {
            let top = storage.top(&label("gander"), &label("team"), verified, 10).unwrap();
            let line =
                |entry: &LeaderboardEntry| (entry.player, entry.score, entry.verdict >= Verdict::Agreed);
            top.entries.iter().map(line).collect::<Vec<_>>()
        };
        assert_eq!(top(true), [(player(2), 500, true), (player(1), 400, true)]);
        assert_eq!(top(false), [(player(1), 9_000, false), (player(2), 500, true)]);
        assert_eq!(storage.top(&label("drake"), &label("team"), false, 10).unwrap().entries, []);
    }

    #[test]
    fn disputed_and_unverified_matches_change_no_rating() {
        let mut storage = memory();
        let disputed = MatchRecord { scores: Vec::new(), ..record(1, Verdict::Disputed, &[]) };
        let solo = record(2, Verdict::Claimed, &[(1, 10)]);
        let outcomes = storage.store(&[disputed, solo]).unwrap();
        assert!(outcomes.iter().all(|outcome| outcome.ratings.is_empty()));
        assert_eq!(storage.mine(player(1), &label("gander"), &label("team")).unwrap().rating, None);
    }

    #[test]
    fn claimed_results_count_if_operator_says_so() {
        let claimed = record(1, Verdict::Claimed, &[(1, 300), (2, 100)]);
        for (counted, lines, ratings) in [(Verdict::Agreed, 0, 0), (Verdict::Claimed, 2, 2)] {
            let mut storage = memory().counting(counted);
            let outcome = &storage.store(std::slice::from_ref(&claimed)).unwrap()[0];
            assert_eq!((outcome.verdict, outcome.ratings.len()), (Verdict::Claimed, ratings));
            let top = storage.top(&label("gander"), &label("team"), false, 10).unwrap();
            assert_eq!(top.entries.len(), lines, "{counted}");
            assert!(top.entries.iter().all(|entry| entry.verdict == Verdict::Claimed));
            assert!(storage.top(&label("gander"), &label("team"), true, 10).unwrap().entries.is_empty());
            // The player sees its own in any case.
            let mine = storage.mine(player(1), &label("gander"), &label("team")).unwrap();
            assert_eq!((mine.matches.len(), mine.best.map(|best| best.verdict)), (1, Some(Verdict::Claimed)));
        }
    }

    #[test]
    fn line_without_report_is_claim_in_agreed_match() {
        let mut storage = memory();
        let mut record = record(1, Verdict::Agreed, &[(1, 300), (2, 100), (3, 900)]);
        record.scores[2].claimed = true;
        assert_eq!(storage.store(&[record]).unwrap()[0].ratings.len(), 2);
        let top = storage.top(&label("gander"), &label("team"), false, 10).unwrap();
        assert_eq!(top.entries.iter().map(|entry| entry.score).collect::<Vec<_>>(), [300, 100]);
    }

    #[test]
    fn guests_do_not_move_ratings_of_accounts() {
        let mut storage = memory();
        for round in 1..20 {
            let mut record = record(round, Verdict::Agreed, &[(1, 300), (100 + round as u8, 100)]);
            record.scores[0].signed_in = true;
            assert_eq!(storage.store(&[record]).unwrap()[0].ratings, []);
        }
        let mut record = record(50, Verdict::Agreed, &[(1, 300), (2, 100), (3, 50), (4, 20)]);
        record.scores[..2].iter_mut().for_each(|line| line.signed_in = true);
        let ratings = &storage.store(&[record]).unwrap()[0].ratings;
        let moved: Vec<bool> = ratings.iter().map(|change| change.after > change.before).collect();
        assert_eq!(moved, [true, false, true, false]);
    }

    #[test]
    fn pair_changes_each_others_rating_five_times_per_day() {
        let mut storage = memory();
        let mut rated = |round: u32, ended: u64, scores: &[(u8, i64)]| {
            let record = MatchRecord { ended, ..record(round, Verdict::Agreed, scores) };
            storage.store(&[record]).unwrap().remove(0).ratings
        };
        for round in 1..=20 {
            let moved = rated(round, u64::from(round), &[(1, 300), (2, 100)]);
            assert_eq!(moved.len(), if round <= 5 { 2 } else { 0 }, "match {round}");
        }
        // In matches with a third player they change it, and it changes theirs.
        let moved = rated(21, 21, &[(1, 300), (2, 100), (3, 200)]);
        assert_eq!(
            moved.iter().map(|change| change.after > change.before).collect::<Vec<_>>(),
            [true, false, false]
        );
        assert!(moved[0].after - moved[0].before < 200, "{moved:?}");
        assert_eq!(rated(22, DAY_MS + 10, &[(1, 300), (2, 100)]).len(), 2, "a day later");
    }

    #[test]
    fn player_with_two_slots_cannot_rate_itself() {
        let mut storage = memory();
        let record = record(1, Verdict::Agreed, &[(1, 10), (1, 20)]);
        assert_eq!(storage.store(&[record]).unwrap()[0].ratings, []);
    }

    #[test]
    fn database_of_later_server_is_not_touched() {
        let database = Connection::open_in_memory().unwrap();
        database.pragma_update(None, "user_version", 99).unwrap();
        let error = SqliteStorage::prepare(database).unwrap_err();
        assert!(error.to_string().contains("use a later server"), "{error}");
    }

    #[test]
    fn leaderboard_is_full_even_if_player_appears_twice() {
        let mut storage = memory().counting(Verdict::Claimed);
        let confirmed: Vec<MatchRecord> = (1..=9)
            .map(|who| record(u32::from(who), Verdict::Agreed, &[(who, 100 * i64::from(who))]))
            .collect();
        let alone: Vec<MatchRecord> = (1..=9)
            .map(|who| record(u32::from(who) + 100, Verdict::Claimed, &[(who, 100 * i64::from(who) + 1)]))
            .collect();
        storage.store(&confirmed).unwrap();
        storage.store(&alone).unwrap();
        let top = storage.top(&label("gander"), &label("team"), false, 5).unwrap();
        let list: Vec<(PlayerId, i64)> =
            top.entries.iter().map(|entry| (entry.player, entry.score)).collect();
        let expected = [(9, 901), (8, 801), (7, 701), (6, 601), (5, 501)];
        assert_eq!(list, expected.map(|(who, score)| (player(who), score)));
    }

    #[test]
    fn queries_read_no_more_than_they_return() {
        let storage = memory();
        let plan = |query: &str| {
            let mut statement = storage.database.prepare(&format!("EXPLAIN QUERY PLAN {query}")).unwrap();
            let count = statement.parameter_count();
            let lines = statement.query_map(rusqlite::params_from_iter(vec![1; count]), |row| row.get(3));
            lines.unwrap().map(|line: rusqlite::Result<String>| line.unwrap()).collect::<Vec<String>>()
        };
        let top = plan(TOP);
        assert_eq!(top, ["SEARCH best USING INDEX best_by_rank (game=? AND mode=? AND verified=?)"]);
        let past = plan(PAST_MATCHES);
        let index = "SEARCH s USING INDEX scores_by_player (player=? AND game=? AND mode=?)";
        assert_eq!(past[0], index, "{past:?}");
        // No step sorts or scans a whole table.
        assert!(past.iter().all(|line| !line.contains("TEMP B-TREE") && !line.contains("SCAN")), "{past:?}");
    }

    #[test]
    fn database_of_earlier_server_keeps_its_data() {
        let mut earlier = Connection::open_in_memory().unwrap();
        let transaction = earlier.transaction().unwrap();
        transaction.execute_batch(MIGRATIONS[0]).unwrap();
        transaction.pragma_update(None, "user_version", 1).unwrap();
        transaction.commit().unwrap();
        for (round, mode) in [(1, "team"), (2, "duel")] {
            let room = RoomId::from_bytes([9; 16]);
            earlier
                .execute(
                    "INSERT INTO matches VALUES (?1, ?2, 'gander', ?3, 'accepted', 3, NULL, 1, ?2)",
                    params![room.as_bytes(), round, mode],
                )
                .unwrap();
            earlier
                .execute(
                    "INSERT INTO scores VALUES (?1, ?2, 0, ?3, 'Nia', 70, 1, ?2)",
                    params![room.as_bytes(), round, player(1).as_bytes()],
                )
                .unwrap();
            earlier
                .execute(
                    "INSERT INTO best VALUES ('gander', ?1, ?2, 1, 70, 3, 'Nia', 1)",
                    params![mode, player(1).as_bytes()],
                )
                .unwrap();
        }
        let mut storage = SqliteStorage::prepare(earlier).unwrap();
        let mine = storage.mine(player(1), &label("gander"), &label("duel")).unwrap();
        let matches: Vec<(u32, i64)> = mine.matches.iter().map(|past| (past.round, past.score)).collect();
        assert_eq!((matches, mine.best.map(|best| best.score)), (vec![(2, 70)], Some(70)));
        let known = MatchRecord { room: RoomId::from_bytes([9; 16]), ..record(1, Verdict::Disputed, &[]) };
        let outcome = Outcome { verdict: Verdict::Agreed, ratings: Vec::new() };
        assert_eq!(storage.store(&[known]).unwrap(), [outcome]);
        storage.store(&[record(3, Verdict::Agreed, &[(1, 300), (2, 100)])]).unwrap();
        let team = storage.mine(player(1), &label("gander"), &label("team")).unwrap();
        assert_eq!(team.matches.iter().map(|past| past.round).collect::<Vec<_>>(), [3, 1]);
        let top = storage.top(&label("gander"), &label("team"), true, 10).unwrap();
        assert_eq!(top.entries.iter().map(|entry| entry.score).collect::<Vec<_>>(), [300, 100]);
    }

    fn memory() -> SqliteStorage {
        SqliteStorage::prepare(Connection::open_in_memory().unwrap()).unwrap()
    }

    fn record(round: u32, verdict: Verdict, scores: &[(u8, i64)]) -> MatchRecord {
        let place = |score: i64| scores.iter().filter(|(_, other)| *other > score).count() as u8 + 1;
        let line = |(slot, &(who, score)): (usize, &(u8, i64))| PlayerScore {
            peer: PeerId::from_u128(u128::from(who)),
            player: player(who),
            name: "Nia".parse().unwrap(),
            slot: Slot::at(slot),
            score,
            place: place(score),
            signed_in: false,
            claimed: false,
        };
        MatchRecord {
            room: RoomId::from_bytes([9; 16]),
            round,
            game: label("gander"),
            mode: label("team"),
            verdict,
            scores: scores.iter().enumerate().map(line).collect(),
            level: Some(3),
            digest: None,
            match_started_at: 1,
            ended: u64::from(round),
        }
    }

    fn player(who: u8) -> PlayerId {
        PlayerId::from_bytes([who; 16])
    }

    fn label(text: &str) -> Label {
        text.parse().unwrap()
    }
}
