use super::*;
use proptest::prelude::*;

const T: UnixMs = 1_800_000_000_000;
const LEASE: i64 = 30_000;
const DAY: i64 = 86_400_000;
const TOLERANCE: Tolerance = Tolerance { clock: 10_000, grace: 7 * DAY };

fn server(name: &str, holder: &str) -> Server {
    Server { name: name.into(), holder: holder.into(), datacenter: None, worker: None, has: None }
}

/// A server that may have no pair but this.
fn limited(name: &str, node: u32) -> Server {
    let (datacenter, worker) = twitter_parts(node);
    Server { datacenter: Some(datacenter), worker: Some(worker), ..server(name, name) }
}

fn pair(node: u32, name: &str, holder: &str, time: UnixMs) -> Pair {
    let (name, holder) = (name.into(), holder.into());
    Pair { node, name, holder, time, bound: time + LEASE, floor: time - 5, released: false }
}

fn live(name: &str, holder: &str, node: u32, time: UnixMs) -> Live {
    Live { name: name.into(), holder: holder.into(), node, time }
}

fn take(node: u32, floor: UnixMs) -> Take {
    Take { node, floor, from: None, gives_up: None }
}

fn decide_at(fleet: &Fleet, server: &Server, now: UnixMs) -> Result<Take, Refused> {
    decide(fleet, server, now, TOLERANCE)
}

#[test]
fn first_server_of_a_fleet_gets_the_first_pair() {
    assert_eq!(decide_at(&Fleet::default(), &server("a", "a1"), T), Ok(take(0, 0)));
}

#[test]
fn a_new_server_gets_the_lowest_pair_that_was_never_used() {
    let released = Pair { released: true, ..pair(0, "a", "a1", T) };
    let fleet = Fleet { pairs: vec![released, pair(2, "c", "c1", T)], ..Fleet::default() };
    assert_eq!(decide_at(&fleet, &server("b", "b1"), T), Ok(take(1, 0)));
}

#[test]
fn datacenter_and_worker_narrow_the_choice() {
    let fleet = Fleet::default();
    let mut wants = server("a", "a1");
    wants.datacenter = Some(3);
    assert_eq!(decide_at(&fleet, &wants, T), Ok(take(3 << 5, 0)));
    wants.worker = Some(31);
    assert_eq!(decide_at(&fleet, &wants, T), Ok(take(3 << 5 | 31, 0)));
    wants.datacenter = None;
    assert_eq!(decide_at(&fleet, &wants, T), Ok(take(31, 0)));
}

#[test]
fn restart_gets_its_pair_back_above_the_last_report() {
    let mut fleet = Fleet { own: Some(5), ..Fleet::default() };
    fleet.pairs = vec![pair(5, "a", "a1", T)];
    // Its own lease may still be there: the predecessor is dead.
    fleet.live = vec![live("a", "a1", 5, T)];
    assert_eq!(decide_at(&fleet, &server("a", "a1"), T + 1), Ok(take(5, T)));
    // Ids that were ahead of the clock count.
    fleet.pairs[0].floor = T + 400;
    assert_eq!(decide_at(&fleet, &server("a", "a1"), T + 1), Ok(take(5, T + 400)));
}

#[test]
fn a_live_server_with_the_name_refuses_another() {
    let mut fleet = Fleet { own: Some(5), ..Fleet::default() };
    fleet.pairs = vec![pair(5, "a", "a1", T)];
    fleet.live = vec![live("a", "a1", 5, T)];
    for (holder, now) in [("copy", T), ("standby", T + LEASE * 100)] {
        assert_eq!(decide_at(&fleet, &server("a", holder), now), Err(Refused::Held));
    }
}

#[test]
fn a_promoted_standby_takes_over_at_the_bound_once_the_lease_has_run_out() {
    let mut fleet = Fleet { own: Some(5), ..Fleet::default() };
    fleet.pairs = vec![pair(5, "a", "primary", T)];
    let promoted = decide_at(&fleet, &server("a", "standby"), T + 1);
    assert_eq!(promoted, Ok(take(5, T + LEASE)));
}

#[test]
fn a_released_pair_is_taken_again_at_its_bound() {
    let mut fleet = Fleet { pairs: vec![pair(7, "a", "a1", T)], ..Fleet::default() };
    (fleet.pairs[0].released, fleet.pairs[0].bound) = (true, T + 3);
    // The new holder's clock is behind.
    assert_eq!(decide_at(&fleet, &limited("b", 7), T - 9000), Ok(take(7, T + 3)));
}

#[test]
fn an_abandoned_pair_is_kept_for_the_grace_time_and_then_taken_from_its_name() {
    let mut fleet = Fleet { pairs: vec![pair(7, "a", "a1", T)], ..Fleet::default() };
    let free_at = T + LEASE + TOLERANCE.grace;
    let wants = limited("b", 7);
    assert_eq!(decide_at(&fleet, &wants, free_at - 1), Err(Refused::Exhausted { pairs: 1 }));
    let taken = Take { from: Some("a".into()), ..take(7, T + LEASE) };
    assert_eq!(decide_at(&fleet, &wants, free_at), Ok(taken));
    // Also where the name lives on with another pair, or the pair is another's by now.
    fleet.live = vec![live("a", "a1", 8, free_at), live("c", "c1", 7, free_at)];
    assert!(decide_at(&fleet, &wants, free_at).is_ok());
    // Not from one that is there, however old its report.
    fleet.live = vec![live("a", "a1", 7, free_at)];
    assert_eq!(decide_at(&fleet, &wants, free_at), Err(Refused::Exhausted { pairs: 1 }));
}

#[test]
fn the_pair_abandoned_longest_ago_goes_first_and_a_released_one_before_it() {
    let pairs = (0..=TWITTER.node_max()).map(|node| pair(node, &format!("n{node}"), "", T));
    let mut fleet = Fleet { pairs: pairs.collect(), ..Fleet::default() };
    fleet.pairs[40].bound -= 1;
    let now = T + LEASE + TOLERANCE.grace;
    assert_eq!(decide_at(&fleet, &server("new", ""), now).unwrap().node, 40);
    fleet.pairs[900].released = true;
    assert_eq!(decide_at(&fleet, &server("new", ""), now), Ok(take(900, T + LEASE)));
}

#[test]
fn the_1025th_server_is_refused() {
    let mut fleet = Fleet::default();
    for node in 0..=TWITTER.node_max() {
        let name = format!("n{node}");
        let Take { node, .. } = decide_at(&fleet, &server(&name, ""), T).unwrap();
        fleet.pairs.push(pair(node, &name, "", T));
        fleet.live.push(live(&name, "", node, T));
    }
    let refused = decide_at(&fleet, &server("n1024", ""), T);
    assert_eq!(refused, Err(Refused::Exhausted { pairs: 1024 }));
    // Those that have one are not.
    fleet.own = Some(1023);
    assert_eq!(decide_at(&fleet, &server("n1023", ""), T), Ok(take(1023, T)));
}

#[test]
fn a_clock_behind_the_last_report_is_refused_past_the_tolerance() {
    let mut fleet = Fleet { own: Some(5), ..Fleet::default() };
    fleet.pairs = vec![pair(5, "a", "a1", T)];
    assert_eq!(decide_at(&fleet, &server("a", "a1"), T - 10_000), Ok(take(5, T)));
    let refused = Err(Refused::ClockBehind { node: 5, recorded: T });
    assert_eq!(decide_at(&fleet, &server("a", "a1"), T - 10_001), refused);
    assert_eq!(decide_at(&fleet, &server("a", "another"), T - 10_001), refused);
    // A free pair too, if there is no other.
    (fleet.own, fleet.pairs[0].released) = (None, true);
    assert_eq!(decide_at(&fleet, &limited("b", 5), T - 10_001), refused);
    fleet.pairs.push(Pair { released: true, ..pair(6, "c", "c1", T - DAY) });
    let mut wants = limited("b", 5);
    wants.worker = None;
    fleet.pairs.extend((7..32).chain(0..5).map(|node| pair(node, "x", "x", T - DAY)));
    assert_eq!(decide_at(&fleet, &wants, T - 10_001), Ok(take(6, T - DAY + LEASE)));
}

#[test]
fn a_clock_that_differs_from_the_other_servers_is_refused_past_the_tolerance() {
    let others = vec![live("b", "", 1, T), live("c", "", 2, T), live("d", "", 3, T + DAY)];
    let mut fleet = Fleet { live: others, ..Fleet::default() };
    let me = server("a", "");
    let differs = Err(Refused::ClockDiffers { median: T, servers: 3 });
    assert!(decide_at(&fleet, &me, T - 10_000).is_ok());
    assert_eq!(decide_at(&fleet, &me, T - 10_001), differs);
    // What they reported may be two intervals old.
    assert!(decide_at(&fleet, &me, T + 20_000).is_ok());
    assert_eq!(decide_at(&fleet, &me, T + 20_001), differs);
    // The one whose clock is wrong refuses nobody, nor do half of them; the own report is not theirs.
    fleet.live.truncate(1);
    fleet.live.push(live("d", "", 3, T + DAY));
    fleet.live.push(live("a", "", 4, T - DAY));
    assert!(decide_at(&fleet, &me, T).is_ok());
    assert!(decide_at(&fleet, &me, T + DAY).is_ok());
    assert!(decide_at(&fleet, &me, T - 10_001).is_err());
}

#[test]
fn a_server_whose_limits_have_changed_gives_its_pair_up() {
    let mut fleet = Fleet { own: Some(5), ..Fleet::default() };
    fleet.pairs = vec![pair(5, "a", "a1", T)];
    fleet.live = vec![live("a", "a1", 5, T)];
    let mut me = server("a", "a1");
    me.datacenter = Some(1);
    assert_eq!(decide_at(&fleet, &me, T), Ok(Take { gives_up: Some(5), ..take(32, 0) }));
}

#[test]
fn a_pair_that_was_taken_from_the_name_is_not_its_own_any_more() {
    let mut fleet = Fleet { own: Some(0), ..Fleet::default() };
    fleet.pairs = vec![pair(0, "b", "b1", T)];
    assert_eq!(decide_at(&fleet, &server("a", "a1"), T), Ok(take(1, 0)));
    // Nor one that it has released.
    fleet.pairs = vec![Pair { released: true, ..pair(0, "a", "a1", T) }];
    assert_eq!(decide_at(&fleet, &server("a", "a1"), T), Ok(take(1, 0)));
}

#[test]
fn after_etcd_has_lost_its_data_servers_keep_the_pairs_that_they_have() {
    let mut me = server("a", "a1");
    me.has = Some((9, T));
    assert_eq!(decide_at(&Fleet::default(), &me, T), Ok(take(9, T)));
    // Unless another one has it, or it will not do.
    let fleet = Fleet { pairs: vec![pair(9, "b", "b1", T)], ..Fleet::default() };
    assert_eq!(decide_at(&fleet, &me, T), Ok(take(0, 0)));
    me.datacenter = Some(1);
    assert_eq!(decide_at(&Fleet::default(), &me, T), Ok(take(32, 0)));
}

#[test]
fn a_lease_is_renewed_three_times_before_it_runs_out() {
    assert_eq!(report_interval(5000), 1666);
    assert_eq!(report_interval(15_000), REPORT_MAX);
    assert_eq!(report_interval(DAY), REPORT_MAX);
}

#[test]
fn ids_ahead_of_the_clock_move_the_bound() {
    assert_eq!(bound(T, 0, 0, LEASE), T + LEASE);
    assert_eq!(bound(T, T + 7, 0, LEASE), T + 7 + LEASE);
}

#[test]
fn a_clock_that_steps_back_leaves_the_bound() {
    assert_eq!(bound(T - 3000, 0, T + LEASE, LEASE), T + LEASE);
}

/// A fleet of three names and two pairs, whose holders live, die, are copied and stopped for long, with
/// clocks of their own. Each may issue ids up to the bound that it has recorded, whenever it likes.
#[derive(Default)]
struct World {
    fleet: Fleet,
    names: Vec<(String, u32)>,
    /// What the holders may have issued: the pair, and from when to when.
    spans: Vec<(String, u32, UnixMs, UnixMs)>,
}

impl World {
    fn claim(&mut self, name: &str, holder: &str, now: UnixMs) {
        self.fleet.own = self.names.iter().find(|(n, _)| n == name).map(|(_, node)| *node);
        let mut me = server(name, holder);
        (me.datacenter, me.worker) = (Some(0), None);
        // Two pairs of the datacenter, so that they are recycled all the time.
        for node in 2..32 {
            if !self.fleet.pairs.iter().any(|pair| pair.node == node) {
                self.fleet.pairs.push(pair(node, "other", "other", UnixMs::MAX / 4));
            }
        }
        let Ok(taken) = decide_at(&self.fleet, &me, now) else { return };
        let recorded = self.fleet.pairs.iter().find(|pair| pair.node == taken.node);
        let bound = bound(now, taken.floor, recorded.map_or(0, |pair| pair.bound), LEASE);
        let same = recorded.is_some_and(|pair| pair.holder == holder);
        self.fleet.pairs.retain(|pair| pair.node != taken.node);
        self.fleet.pairs.push(Pair { bound, ..pair(taken.node, name, holder, now) });
        self.fleet.live.retain(|live| live.name != name);
        self.fleet.live.push(live(name, holder, taken.node, now));
        self.names.retain(|(n, node)| n != name && *node != taken.node);
        self.names.push((name.into(), taken.node));
        if !same {
            let (start, end) = (now.max(taken.floor), bound);
            self.spans.push((holder.into(), taken.node, start, end));
        } else if let Some(span) =
            self.spans.iter_mut().rev().find(|span| span.0 == holder && span.1 == taken.node)
        {
            span.3 = bound;
        }
    }
}

proptest! {
    /// Of one pair the spans of two holders never overlap.
    #[test]
    fn holders_of_a_pair_issue_ids_of_disjoint_times(
        story in prop::collection::vec((0usize..3, 0u8..6, 0u8..3, -9_000i64..9_000), 1..200),
    ) {
        let mut world = World::default();
        let mut time = T;
        for (i, (who, event, copy, skew)) in story.into_iter().enumerate() {
            let name = ["a", "b", "c"][who];
            time += 1000 * i as i64 % 7;
            match event {
                0 => world.fleet.live.retain(|live| live.name != name),
                1 => time += TOLERANCE.grace + LEASE,
                2 => {
                    let pairs = world.fleet.pairs.iter_mut();
                    pairs.filter(|pair| pair.name == name).for_each(|pair| pair.released = true);
                    world.fleet.live.retain(|live| live.name != name);
                }
                _ => world.claim(name, &format!("{name}{copy}"), time + skew),
            }
        }
        for (i, (_, node, start, end)) in world.spans.iter().enumerate() {
            for (_, other, from, to) in &world.spans[..i] {
                prop_assert!(node != other || start >= to || from >= end, "{start} in {from}..{to}");
            }
        }
    }
}
