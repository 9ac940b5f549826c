//! Who may hold what. A pure function of the object and the roster, the same on every machine: there is no referee, every
//! receiver judges for itself.

use std::fmt;
use std::sync::Arc;

use crate::version::Record;
use crate::{ObjectId, Player, Present, Roster};

/// Who may hold what.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Policy {
    /// Everybody may hold everything.
    Open,
    /// Only the host, the member present longest.
    #[default]
    Host,
    /// An object that has a home is its player's while that player is present; everything else is the host's.
    Mixed,
    /// By rules of the game.
    Custom(Arc<dyn PolicyRules>),
}

/// What a policy may look at. Not the value: whoever may write it could then choose who may write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The object.
    pub id: ObjectId,
    /// The number of its kind, in the order of [`Kinds`](crate::Kinds).
    pub kind: u8,
    /// Whose home it has, if any.
    pub home: Option<Player>,
    /// Who held it last.
    pub player: Player,
}

/// A game's own policy. It must be pure: two machines that answer differently never agree.
pub trait PolicyRules: fmt::Debug + Send + Sync {
    /// Tells policies apart: peers with another number are refused.
    fn fingerprint(&self) -> u32;

    /// Whether a member who is present may hold the object.
    fn may(&self, member: Present, object: &Facts, roster: &Roster) -> bool;

    /// Who is to take an object whose holder is gone or may not hold it any more. Somebody present who may; if there is
    /// none the object stays as it is until there is.
    fn heir(&self, object: &Facts, roster: &Roster) -> Option<Present>;

    /// Whether exactly one member may hold an object at a time. That is its heir then: [`may`](PolicyRules::may) is not asked, and
    /// [`Facts::player`] is player 0 whoever held it last, so that there is one answer for an object. What that one says beats a greater
    /// version of anybody else's, so after a split one side wins as a whole. Otherwise the sides mix object by object.
    fn one_holder(&self) -> bool {
        false
    }
}

impl Policy {
    pub(crate) fn may(&self, member: Present, object: &Facts, roster: &Roster) -> bool {
        match self {
            Policy::Open => true,
            Policy::Host => roster.lead() == Some(member),
            Policy::Mixed => home_or_lead(object, roster) == Some(member),
            Policy::Custom(rules) if rules.one_holder() => keeper(rules, object, roster) == Some(member),
            Policy::Custom(rules) => rules.may(member, object, roster),
        }
    }

    pub(crate) fn heir(&self, object: &Facts, roster: &Roster) -> Option<Present> {
        match self {
            Policy::Open => roster.of_player(object.player).or_else(|| roster.lead()),
            Policy::Host => roster.lead(),
            Policy::Mixed => home_or_lead(object, roster),
            Policy::Custom(rules) if rules.one_holder() => keeper(rules, object, roster),
            Policy::Custom(rules) => {
                rules.heir(object, roster).filter(|heir| rules.may(*heir, object, roster))
            }
        }
    }

    /// Whether a record of somebody who may hold the object beats a greater one of somebody who may not.
    pub(crate) fn rightful_first(&self) -> bool {
        match self {
            Policy::Open => false,
            Policy::Host | Policy::Mixed => true,
            Policy::Custom(rules) => rules.one_holder(),
        }
    }

    /// Whether everybody may hold everything, so that nothing ever has to be refused.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Policy::Open)
    }

    pub(crate) fn fingerprint(&self) -> u64 {
        match self {
            Policy::Open => 0,
            Policy::Host => 1,
            Policy::Mixed => 2,
            Policy::Custom(rules) => 3 | u64::from(rules.fingerprint()) << 8,
        }
    }
}

/// Who alone may hold an object, whoever held it last.
fn keeper(rules: &Arc<dyn PolicyRules>, object: &Facts, roster: &Roster) -> Option<Present> {
    rules.heir(&Facts { player: Player::at(0), ..*object }, roster)
}

fn home_or_lead(object: &Facts, roster: &Roster) -> Option<Present> {
    object.home.and_then(|home| roster.of_player(home)).or_else(|| roster.lead())
}

impl Facts {
    pub(crate) fn of(id: ObjectId, record: &Record) -> Facts {
        Facts { id, kind: record.kind, home: record.home, player: record.player }
    }
}
