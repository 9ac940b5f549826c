//! The game between machines, on networks that lose and delay, in virtual time.

mod company;

use company::{Company, bad_wifi};
use drake::field::{self, SEATS};
use drake::net::Happening;
use drake::{Craft, Form, Mark, Pad, Phase, Standing, What};
use gaggle_kit::Fixed16;
use gaggle_replica::{Player, To};

#[test]
fn three_machines_play_one_match_and_agree_about_it() {
    let mut company = Company::of(3, 11, bad_wifi());
    company.run_secs(45);
    let rounds = company.game(0).bout.round;
    assert!(rounds >= 1 && company.downs() > 0, "something happened");
    company.still_secs(2);
    // Bots go on: what is asked for is that all are of one mind again and again.
    for me in 1..3 {
        company.run_until(|company| {
            let (lead, other) = (company.game(0).bout, company.game(me).bout);
            company.truth(0) == company.truth(me) && (lead.phase, lead.round) == (other.phase, other.round)
        });
    }
    // A handful of seats, each with one craft and one standing.
    assert_eq!(company.session(1).objects::<Standing>().count(), SEATS);
    assert!(company.session(2).objects::<Craft>().count() <= SEATS);
}

#[test]
fn own_craft_answers_in_the_same_frame_however_far_the_host_is() {
    let mut company = Company::of(2, 5, gaggle_link::sim::Conditions::latency_ms(200));
    company.run_until_playing(1);
    let before = company.game(1).crafts[1].heading;
    company.press(1, Pad::TURN);
    company.frame();
    assert_ne!(company.game(1).crafts[1].heading, before);
}

#[test]
fn when_the_host_dies_the_next_one_referees_and_the_score_is_kept() {
    let mut company = Company::of(3, 23, bad_wifi());
    company.run_until(|company| company.downs() >= 3 && company.game(0).bout.phase == Phase::Play);
    company.run_secs(1);
    let before: Vec<(u16, u8)> = company.scores(1);
    let (round, number) = (company.game(1).bout.round, company.game(1).bout.number);
    company.kill(0);
    company.run_until(|company| company.session(1).is_lead());
    company.run_secs(2);
    let after = company.scores(1);
    for (seat, (before, after)) in before.iter().zip(&after).enumerate() {
        assert!(after.0 >= before.0 && after.1 >= before.1, "seat {seat}: {before:?} then {after:?}");
    }
    assert_eq!(company.game(1).bout.number, number, "the match goes on");
    assert!(company.game(1).bout.round >= round);
    assert!(company.game(1).seats[0].bot, "a bot minds the seat");
    let downs = company.downs();
    company.run_secs(40);
    assert!(company.downs() > downs, "they brawl on");
    company.still_secs(2);
    // Bots go on: what is asked for is that the two are of one mind again and again.
    company.run_until(|company| company.truth(1) == company.truth(2));
}

#[test]
fn who_comes_back_has_his_seat_and_what_he_won() {
    let mut company = Company::of(3, 31, bad_wifi());
    company.run_until(|company| company.scores(1)[2].0 > 0);
    company.run_secs(1);
    let before = company.scores(1)[2].0;
    company.kill(2);
    company.run_until(|company| company.game(1).seats[2].bot);
    company.restart(2);
    company.run_until(|company| !company.game(0).seats[2].bot && company.session(2).is_admitted());
    company.run_secs(3);
    let number = company.game(0).bout.number;
    if number == 1 {
        assert!(company.scores(2)[2].0 >= before);
    }
    company.run_until_playing(2);
    let (id, _) = company.session(2).objects::<Craft>().find(|(_, craft)| craft.seat == 2).unwrap();
    assert_eq!(company.session(0).holder(id), Some(Player::at(2)), "his craft is his own again");
}

#[test]
fn a_craft_that_leaps_is_out_and_everybody_sees_it() {
    let mut company = Company::of(3, 47, gaggle_link::sim::Conditions::latency_ms(30));
    company.run_until_playing(1);
    company.run_secs(2);
    company.run_until_playing(1);
    company.cheat = Some((1, |session| {
        let mine: Vec<_> = session.mine::<Craft>().collect();
        for id in mine {
            let place = [Fixed16::from_int(190), Fixed16::from_int(110)];
            session.update(id, |craft: &mut Craft| craft.place = place).unwrap();
        }
    }));
    company.run_until(|company| company.marks(0).any(|mark| mark.what == What::Offside && mark.who == 1));
    company.cheat = None;
    assert_eq!(company.game(0).seats[1].form, Form::Out);
    company.run_until(|company| company.game(2).seats[1].form == Form::Out);
}

#[test]
fn nobody_can_give_himself_what_the_referee_gives() {
    let mut company = Company::of(3, 59, gaggle_link::sim::Conditions::latency_ms(30));
    company.run_until_playing(1);
    company.cheat = Some((1, |session| {
        // A standing of his own making, in every way a session lets one try.
        let rich = Standing { seat: 1, form: Form::Drake, wins: 99, shell: true, ..Standing::default() };
        assert!(session.spawn(&rich).is_err());
        assert!(session.spawn_for(session.player(), &rich).is_err());
        let theirs: Vec<_> = session.objects::<Standing>().map(|(id, _)| id).collect();
        for id in theirs {
            assert!(
                session.grab(id).is_err() && session.set(id, &rich).is_err() && session.delete(id).is_err()
            );
        }
        assert!(session.set_value(Player::at(0), &drake::Bout::default()).is_err());
        // A word that is only the lead's: it may be said, and nobody believes it.
        let mark = Mark::at(What::Over, 1, field::MIDDLE);
        _ = session.signal(To::Others, &[], &Happening(mark));
    }));
    company.run_secs(3);
    for me in [0, 2] {
        assert!(company.game(me).seats.iter().all(|seat| seat.wins < 4));
        assert!(company.marks(me).all(|mark| mark.what != What::Over));
    }
}

#[test]
fn a_stranger_in_somebody_elses_seat_is_not_seen() {
    let mut company = Company::of(3, 61, gaggle_link::sim::Conditions::latency_ms(30));
    company.run_until_playing(2);
    let before = company.game(0).crafts[2].seat;
    company.cheat = Some((1, |session| {
        if session.mine::<Craft>().count() < 3 {
            let forged = Craft { place: field::MIDDLE, ..Craft::hatched(2, 1) };
            session.spawn_for(session.player(), &forged).unwrap();
        }
    }));
    company.run_secs(2);
    assert_eq!(before, 2);
    let seen = company.game(0).crafts[2].place;
    let real = company.game(2).crafts[2].place;
    assert!(field::near(seen, real, 40), "{seen:?} {real:?}");
}
