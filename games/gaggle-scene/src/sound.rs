//! Recipes of synthesized sounds, as plain data.
//!
//! Written by games, played by a page's synthesizer. Absent: recordings, audio devices, when sounds
//! start (`cue.rs`).

/// Waveform of a voice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wave {
    /// Sine wave, a pure tone.
    Sine,
    /// Triangle wave, a soft tone.
    Triangle,
    /// Square wave, a hollow tone.
    Square,
    /// Sawtooth wave, a sharp tone.
    Saw,
    /// Noise, for which frequencies do not count.
    Noise,
}

/// Frequencies that a filter passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterKind {
    /// Those below its frequency.
    Low,
    /// Those above its frequency.
    High,
    /// Those near its frequency.
    Band,
}

/// A filter whose frequency glides while the voice sounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Filter {
    /// Frequencies that it passes.
    pub kind: FilterKind,
    /// Frequency at the start, in hertz.
    pub from: f32,
    /// Frequency at the end, in hertz.
    pub to: f32,
    /// Quality factor: higher is narrower.
    pub q: f32,
}

/// Loudness of a voice over time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Envelope {
    /// Start after the cue, in milliseconds.
    pub start: f32,
    /// Time to full loudness, in milliseconds.
    pub attack: f32,
    /// Time from start to silence, in milliseconds.
    pub length: f32,
    /// Loudness at the peak; 1 is full.
    pub gain: f32,
}

/// One tone or noise of a recipe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Voice {
    /// Waveform of the voice.
    pub wave: Wave,
    /// Frequency at the start, in hertz.
    pub from: f32,
    /// Frequency at the end, in hertz.
    pub to: f32,
    /// Loudness over time.
    pub envelope: Envelope,
    /// Filter it passes through, if any.
    pub filter: Option<Filter>,
    /// Vibrato in hertz; 0 is none.
    pub vibrato: f32,
}

impl Voice {
    /// A voice that starts with the cue and fades; frequencies in hertz, `length` in milliseconds.
    pub const fn new(wave: Wave, from: f32, to: f32, length: f32, gain: f32) -> Voice {
        let envelope = Envelope { start: 0.0, attack: 2.0, length, gain };
        Voice { wave, from, to, envelope, filter: None, vibrato: 0.0 }
    }

    /// This voice, starting `milliseconds` after the cue.
    #[must_use]
    pub const fn after(mut self, milliseconds: f32) -> Voice {
        self.envelope.start = milliseconds;
        self
    }

    /// This voice through a filter, frequencies in hertz.
    #[must_use]
    pub const fn through(mut self, kind: FilterKind, from: f32, to: f32, q: f32) -> Voice {
        self.filter = Some(Filter { kind, from, to, q });
        self
    }

    /// This voice with a vibrato of `hertz`.
    #[must_use]
    pub const fn wavering(mut self, hertz: f32) -> Voice {
        self.vibrato = hertz;
        self
    }
}

/// A sound of one or more voices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe {
    /// Name in tests and lists of sounds.
    pub name: &'static str,
    /// Voices, each with its own start.
    pub voices: &'static [Voice],
    /// Random change of pitch from cue to cue: 0.04 is up to 4 percent up or down.
    pub spread: f32,
}
