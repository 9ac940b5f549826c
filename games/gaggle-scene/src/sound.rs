//! Recipes for sounds: everything is synthesised, nothing is recorded.

/// The shape of a tone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wave {
    /// Sine wave, a pure tone.
    Sine,
    /// Triangle wave, soft.
    Triangle,
    /// Square wave, hollow.
    Square,
    /// Sawtooth wave, sharp.
    Saw,
    /// No tone: the frequencies do not count.
    Noise,
}

/// What a filter lets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterKind {
    /// What is below.
    Low,
    /// What is above.
    High,
    /// What is near.
    Band,
}

/// A filter that moves from one frequency to another while the voice sounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Filter {
    /// What it lets through.
    pub kind: FilterKind,
    /// Hertz at the start.
    pub from: f32,
    /// Hertz at the end.
    pub to: f32,
    /// How narrow it is.
    pub q: f32,
}

/// How loud a voice is over its time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Envelope {
    /// Milliseconds after the cue.
    pub start: f32,
    /// Milliseconds to full loudness.
    pub attack: f32,
    /// Milliseconds until it is gone.
    pub length: f32,
    /// Loudness, 1 is full.
    pub gain: f32,
}

/// One tone or noise of a recipe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Voice {
    /// Shape of the wave.
    pub wave: Wave,
    /// Hertz at the start.
    pub from: f32,
    /// Hertz at the end.
    pub to: f32,
    /// Loudness over time.
    pub envelope: Envelope,
    /// What takes the edge off it.
    pub filter: Option<Filter>,
    /// Wavers so many times a second.
    pub vibrato: f32,
}

impl Voice {
    /// A voice that starts with the cue, at once loud and then dying away.
    pub const fn new(wave: Wave, from: f32, to: f32, length: f32, gain: f32) -> Voice {
        let envelope = Envelope { start: 0.0, attack: 2.0, length, gain };
        Voice { wave, from, to, envelope, filter: None, vibrato: 0.0 }
    }

    /// The same, some milliseconds later.
    #[must_use]
    pub const fn after(mut self, milliseconds: f32) -> Voice {
        self.envelope.start = milliseconds;
        self
    }

    /// The same, through a filter.
    #[must_use]
    pub const fn through(mut self, kind: FilterKind, from: f32, to: f32, q: f32) -> Voice {
        self.filter = Some(Filter { kind, from, to, q });
        self
    }

    /// The same, wavering.
    #[must_use]
    pub const fn wavering(mut self, hertz: f32) -> Voice {
        self.vibrato = hertz;
        self
    }
}

/// A sound: some voices at once or after each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe {
    /// Name of the recipe.
    pub name: &'static str,
    /// Voices that sound together.
    pub voices: &'static [Voice],
    /// How much the pitch differs from one cue to the next, 0.04 is four percent up or down.
    pub spread: f32,
}
